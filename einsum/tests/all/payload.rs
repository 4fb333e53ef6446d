use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use tenferro_core::Result;
use tenferro_core::dtype::DType;
use tenferro_core::extension::ExtensionOp;
use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Goal, Nested, Subscripts, einsum, einsum_with};

/// A builder with inputs of these shapes; a letter is a size, a digit an extent.
fn inputs(shapes: &[&str], dtype: DType) -> (ProgramBuilder, Vec<ValueId>) {
    let mut b = ProgramBuilder::new("p");
    let mut sizes: Vec<(char, SymDim)> = Vec::new();
    let values = shapes.iter().enumerate().map(|(i, shape)| {
        let dims: Vec<SymDim> = shape
            .chars()
            .map(|c| match (c.to_digit(10), sizes.iter().position(|(name, _)| *name == c)) {
                (Some(extent), _) => SymDim::from(extent as usize),
                (None, Some(known)) => sizes[known].1.clone(),
                (None, None) => {
                    let size = b.size(c.to_string());
                    sizes.push((c, size.clone()));
                    size
                }
            })
            .collect();
        b.input(format!("x{i}"), dtype, &dims).unwrap()
    });
    let values = values.collect();
    (b, values)
}

fn text(notation: &str, shapes: &[&str]) -> Result<String> {
    let (mut b, values) = inputs(shapes, DType::F64);
    let y = einsum(&mut b, notation, &values)?;
    Ok(b.finish(&[(None, y)])?.to_string())
}

#[test]
fn equal_equations_are_equal_payloads() {
    let op = |labels: [u32; 3]| {
        let [i, j, k] = labels;
        EinsumOp::new(Subscripts::new([vec![i, j], vec![j, k]], [i, k]), &[], EinsumOptimize::Auto).unwrap()
    };
    let hash = |op: &EinsumOp| {
        let mut state = DefaultHasher::new();
        op.payload_hash(&mut state);
        state.finish()
    };
    let (a, b) = (op([0, 1, 2]), op([9, 4, 7]));
    let parsed = EinsumOp::concrete(&EinsumNotation::parse("ab,bc->ac").unwrap(), &[&[2, 3], &[3, 4]]).unwrap();
    assert!(a.payload_eq(&b) && a.payload_eq(&parsed));
    assert_eq!(hash(&a), hash(&b));
    assert_ne!(a, a.clone().with_plan(EinsumOptimize::Greedy).unwrap());
}

#[test]
fn payloads_are_made_while_compiling() {
    use std::borrow::Cow::Borrowed;
    static OP: EinsumOp = EinsumOp {
        inputs: Borrowed(&[Borrowed(&[0, 1]), Borrowed(&[1, 2])]),
        output: Borrowed(&[0, 2]),
        stretch: Borrowed(&[]),
        plan: EinsumOptimize::Auto,
        goal: Goal::DEFAULT,
    };
    assert_eq!(OP.output_shape(&[&[2, 3], &[3, 4]]).unwrap(), [2, 4]);
}

#[test]
fn shapes_are_inferred_symbolically() {
    assert!(text("ij,jk->ik", &["nm", "mk"]).unwrap().contains("tenferro.einsum.v1 \"ij,jk->ik\" x0 x1 : f64[n, k]"));
    let batched = text("...ij,...jk->...ik", &["b1nm", "3mk"]).unwrap();
    assert!(batched.contains("\"i#jkl,jlm->ijkm\" x0 x1 : f64[b, 3, n, k]"), "{batched}");
    assert!(text("i,j->iij", &["n", "m"]).unwrap().contains(": f64[n, n, m]"));
}

#[test]
fn only_marked_axes_of_constant_extent_1_stretch() {
    for shapes in [["n1", "mk"], ["21", "34"]] {
        let error = text("ij,jk->ik", &shapes).unwrap_err().to_string();
        assert!(error.contains("to stretch axis 1 of operand 0, write `#j` there"), "{error}");
    }
    assert!(text("i#j,jk->ik", &["n1", "mk"]).unwrap().contains("\"i#j,jk->ik\" x0 x1 : f64[n, k]"));
    let batched = text("...i,...i->...", &["1n", "bn"]).unwrap();
    assert!(batched.contains("\"#ij,ij->i\" x0 x1 : f64[b]"), "{batched}");
    assert!(text("i#j,jk->ik", &["nm", "mk"]).unwrap_err().to_string().contains("only an axis of extent 1"));
}

/// A node of very many operands is made in the time of its length, with sizes that agree and with those that must be
/// guarded.
#[test]
fn ten_thousand_operands_make_one_node() {
    for is_guarded in [false, true] {
        let count = 10_000u32;
        let mut b = ProgramBuilder::new("chain");
        let n = b.size("n");
        let operands: Vec<ValueId> = (0..count)
            .map(|i| {
                let left = if is_guarded && i < 1000 { b.size(format!("n{i}")) } else { n.clone() };
                b.input(format!("x{i}"), DType::F64, &[left, n.clone()]).unwrap()
            })
            .collect();
        let inputs: Vec<Vec<u32>> = (0..count).map(|i| vec![i, i + 1]).collect();
        let labels = Subscripts::new(inputs, [0, count]);
        let result = einsum_with(&mut b, labels, EinsumOptimize::Greedy, &operands).unwrap();
        assert_eq!(b.meta(result).rank(), 2);
    }
}

/// Whatever a payload holds is read back from its text.
#[test]
fn high_ranks_many_labels_and_deep_nests_are_read_back() {
    let rank = (0..100).collect::<Vec<u32>>();
    let high = EinsumOp::new(Subscripts::new([rank.clone()], rank), &[], EinsumOptimize::Auto).unwrap();
    let many: Vec<Vec<u32>> = (0..40_000).map(|i| vec![i, i + 1]).collect();
    let many = EinsumOp::new(Subscripts::new(many, [0]), &[], EinsumOptimize::Auto).unwrap();
    let mut nest = Nested::Operand(0);
    for _ in 0..999 {
        nest = Nested::Group(vec![nest].into());
    }
    let deep = EinsumOp::new(Subscripts::new([vec![0]], [0]), &[], EinsumOptimize::Nested(nest.clone())).unwrap();
    for op in [high, many, deep] {
        assert!(op.to_string().parse::<EinsumOp>().unwrap() == op);
    }
    let deeper = (0..2).fold(nest, |nest, _| Nested::Group(vec![nest].into()));
    let refused = EinsumOp::new(Subscripts::new([vec![0]], [0]), &[], EinsumOptimize::Nested(deeper));
    assert!(refused.unwrap_err().to_string().contains("1000 groups"));
}

/// A table made by hand whose label nothing gives an extent is refused wherever it is used.
#[test]
fn a_label_of_stretched_axes_alone_is_refused() {
    let op = EinsumOp {
        stretch: vec![(0, 0)].into(),
        ..EinsumOp::new(Subscripts::new([vec![0]], [0]), &[], EinsumOptimize::Auto).unwrap()
    };
    assert!(op.output_shape(&[&[1]]).unwrap_err().to_string().contains("stretch"));
    let (mut b, values) = inputs(&["1"], DType::F64);
    assert!(b.extension(op, &values).unwrap_err().to_string().contains("stretch"));
}

#[test]
fn undecided_extents_become_guards() {
    let program = text("i,i->", &["n", "m"]).unwrap();
    assert!(program.contains("guard n == m") && program.contains("label `i` of"), "{program}");
    let error = text("ij,jk->ik", &["n3", "4k"]).unwrap_err().to_string();
    assert!(error.contains("label `j` is 3 on axis 1 of operand 0, but 4 on axis 0 of operand 1"), "{error}");
    assert!(error.contains("operand 0 is [n, 3], operand 1 is [4, k]"), "{error}");
}

#[test]
fn wrong_operands_are_refused_without_a_notation_too() {
    let refuse = |shapes: &[&str], dtype| {
        let (mut b, values) = inputs(shapes, dtype);
        let labels = Subscripts::new([vec![0, 1], vec![1, 2]], [0, 2]);
        einsum_with(&mut b, labels, EinsumOptimize::Auto, &values).unwrap_err().to_string()
    };
    let error = refuse(&["n3", "4k"], DType::F64);
    assert!(error.contains("operand 1` has shape [4, k]") && error.contains("[n, 3]"), "{error}");
    assert!(refuse(&["n3"], DType::F64).contains("operands"));
    assert!(refuse(&["n3", "3"], DType::F64).contains("rank 1"));
    assert!(refuse(&["n3", "3k"], DType::Bool).contains("bool"));
    let unknown = EinsumOp::new(Subscripts::new([vec![0]], [1]), &[], EinsumOptimize::Auto).unwrap_err().to_string();
    assert!(unknown.contains("label 1"), "{unknown}");
    assert!(EinsumOp::new(Subscripts::new([], []), &[], EinsumOptimize::Auto).is_err());
    assert!(EinsumOp::new(Subscripts::new([vec![0]], []), &[(0, 1)], EinsumOptimize::Auto).is_err());
}

#[test]
fn concrete_calls_stretch_any_axis_of_extent_1() {
    let op = |notation: &str, shapes: &[&[usize]]| {
        EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap().to_string()
    };
    assert_eq!(op("ij,jk->ik", &[&[2, 1], &[3, 2]]), "\"i#j,jk->ik\"");
    assert_eq!(op("ij,jk->ik", &[&[2, 1], &[1, 2]]), "\"ij,jk->ik\"");
    assert_eq!(op("ij,jk->ik", &[&[2, 1], &[0, 2]]), "\"i#j,jk->ik\"");
    assert_eq!(op("...i,...i->...", &[&[1, 2], &[4, 3, 2]]), "\"#ij,kij->ki\"");
}

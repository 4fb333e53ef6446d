//! Programs: building, binding, printing, verifying, inlining.

use tenferro_core::ad::{self, AdContext};
use tenferro_core::dtype::{DType, ScalarValue};
use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::program::{ProgramBuilder, Relation, SemanticProgram, SizeBinding, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result, composite};

fn linear_model() -> Result<SemanticProgram> {
    let mut b = ProgramBuilder::new("residual");
    let [n, d] = [b.size("n"), b.size("d")];
    let w = b.input("w", DType::F64, std::slice::from_ref(&d))?;
    let x = b.input("x", DType::F64, &[n.clone(), d.clone()])?;
    let y = b.input("y", DType::F64, std::slice::from_ref(&n))?;
    let wide = b.broadcast_in_dim(w, &[n, d], &[1])?;
    let product = b.mul(x, wide)?;
    let prediction = b.sum(product, &[1])?;
    let residual = b.sub(prediction, y)?;
    let square = b.mul(residual, residual)?;
    let loss = composite::mean(&mut b, square, &[0])?;
    b.finish(&[(None, loss)])
}

#[test]
fn text_form_shows_sizes_attributes_and_names() {
    assert_eq!(
        linear_model().unwrap().to_string(),
        "\
program residual<n, d>(w: f64[d], x: f64[n, d], y: f64[n]) -> f64 {
  %3 = broadcast_in_dim axes=[1] w : f64[n, d]
  %4 = mul x %3 : f64[n, d]
  %5 = sum axes=[1] %4 : f64[n]
  %6 = sub %5 y : f64[n]
  %7 = mul %6 %6 : f64[n]
  %8 = sum axes=[0] %7 : f64
  %9 = size n : f64
  %10 = div %8 %9 : f64
  return %10
}
"
    );
}

#[test]
fn gradient_program_is_small_and_readable() {
    let gradient = ad::grad(&linear_model().unwrap(), &[0], &AdContext::new()).unwrap();
    gradient.verify().unwrap();
    assert!(gradient.nodes().len() <= 16, "{gradient}");
    assert_eq!(gradient.outputs()[0].name.as_deref(), Some("d_w"));
    assert_eq!(gradient.output_meta(0), gradient.input_meta(0));
}

#[test]
fn unused_operations_are_dropped_and_equal_ones_shared() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let _unused = b.sin(x).unwrap();
    let (a, c) = (b.exp(x).unwrap(), b.exp(x).unwrap());
    let y = b.add(a, c).unwrap();
    assert_eq!(b.finish(&[(None, y)]).unwrap().nodes().len(), 2);
}

#[test]
fn binding_names_the_size_and_both_places() {
    let program = linear_model().unwrap();
    assert_eq!(&program.bind(&[&[4], &[5, 4], &[5]]).unwrap()[..], [5, 4]);
    let message = |shapes: &[&[usize]]| program.bind(shapes).unwrap_err().to_string();
    assert_eq!(message(&[&[4], &[5, 3], &[5]]), "residual: size `d`: 4 on axis 0 of `w`, 3 on axis 1 of `x`");
    assert_eq!(message(&[&[4], &[5, 4], &[6]]), "residual: size `n`: 5 on axis 0 of `x`, 6 on axis 0 of `y`");
    assert!(message(&[&[4], &[5], &[5]]).contains("`x` has rank 1 (shape [5]), but is declared f64[n, d]"));
    assert!(message(&[&[4]]).contains("takes 3 inputs, but 1 were given"));
}

#[test]
fn sizes_are_solved_from_invertible_forms() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[&n * 2 + 1]).unwrap();
    let y = b.input("y", DType::F64, &[&n + 3, SymDim::constant(4)]).unwrap();
    let program = b.finish(&[(None, x), (None, y)]).unwrap();
    assert_eq!(&program.bind(&[&[7], &[6, 4]]).unwrap()[..], [3]);
    for (shapes, part) in [
        ([&[8][..], &[6, 4]], "axis 0 of `x` is 2*n + 1, but has extent 8, which no size `n` fits"),
        ([&[0], &[6, 4]], "which no size `n` fits"),
        ([&[7], &[7, 4]], "axis 0 of `y` must have extent n + 3 = 6 with n = 3, but has 7"),
        ([&[7], &[6, 5]], "axis 1 of `y` must have extent 4, but has 5"),
    ] {
        let message = program.bind(&shapes).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_size_that_no_input_determines_is_refused() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n * m]).unwrap();
    let error = b.finish(&[(None, x)]).unwrap_err().to_string();
    assert!(error.contains("size `n` is not determined by any input"), "{error}");
}

#[test]
fn undecided_equalities_become_guards() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.input("y", DType::F64, &[m]).unwrap();
    let z = b.add(x, y).unwrap();
    let program = b.finish(&[(None, z)]).unwrap();
    assert_eq!(program.guards().len(), 1);
    assert!(program.bind(&[&[3], &[3]]).is_ok());
    let message = program.bind(&[&[3], &[4]]).unwrap_err().to_string();
    assert_eq!(message, "f: `add` (extents of elementwise operands) needs n == m, but n = 3, m = 4");
}

type Wrong = fn(&mut ProgramBuilder, ValueId, ValueId, ValueId) -> Result<ValueId>;

#[test]
fn wrong_operands_are_refused_with_operation_and_shapes() {
    let cases: &[(Wrong, &str)] = &[
        (|b, x, y, _| b.add(x, y), "add: `b` has shape [4], expected [3], as `a`"),
        (|b, x, _, i| b.mul(x, i), "mul: `b` is i64, expected f64, as `a`"),
        (|b, _, _, i| b.exp(i), "exp: `x` is i64, expected"),
        (|b, x, _, _| b.sum(x, &[1]), "sum: `axes` names axis 1, which rank 1 does not have"),
        (|b, x, _, _| b.max(x, &[0, 0]), "axis 0 occurs twice"),
        (|b, x, _, _| b.transpose(x, &[1]), "transpose: `axes` names axis 1"),
        (
            |b, x, _, _| b.transpose(x, &[]),
            "transpose: `x` has shape [3], expected an axis for each entry of `axes`, which has 0",
        ),
        (
            |b, x, _, _| b.reshape(x, &[SymDim::constant(4)]),
            "reshape: `x` has shape [3], expected as many entries as [4] has",
        ),
        (
            |b, x, _, _| b.broadcast_in_dim(x, &[SymDim::constant(4)], &[0]),
            "broadcast_in_dim: `x` has shape [3], expected extents 1 or those of [4] on its axes [0]",
        ),
        (|b, x, y, _| b.select(x, x, y), "select: `condition` is f64, expected bool"),
        (|b, x, _, _| b.op(CoreOp::Add, &[x]), "add: `operands` must be 2, not 1"),
        (
            |b, x, _, _| {
                b.op(
                    CoreOp::Slice {
                        start: vec![0.into()].into(),
                        limit: vec![4.into()].into(),
                        stride: vec![1].into(),
                    },
                    &[x],
                )
            },
            "slice: `limit of a slice` must satisfy 4 <= 3; `x` is [3]",
        ),
        (|b, x, _, _| b.op(CoreOp::Concatenate { axis: 1 }, &[x, x]), "names axis 1"),
        (|b, _, _, _| b.exp(ValueId(99)), "%99 is no value of it"),
    ];
    for (wrong, part) in cases {
        let mut b = ProgramBuilder::new("f");
        let x = b.input("x", DType::F64, &[SymDim::constant(3)]).unwrap();
        let y = b.input("y", DType::F64, &[SymDim::constant(4)]).unwrap();
        let i = b.input("i", DType::I64, &[SymDim::constant(3)]).unwrap();
        let message = wrong(&mut b, x, y, i).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn complex_numbers_have_no_order() {
    let mut b = ProgramBuilder::new("f");
    let z = b.input("z", DType::C64, &[]).unwrap();
    assert!(b.compare(Comparison::Eq, z, z).is_ok());
    assert!(matches!(b.compare(Comparison::Lt, z, z), Err(Error::DType { .. })));
}

#[test]
fn a_program_is_inlined_with_its_sizes_solved() {
    let model = linear_model().unwrap();
    let mut b = ProgramBuilder::new("outer");
    let m = b.size("m");
    let w = b.input("w", DType::F64, &[SymDim::constant(2)]).unwrap();
    let x = b.input("x", DType::F64, &[&m + 1, SymDim::constant(2)]).unwrap();
    let y = b.input("y", DType::F64, &[&m + 1]).unwrap();
    let loss = b.call(&model, &[w, x, y]).unwrap()[0];
    let program = b.finish(&[(None, loss)]).unwrap();
    assert!(program.to_string().contains("size m + 1 : f64"), "{program}");
    assert!(program.guards().is_empty());

    let mut b = ProgramBuilder::new("outer");
    let w = b.input("w", DType::F64, &[SymDim::constant(2)]).unwrap();
    let x = b.input("x", DType::F64, &[SymDim::constant(5), SymDim::constant(3)]).unwrap();
    let y = b.input("y", DType::F64, &[SymDim::constant(5)]).unwrap();
    let message = b.call(&model, &[w, x, y]).unwrap_err().to_string();
    assert!(message.contains("axis 1 of `x` in the call of residual"), "{message}");
}

#[test]
fn verify_finds_every_kind_of_damage() {
    let good = linear_model().unwrap();
    good.verify().unwrap();
    type Damage = fn(&mut SemanticProgram);
    let damage: &[(Damage, &str)] = &[
        (|p| p.values.to_mut()[4].dtype = DType::F32, "%4 is described as f32"),
        (|p| p.values.to_mut().truncate(5), "values are described"),
        (|p| p.nodes.to_mut()[1].inputs.to_mut()[0] = ValueId(9), "before it is defined"),
        (|p| p.nodes.to_mut()[1].first_output = ValueId(9), "are not numbered"),
        (|p| p.outputs.to_mut()[0].value = ValueId(99), "is no value"),
        (|p| p.inputs.to_mut()[1].name = "w".into(), "two inputs are named `w`"),
        (
            |p| p.sizes.to_mut()[0].binding = SizeBinding::Axis { input: 0, axis: 1, scale: 1, offset: 0 },
            "size `n` is not bound",
        ),
        (|p| p.sizes.to_mut()[1].name = "n".into(), "two sizes are named `n`"),
        (|p| p.fingerprint.0 ^= 1, "fingerprint"),
    ];
    for (damage, part) in damage {
        let mut program = good.clone();
        damage(&mut program);
        let message = program.verify().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn guards_on_user_conditions_are_tested_when_inputs_arrive() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let half = n.div(&2.into());
    b.guard(&(&half * 2), Relation::Eq, &n, "the half").unwrap();
    // The same condition the other way round is no second guard.
    b.guard(&n, Relation::Eq, &(&half * 2), "the double").unwrap();
    b.guard(&4.into(), Relation::Eq, &n, "four").unwrap();
    b.guard(&n, Relation::Eq, &4.into(), "four again").unwrap();
    let program = b.finish(&[(None, x)]).unwrap();
    assert_eq!(program.guards().len(), 2);
    assert!(program.bind(&[&[4]]).is_ok());
    let message = |extent| program.bind(&[&[extent]]).unwrap_err().to_string();
    assert_eq!(message(5), "f: the half needs n == 2*(n/2), but n = 5");
    assert_eq!(message(6), "f: four needs n == 4, but n = 6");
}

#[test]
fn extents_that_no_axis_can_have_name_program_and_sizes() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let zero = b.constant(ScalarValue::F64(0.0)).unwrap();
    let shorter = b.broadcast_in_dim(zero, &[&n - 2], &[]).unwrap();
    let quotient = b.broadcast_in_dim(zero, &[n.div(&m)], &[]).unwrap();
    let program = b.finish(&[(None, x), (None, shorter), (None, quotient)]).unwrap();
    assert!(program.bind(&[&[2, 1]]).is_ok());
    let message = |shape: &[usize]| program.bind(&[shape]).unwrap_err().to_string();
    assert_eq!(message(&[1, 1]), "f: an extent needs 0 <= n - 2, but n = 1");
    assert_eq!(message(&[3, 0]), "f: n/m cannot be computed with n = 3, m = 0");
}

#[test]
fn a_size_of_a_called_program_is_not_negative() {
    let mut b = ProgramBuilder::new("callee");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n + 3]).unwrap();
    let callee = b.finish(&[(None, x)]).unwrap();
    let mut b = ProgramBuilder::new("f");
    let m = b.size("m");
    let x = b.input("x", DType::F64, &[m]).unwrap();
    let y = b.call(&callee, &[x]).unwrap()[0];
    let program = b.finish(&[(None, y)]).unwrap();
    assert!(program.bind(&[&[3]]).is_ok());
    let message = program.bind(&[&[2]]).unwrap_err().to_string();
    assert_eq!(message, "f: size `n` of callee needs 0 <= m - 3, but m = 2");
}

#[test]
fn derivatives_refuse_what_they_cannot_do() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[SymDim::constant(2)]).unwrap();
    let i = b.input("i", DType::I64, &[]).unwrap();
    let program = b.finish(&[(None, x), (None, i)]).unwrap();
    let ctx = AdContext::new();
    let text = |r: Result<SemanticProgram>| r.unwrap_err().to_string();
    assert!(text(ad::jvp(&program, &[1], &ctx)).contains("`i` is i64, expected a float"));
    assert!(text(ad::jvp(&program, &[2], &ctx)).contains("names input 2"));
    assert!(text(ad::grad(&program, &[0], &ctx)).contains("must be one real scalar, but there are 2"));
}

#[test]
fn derivative_inputs_never_share_a_name_with_the_programs() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let d = b.input("d_x", DType::F64, &[]).unwrap();
    let y = b.mul(x, d).unwrap();
    let program = b.finish(&[(None, y)]).unwrap();
    let jvp = ad::jvp(&program, &[0, 1], &AdContext::new()).unwrap();
    let names: Vec<&str> = jvp.inputs().iter().map(|i| &*i.name).collect();
    assert_eq!(names, ["x", "d_x", "d_x_", "d_d_x"]);
}

use proptest::prelude::*;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize};

fn error(source: &str) -> String {
    EinsumNotation::parse(source).unwrap_err().to_string()
}

fn resolved(source: &str, ranks: &[usize]) -> String {
    EinsumNotation::parse(source).unwrap().resolve(ranks).unwrap().to_string()
}

#[test]
fn labels_are_numbered_by_first_occurrence() {
    assert_eq!(resolved("ba,ac->bc", &[2, 2]), "ij,jk->ik");
    assert_eq!(resolved(" 字 γ , γ𝒙 -> 字 𝒙 ", &[2, 2]), "ij,jk->ik");
    assert_eq!(resolved("->", &[0]), "->");
    assert_eq!(resolved(",i,->ii", &[0, 1, 0]), ",i,->ii");
}

#[test]
fn an_ellipsis_is_aligned_from_the_right() {
    assert_eq!(resolved("...ab,...bc->...ac", &[4, 3]), "ijkl,jlm->ijkm");
    assert_eq!(resolved("a...,...->...a", &[1, 2]), "i,jk->jki");
    assert_eq!(resolved("a->...a", &[1]), "i->i");
    assert_eq!(resolved("...a->a", &[1]), "i->i");
    assert_eq!(resolved("(a...b,b...),...c->...ac", &[3, 3, 1]), "ijk,klj,m->ljim");
}

#[test]
fn the_output_may_be_implicit() {
    let implicit = |source: &str, ranks: &[usize]| {
        EinsumNotation::parse_implicit(source).unwrap().resolve(ranks).unwrap().to_string()
    };
    assert_eq!(implicit("ba,ac", &[2, 2]), "ij,jk->ik");
    assert_eq!(implicit("ba", &[2]), "ij->ji");
    assert_eq!(implicit("...ba,...ac", &[3, 3]), "ijk,ikl->ijl");
    assert_eq!(implicit("aa", &[2]), "ii->");
    assert_eq!(implicit("ab->ba", &[2]), "ij->ji");
}

#[test]
fn parentheses_become_a_path() {
    let path = |source: &str, count: usize| {
        let shapes = vec![[2usize, 2].as_slice(); count];
        match EinsumOp::concrete(&EinsumNotation::parse(source).unwrap(), &shapes).unwrap().plan {
            EinsumOptimize::Path(positions) => positions.to_vec(),
            plan => panic!("{plan:?}"),
        }
    };
    assert_eq!(path("ab,(bc,cd)->ad", 3), [(1, 2), (0, 1)]);
    assert_eq!(path("((ab,bc),cd),de->ae", 4), [(0, 1), (2, 0), (1, 0)]);
    assert_eq!(path("(ab,bc),(cd,de)->ae", 4), [(0, 1), (0, 1), (0, 1)]);
    assert_eq!(path("(((ab)),bc,cd)->ad", 3), [(0, 1), (1, 0)]);
    assert!(!EinsumNotation::parse("ab,bc->ac").unwrap().fixes_order());
}

#[test]
fn errors_draw_a_caret() {
    assert_eq!(error("ij,jk->im"), "the output label `m` is on no operand\n    ij,jk->im\n            ^");
    assert_eq!(error("文(字->字"), "`(` must open a whole item: write a comma before it\n    文(字->字\n     ^");
    assert_eq!(error("ij,jk"), "the arrow `->` and the output labels are missing\n    ij,jk\n         ^");
    assert_eq!(error("ij->j->i"), "a second arrow\n    ij->j->i\n         ^^");
    assert_eq!(error("i..j->ij"), "an ellipsis is three dots `...`, not 2\n    i..j->ij\n     ^^");
    let long = format!("{}!->", "ab,".repeat(1000));
    assert_eq!(error(&long).lines().map(|line| line.chars().count()).max(), Some(4 + 1 + 48 + 3));
}

#[test]
fn operands_that_do_not_fit_are_named() {
    let error = |source: &str, shapes: &[&[usize]]| {
        EinsumOp::concrete(&EinsumNotation::parse(source).unwrap(), shapes).unwrap_err()
    };
    let mismatch = error("ij,jk->ik", &[&[2, 3], &[4, 5]]);
    assert_eq!(
        mismatch.to_string(),
        "label `j` is 3 on axis 1 of operand 0, but 4 on axis 0 of operand 1 (operand 0 is [2, 3], operand 1 is \
         [4, 5])\n    ij,jk->ik\n       ^"
    );
    assert_eq!((mismatch.operand(), mismatch.span()), (Some(1), 3..4));
    assert_eq!(
        error("ijk->i", &[&[2, 3]]).to_string(),
        "operand 0 has rank 2, but its term asks for 3\n    ijk->i\n    ^^^"
    );
    assert!(error("i,j->ij", &[&[2]]).to_string().starts_with("the notation has 2 operands, but 1 was given"));
    assert!(error("i#j,jk->ik", &[&[2, 3], &[3, 2]]).message().contains("whose extent is 3"));
    assert!(error("...i->i", &[&[2, 3]]).message().contains("covers 1 axis"));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(source in "\\PC*") {
        if let Err(error) = EinsumNotation::parse(&source) {
            prop_assert!(error.to_string().contains('^'));
        }
    }

    #[test]
    fn any_likely_text_is_parsed_or_refused(source in "[ab字.#(),> -]{0,12}(->)?[ab字.#(), ]{0,4}", rank in 0usize..3) {
        match EinsumNotation::parse(&source) {
            Err(error) => prop_assert!(error.to_string().contains('^')),
            Ok(notation) => {
                let shape = vec![1; rank];
                let shapes = vec![shape.as_slice(); notation.operand_count()];
                if let Ok(op) = EinsumOp::concrete(&notation, &shapes) {
                    op.tree(&shapes).unwrap();
                }
            }
        }
    }
}

#[test]
fn parsing_is_linear_and_flat() {
    let depth = 200_000;
    let source = format!("{}a{}->a", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(EinsumNotation::parse(&source).unwrap().operand_count(), 1);
    let many = format!("{}a->a", "a,".repeat(depth));
    assert_eq!(EinsumNotation::parse(&many).unwrap().operand_count(), depth + 1);
}

//! Extents that no sizes allow, and extents that do not fit 64 bits.

use tenferro_core::dtype::{DType, ScalarValue};
use tenferro_core::ops::CoreOp;
use tenferro_core::program::{ProgramBuilder, Relation, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Result, composite};

/// What building says of a function of a matrix `x: f64[n, 3]`, indices `i: i64[n]` and the size n.
fn refusal(build: impl FnOnce(&mut ProgramBuilder, [ValueId; 2], &SymDim) -> Result<()>) -> String {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n.clone(), 3.into()]).unwrap();
    let i = b.input("i", DType::I64, std::slice::from_ref(&n)).unwrap();
    build(&mut b, [x, i], &n).unwrap_err().to_string()
}

#[test]
fn extents_that_are_negative_for_all_sizes_are_refused_when_built() {
    let [minus_one, minus_three] = [SymDim::from(-1), SymDim::from(-3)];
    for (actual, expected) in [
        (
            refusal(|b, _, _| {
                let c = b.constant(ScalarValue::F64(1.0))?;
                b.broadcast_in_dim(c, std::slice::from_ref(&minus_three), &[]).map(drop)
            }),
            "broadcast_in_dim: `result` would have extent -3 on axis 0, but an extent is not negative",
        ),
        (
            refusal(|b, [x, _], n| b.reshape(x, &[-n.clone(), minus_three.clone()]).map(drop)),
            "reshape: `result` would have extent -3 on axis 1, but an extent is not negative",
        ),
        (
            refusal(|b, _, _| {
                let shape = vec![2.into(), minus_one.clone()].into();
                b.op(CoreOp::Iota { shape, axis: 0, dtype: DType::I64 }, &[]).map(drop)
            }),
            "iota: `result` would have extent -1 on axis 1, but an extent is not negative",
        ),
        (
            refusal(|b, [_, i], _| composite::one_hot(b, i, &(-2).into(), DType::F64).map(drop)),
            "one_hot: `depth` is -2, but an extent is not negative",
        ),
        (
            refusal(|b, _, _| b.input("y", DType::F64, &[1.into(), minus_three.clone()]).map(drop)),
            "program `f` is malformed: input `y` would have extent -3 on axis 1, but an extent is not negative",
        ),
    ] {
        assert!(actual.contains(expected), "{actual}\n{expected}");
    }
}

#[test]
fn a_condition_without_sizes_is_refused_without_listing_any() {
    let text = "program f(x: f64[n]) -> f64[n] {\n  guard 0 <= -3, \"an extent\"\n  return x\n}\n";
    let program = SemanticProgram::parse(text).unwrap();
    let message = program.bind(&[&[2]]).unwrap_err().to_string();
    assert!(message.ends_with("an extent needs 0 <= -3"), "{message}");
}

#[test]
fn extents_that_do_not_fit_64_bits_are_refused_when_built() {
    for actual in [
        refusal(|b, _, n| b.input("y", DType::F64, &[n + i64::MAX + i64::MAX - i64::MAX]).map(drop)),
        refusal(|b, [x, _], n| b.broadcast_in_dim(x, &[n.clone(), 3.into(), usize::MAX.into()], &[0, 1]).map(drop)),
        refusal(|b, _, n| b.guard(&(n * i64::MAX * 2), Relation::Le, n, "enough")),
        refusal(|b, [x, _], _| {
            let low = vec![0.into(), i64::MAX.into()];
            let zero = b.constant(ScalarValue::F64(0.0))?;
            let op =
                CoreOp::Pad { low: low.into(), high: vec![0.into(), 0.into()].into(), interior: vec![0, 0].into() };
            b.op(op, &[x, zero]).map(drop)
        }),
    ] {
        assert!(actual.contains("does not fit 64 bits"), "{actual}");
    }
    let many = refusal(|b, [x, _], n| b.reshape(x, &[n.clone(), i64::MAX.into(), i64::MAX.into()]).map(drop));
    assert!(many.contains("expected as many entries as [n, 9223372036854775807, 9223372036854775807] has"), "{many}");
}

#[test]
fn messages_name_what_was_called() {
    let take = refusal(|b, [x, _], _| b.take(x, x, 0).map(drop));
    assert!(take.starts_with("take: `indices`"), "{take}");
    let guard = refusal(|b, _, _| b.guard(&1.into(), Relation::Eq, &2.into(), "why"));
    assert_eq!(guard, "program `f` is malformed: the guard \"why\" never holds: 1 == 2");
}

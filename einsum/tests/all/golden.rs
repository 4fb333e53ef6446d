//! Golden values and refusals: notation, resolution and tree, the tree followed step by step without an engine.

use tenferro_core::{Complex64, Tensor, with_dtype};
use tenferro_einsum::{EinsumNotation, EinsumOp, NotationError};
use tenferro_testing::golden::{Coverage, Record, records};

use crate::oracle::{Array, follow};

trait Wide {
    fn wide(self) -> Complex64;
}

macro_rules! wide {
    ($($type:ty: $x:ident => $wide:expr),* $(,)?) => {$(
        impl Wide for $type {
            fn wide(self) -> Complex64 {
                let $x = self;
                $wide
            }
        }
    )*};
}
wide!(
    f32: x => f64::from(x).into(), f64: x => x.into(), i32: x => f64::from(x).into(), i64: x => (x as f64).into(),
    bool: x => f64::from(u8::from(x)).into(), Complex64: x => x,
    tenferro_core::Complex32: x => Complex64::new(x.re.into(), x.im.into()),
);

fn array(tensor: Tensor) -> Array {
    let data = with_dtype!(tensor.dtype(), T => {
        tensor.to_vec_col_major::<T>().unwrap().into_iter().map(Wide::wide).collect()
    });
    Array { shape: tensor.shape().to_vec(), data }
}

fn operands(record: &Record) -> Vec<Array> {
    record.tensors("operands").into_iter().map(|tensor| array(tensor.unwrap())).collect()
}

fn payload(record: &Record, operands: &[Array]) -> Result<EinsumOp, NotationError> {
    let equation = record.text("equation");
    let notation = match record.has_tag("implicit_output") {
        true => EinsumNotation::parse_implicit(equation)?,
        false => EinsumNotation::parse(equation)?,
    };
    EinsumOp::concrete(&notation, &shapes(operands))
}

fn shapes(operands: &[Array]) -> Vec<&[usize]> {
    operands.iter().map(|operand| operand.shape.as_slice()).collect()
}

#[test]
fn golden_values() {
    let mut coverage = Coverage::default();
    for record in records("einsum.jsonl") {
        let operands = operands(&record);
        let op = payload(&record, &operands).unwrap();
        let tree = op.tree(&shapes(&operands)).unwrap();
        let (rtol, atol) = record.tolerance("tol");
        let result = follow(&op, &tree, &operands.iter().collect::<Vec<_>>());
        let expected = array(record.tensor("expected").unwrap());
        result.assert_close(&expected, rtol, atol, &format!("{} {op}", record.text("id")));
        coverage.cover();
    }
    coverage.report("einsum.jsonl", "trees");
}

#[test]
fn golden_refusals() {
    let mut coverage = Coverage::default();
    for record in records("einsum_errors.jsonl") {
        let error = payload(&record, &operands(&record)).expect_err(record.text("equation")).to_string();
        assert!(error.contains('^'), "{}: {error}", record.text("equation"));
        coverage.cover();
    }
    coverage.report("einsum_errors.jsonl", "the notation");
}

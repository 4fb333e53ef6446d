//! What the builder says to wrong operands, for every row of the table: the operation, the operand, and both dtypes or
//! both shapes.

use tenferro::dtype::DType;
use tenferro::program::ProgramBuilder;
use tenferro::program::ops::{CoreOp, OpClass};
use tenferro::program::shape::SymDim;
use tenferro_core::Error;

use super::table::operations;

type Operand = (DType, Vec<usize>);

/// Operands that fit.
fn operands(op: &CoreOp, shapes: &[&[usize]]) -> Vec<Operand> {
    let data = op.row().dtypes.iter().next().unwrap();
    let dtype = |i| op.row().control(i).unwrap_or(data);
    shapes.iter().enumerate().map(|(i, shape)| (dtype(i), shape.to_vec())).collect()
}

fn apply(op: &CoreOp, operands: &[Operand]) -> Result<(), Error> {
    let mut b = ProgramBuilder::new("p");
    let mut values = Vec::new();
    for (i, (dtype, shape)) in operands.iter().enumerate() {
        let shape: Vec<SymDim> = shape.iter().map(|&extent| extent.into()).collect();
        values.push(b.input(format!("x{i}"), *dtype, &shape)?);
    }
    b.op(op.clone(), &values).map(|_| ())
}

fn operand_name(op: &CoreOp, i: usize) -> String {
    op.row().operands.get(i).map_or_else(|| format!("`operand {i}`"), |name| format!("`{name}`"))
}

#[test]
fn a_wrong_dtype_is_named_with_the_one_that_is_accepted() {
    for (op, shapes) in operations() {
        let fitting = operands(&op, shapes);
        apply(&op, &fitting).unwrap();
        for i in 0..fitting.len() {
            let alone = fitting.len() == 1;
            let accepted = |dtype: DType| match op.row().control(i) {
                Some(control) => dtype == control,
                None if alone => op.row().dtypes.contains(dtype),
                None => dtype == fitting[i].0,
            };
            for dtype in DType::ALL.into_iter().filter(|&dtype| !accepted(dtype)) {
                let mut wrong = fitting.clone();
                wrong[i].0 = dtype;
                if fitting.len() == 2 && op.row().control(1 - i).is_some() && op.row().dtypes.contains(dtype) {
                    // The only data operand may be of any of its dtypes.
                    apply(&op, &wrong).unwrap();
                    continue;
                }
                let Err(error) = apply(&op, &wrong) else { panic!("{op:?} took {wrong:?}") };
                let message = error.to_string();
                let Error::DType { argument, actual, .. } = &error else { panic!("{op:?}: {message}") };
                let blamed = (0..fitting.len()).find(|&k| operand_name(&op, k) == format!("`{argument}`")).unwrap();
                assert_eq!(wrong[blamed].0, *actual, "{message}");
                assert!(
                    message.starts_with(&format!("{}: `{argument}` is {actual}, expected ", op.name())),
                    "{message}"
                );
                // Where two operands differ, both dtypes and both names stand there.
                if blamed != i {
                    assert!(message.ends_with(&format!("expected {dtype}, as {}", operand_name(&op, i))), "{message}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_number_of_operands_is_named() {
    for (op, shapes) in operations() {
        let Some(arity) = op.row().arity() else {
            assert!(apply(&op, &[]).unwrap_err().to_string().contains("must be at least 1, not 0"));
            continue;
        };
        let mut wrong = operands(&op, shapes);
        wrong.push((DType::F64, vec![2, 3]));
        let message = apply(&op, &wrong).unwrap_err().to_string();
        assert_eq!(message, format!("{}: `operands` must be {arity}, not {}", op.name(), arity + 1));
    }
}

/// Shapes of another rank, and of this rank with another extent.
fn other_shapes(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut others = vec![[shape, &[2]].concat()];
    if let [shorter @ .., _] = shape {
        others.push(shorter.to_vec());
        others.push(Vec::new());
    }
    for axis in 0..shape.len() {
        let mut other = shape.to_vec();
        other[axis] += 7;
        others.push(other);
    }
    others
}

/// The operations whose only operand may have any shape with the axes that they name.
fn takes_any_shape(op: &CoreOp) -> bool {
    match op.class() {
        OpClass::Elementwise => op.row().arity() == Some(1),
        OpClass::Reduction => op.row().arity() == Some(1),
        _ => matches!(
            op,
            CoreOp::StopGradient
                | CoreOp::Reverse { .. }
                | CoreOp::Tril { .. }
                | CoreOp::Triu { .. }
                | CoreOp::EmbedDiag
                | CoreOp::ExtractDiag { .. }
        ),
    }
}

/// Whether another extent of an operand is no fault, the rank being right.
fn takes_any_extent(op: &CoreOp, operand: usize) -> bool {
    match op {
        CoreOp::Transpose { .. } | CoreOp::Pad { .. } | CoreOp::Slice { .. } => true,
        CoreOp::DynamicSlice { .. } | CoreOp::DynamicUpdateSlice => operand == 0,
        // Along their axis.
        CoreOp::Concatenate { .. } => true,
        CoreOp::Gather { .. } => true,
        CoreOp::Scatter { .. } | CoreOp::ScatterAdd { .. } => operand == 0,
        _ => false,
    }
}

#[test]
fn a_wrong_shape_is_named_with_the_one_it_should_fit() {
    let mut refused = 0;
    for (op, shapes) in operations() {
        let fitting = operands(&op, shapes);
        for i in 0..fitting.len() {
            for shape in other_shapes(&fitting[i].1) {
                let mut wrong = fitting.clone();
                let same_rank = shape.len() == wrong[i].1.len();
                wrong[i].1 = shape;
                let Err(error) = apply(&op, &wrong) else {
                    let fine = takes_any_shape(&op) || same_rank && takes_any_extent(&op, i);
                    assert!(fine, "{op:?} took {wrong:?}");
                    continue;
                };
                refused += 1;
                let message = error.to_string();
                assert!(message.starts_with(&format!("{}: ", op.name())), "{message}");
                if let Error::Axis { axis, rank, .. } = error {
                    // Of the operand the message tells the rank.
                    assert!(axis >= rank && rank == wrong[0].1.len(), "{op:?}: {message}");
                    continue;
                }
                assert!(matches!(error, Error::Shape { .. } | Error::Argument { .. }), "{message}");
                let named = |k: usize| {
                    message.contains(&operand_name(&op, k)) && message.contains(&format!("{:?}", wrong[k].1))
                };
                let attributes = |message: &str| message.contains("which has ") || message.matches('[').count() > 1;
                // The operand and another one, or an attribute that it should fit.
                let both = (0..wrong.len()).filter(|&k| named(k)).count() > 1;
                assert!(
                    (0..wrong.len()).any(named) && (both || attributes(&message) || fitting.len() == 1),
                    "{message}"
                );
            }
        }
    }
    assert!(refused > 150, "{refused}");
}

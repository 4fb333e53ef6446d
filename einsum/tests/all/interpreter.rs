//! Runs the programs that the rules write: einsums and the few core operations around them.

use tenferro_core::dtype::ScalarValue;
use tenferro_core::ops::CoreOp;
use tenferro_core::program::{Op, SemanticProgram};
use tenferro_einsum::{EinsumOp, EinsumOptimize, Subscripts};

use crate::oracle::{Array, definition, follow};

pub fn run(program: &SemanticProgram, inputs: &[&Array]) -> Vec<Array> {
    let shapes: Vec<&[usize]> = inputs.iter().map(|input| input.shape.as_slice()).collect();
    let sizes = program.bind(&shapes).unwrap();
    let mut values: Vec<Array> = inputs.iter().map(|&input| input.clone()).collect();
    for node in program.nodes() {
        let operands: Vec<&Array> = node.inputs.iter().map(|v| &values[v.index()]).collect();
        let shape: Vec<usize> =
            program.meta(node.first_output).shape.iter().map(|dim| dim.eval_extent(&sizes).unwrap()).collect();
        let result = match &node.op {
            Op::Extension(op) => {
                let op = op.as_any().downcast_ref::<EinsumOp>().unwrap();
                let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape.as_slice()).collect();
                follow(op, &op.tree(&shapes).unwrap(), &operands)
            }
            Op::Core(CoreOp::Constant(value)) => Array::from_fn(&[], |_| match *value {
                ScalarValue::C64(z) => z,
                value => format!("{value}").parse::<f64>().unwrap().into(),
            }),
            Op::Core(CoreOp::Add) => elementwise(&operands, |x| x[0] + x[1]),
            Op::Core(CoreOp::Mul) => elementwise(&operands, |x| x[0] * x[1]),
            Op::Core(CoreOp::Conj) => elementwise(&operands, |x| x[0].conj()),
            Op::Core(CoreOp::Real) => elementwise(&operands, |x| x[0].re.into()),
            Op::Core(CoreOp::Convert(_)) => operands[0].clone(),
            Op::Core(CoreOp::Transpose { axes }) => relabel(operands[0], axes.to_vec()),
            Op::Core(CoreOp::Sum { axes }) => {
                relabel(operands[0], (0..operands[0].shape.len() as u32).filter(|axis| !axes.contains(axis)).collect())
            }
            Op::Core(CoreOp::Reshape { .. }) => Array { shape: shape.clone(), data: operands[0].data.clone() },
            Op::Core(CoreOp::BroadcastInDim { axes, .. }) => broadcast(operands[0], &shape, axes),
            Op::Core(op) => panic!("the interpreter has no {}", op.name()),
        };
        assert_eq!(result.shape, shape, "inferred shape of {}", node.op.name());
        values.push(result);
    }
    program.outputs().iter().map(|output| values[output.value.index()].clone()).collect()
}

fn elementwise(operands: &[&Array], f: impl Fn(&[tenferro_core::Complex64]) -> tenferro_core::Complex64) -> Array {
    Array::from_fn(&operands[0].shape, |i| f(&operands.iter().map(|operand| operand.data[i]).collect::<Vec<_>>()))
}

/// The operand's axes in another order, summed over those that are missing.
fn relabel(operand: &Array, output: Vec<u32>) -> Array {
    let labels = Subscripts::new([(0..operand.shape.len() as u32).collect()], output);
    definition(&EinsumOp::new(labels, &[], EinsumOptimize::Auto).unwrap(), &[operand])
}

fn broadcast(operand: &Array, shape: &[usize], axes: &[u32]) -> Array {
    let strides = operand.strides();
    Array::from_fn(shape, |mut flat| {
        let mut from = 0;
        for (axis, &extent) in shape.iter().enumerate() {
            let index = flat % extent;
            flat /= extent;
            if let Some(own) = axes.iter().position(|&a| a as usize == axis) {
                from += if operand.shape[own] == 1 { 0 } else { index * strides[own] as usize };
            }
        }
        operand.data[from]
    })
}

//! Programs, runtimes and tensors that the tests share.

use std::sync::Arc;

use tenferro_core::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{Engine, EngineTarget, Output, Runtime};

pub fn runtime() -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.install_extension_module(reference::module()).unwrap().build().unwrap()
}

pub fn target() -> EngineTarget {
    ReferenceEngine::new().target()
}

/// A program with `f64` inputs of these names and shapes; size names are letters.
pub fn program(
    inputs: &[(&str, &[&str])],
    body: impl FnOnce(&mut ProgramBuilder, &[ValueId], &[SymDim]) -> Vec<ValueId>,
) -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("test");
    let mut sizes: Vec<(&str, SymDim)> = Vec::new();
    let mut values = Vec::new();
    for (name, dims) in inputs {
        let mut shape = Vec::new();
        for &dim in *dims {
            shape.push(match dim.parse::<i64>() {
                Ok(extent) => SymDim::constant(extent),
                Err(_) => match sizes.iter().find(|(name, _)| *name == dim) {
                    Some((_, size)) => size.clone(),
                    None => {
                        let size = b.size(dim);
                        sizes.push((dim, size.clone()));
                        size
                    }
                },
            });
        }
        values.push(b.input(*name, DType::F64, &shape).unwrap());
    }
    let sizes: Vec<SymDim> = sizes.into_iter().map(|(_, size)| size).collect();
    let outputs = body(&mut b, &values, &sizes);
    let outputs: Vec<_> = outputs.into_iter().map(|value| (None, value)).collect();
    Arc::new(b.finish(&outputs).unwrap())
}

/// `sum(x * x)`
pub fn sum_of_squares() -> Arc<SemanticProgram> {
    program(&[("x", &["n"])], |b, v, _| {
        let square = b.mul(v[0], v[0]).unwrap();
        vec![b.sum(square, &[0]).unwrap()]
    })
}

/// `a[m, k] b[k, n]`
pub fn product() -> Arc<SemanticProgram> {
    program(&[("a", &["m", "k"]), ("b", &["k", "n"])], |b, v, _| {
        vec![tenferro_einsum::einsum(b, "ij,jk->ik", v).unwrap()]
    })
}

/// `1, 2, 3, ..` in column-major order.
pub fn counting(shape: &[usize]) -> Tensor {
    let len: usize = shape.iter().product();
    Tensor::from_vec_col_major(shape, (1..=len).map(|i| i as f64).collect()).unwrap()
}

pub fn vector(values: &[f64]) -> Tensor {
    Tensor::from_vec_col_major([values.len()], values.to_vec()).unwrap()
}

pub fn reads(inputs: &[Tensor]) -> Vec<TensorRead<'_>> {
    inputs.iter().map(TensorRead::from).collect()
}

/// Prepares and runs on a new runtime and engine.
pub fn run<'a>(program: &Arc<SemanticProgram>, inputs: &[TensorRead<'a>]) -> Vec<Output<'a>> {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let prepared = runtime.prepare(program, inputs, &[engine.target()]).unwrap();
    runtime.run(&mut [&mut engine], &prepared, inputs).unwrap()
}

pub fn values(output: &Output<'_>) -> Vec<f64> {
    output.view().to_vec_col_major().unwrap()
}

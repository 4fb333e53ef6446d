//! What is asked of inputs before anything is done with them.

use smallvec::SmallVec;
use tenferro_core::program::{SemanticProgram, SizeNames, Sizes};
use tenferro_core::{DType, Layout, Tensor, TensorRead};

use crate::error::{Error, Result};

/// An input without its elements.
#[derive(Clone, Copy)]
pub(crate) struct InputMeta<'a> {
    pub dtype: DType,
    pub layout: &'a Layout,
}

impl<'a> InputMeta<'a> {
    pub fn of(input: &'a TensorRead<'_>) -> Self {
        let layout = match input {
            TensorRead::Tensor(tensor) => tensor.layout(),
            TensorRead::View(view) => view.layout(),
        };
        Self { dtype: input.dtype(), layout }
    }

    pub fn of_tensor(tensor: &'a Tensor) -> Self {
        Self { dtype: tensor.dtype(), layout: tensor.layout() }
    }
}

/// Checks inputs against a program and reads its sizes off them.
pub(crate) fn bind_sizes(call: &'static str, program: &SemanticProgram, inputs: &[InputMeta<'_>]) -> Result<Sizes> {
    for (i, (declared, input)) in program.inputs().iter().zip(inputs).enumerate() {
        let meta = program.input_meta(i);
        if meta.dtype != input.dtype {
            return Err(Error::InputDType {
                call,
                input: declared.name.to_string(),
                expected: SizeNames(program.sizes()).meta(meta),
                actual: input.dtype,
                shape: input.layout.shape().to_vec(),
            });
        }
    }
    let shapes: SmallVec<[&[usize]; 8]> = inputs.iter().map(|input| input.layout.shape()).collect();
    Ok(program.bind(&shapes)?)
}

//! What a program returned, on its way to typed values.

use crate::Result;
use crate::dtype::Scalar;
use crate::runtime::{Engine, Output};
use crate::tensor::{Tensor, TypedTensor};

/// The results of one run, to be taken in order.
pub struct Results<'s, 'a> {
    engine: &'s mut dyn Engine,
    outputs: std::vec::IntoIter<Output<'a>>,
}

impl<'s, 'a> Results<'s, 'a> {
    pub(crate) fn new(engine: &'s mut dyn Engine, outputs: Vec<Output<'a>>) -> Self {
        Self { engine, outputs: outputs.into_iter() }
    }

    fn next(&mut self) -> Result<Tensor> {
        // A kernel takes as many results as its program has outputs: both come from one signature.
        let output = self.outputs.next().unwrap_or_else(|| unreachable!("more results taken than the program has"));
        output.into_tensor(self.engine)
    }

    /// The next result as a tensor.
    ///
    /// # Errors
    /// Where it is of another dtype or rank, or the engine cannot deliver it.
    pub fn tensor<T: Scalar, const R: usize>(&mut self) -> Result<TypedTensor<T, R>> {
        Ok(self.next()?.try_into_typed()?)
    }

    /// The next result as a scalar.
    ///
    /// # Errors
    /// Where it is of another dtype or rank, or the engine cannot deliver it.
    pub fn scalar<T: Scalar>(&mut self) -> Result<T> {
        let tensor = self.next()?;
        let value = tensor.item()?;
        // Results are in host memory; an engine of another takes back its own only.
        if self.engine.target().allocation_domain.is_none() {
            self.engine.recycle(tensor);
        }
        Ok(value)
    }
}

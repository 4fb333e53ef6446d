//! Derivatives along many directions: one derivative program, made and prepared once.

use crate::ad::{AdContext, Transform};
use crate::program::SemanticProgram;
use crate::tensor::{Tensor, TensorRead};
use crate::{Result, Session};

impl Session {
    /// The derivatives of a program along each of `directions`. A direction has one tangent for each input of `wrt`, in
    /// that order; its result is one tangent for each floating-point output.
    ///
    /// # Errors
    /// When a direction has another number of tangents, those of [`jvp`](crate::ad::jvp) and of [`run`](Session::run).
    ///
    /// ```
    /// use tenferro::ad::AdContext;
    /// use tenferro::prelude::*;
    /// use tenferro::program::ProgramBuilder;
    ///
    /// let mut b = ProgramBuilder::new("product");
    /// let x = b.input("x", DType::F64, &[])?;
    /// let y = b.input("y", DType::F64, &[])?;
    /// let z = b.mul(x, y)?;
    /// let product = b.finish(&[(None, z)])?;
    ///
    /// let [x, y, zero, one] = [2.0, 5.0, 0.0, 1.0].map(Tensor::scalar);
    /// let directions: [&[Tensor]; 2] = [&[one.clone(), zero.clone()], &[one.clone(), one]];
    /// let tangents =
    ///     Session::cpu().jvp_many(&product, &[0, 1], &[(&x).into(), (&y).into()], &directions, &AdContext::new())?;
    /// assert_eq!(tangents[0][0].item::<f64>()?, 5.0);
    /// assert_eq!(tangents[1][0].item::<f64>()?, 7.0);
    /// # Ok::<(), tenferro::Error>(())
    /// ```
    pub fn jvp_many(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        inputs: &[TensorRead<'_>],
        directions: &[&[Tensor]],
        ad: &AdContext,
    ) -> Result<Vec<Vec<Tensor>>> {
        check_directions("jvp_many", "tangents", directions, wrt.len())?;
        self.along(Transform::Jvp, program, wrt, inputs, directions, ad)
    }

    /// The gradients of a program for each of `cotangents`, which has one cotangent for each floating-point output;
    /// its result is one gradient for each input of `wrt`, in that order.
    ///
    /// # Errors
    /// As [`jvp_many`](Session::jvp_many).
    pub fn vjp_many(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        inputs: &[TensorRead<'_>],
        cotangents: &[&[Tensor]],
        ad: &AdContext,
    ) -> Result<Vec<Vec<Tensor>>> {
        let floats = (0..program.outputs().len()).filter(|&i| program.output_meta(i).dtype.is_float()).count();
        check_directions("vjp_many", "cotangents", cotangents, floats)?;
        self.along(Transform::Vjp, program, wrt, inputs, cotangents, ad)
    }

    fn along(
        &mut self,
        transform: Transform,
        program: &SemanticProgram,
        wrt: &[usize],
        inputs: &[TensorRead<'_>],
        directions: &[&[Tensor]],
        ad: &AdContext,
    ) -> Result<Vec<Vec<Tensor>>> {
        let derivative = ad.transform(transform, program, wrt)?;
        let mut all = Vec::with_capacity(directions.len());
        for direction in directions {
            let reads: Vec<_> = inputs.iter().cloned().chain(direction.iter().map(TensorRead::from)).collect();
            all.push(self.run(&derivative, &reads)?.split_off(program.outputs().len()));
        }
        Ok(all)
    }
}

fn check_directions(op: &'static str, argument: &'static str, directions: &[&[Tensor]], count: usize) -> Result<()> {
    match directions.iter().position(|direction| direction.len() != count) {
        None => Ok(()),
        Some(k) => {
            let message = format!("must be {count} in each list, but list {k} has {}", directions[k].len());
            Err(tenferro_core::Error::argument(op, argument, message).into())
        }
    }
}

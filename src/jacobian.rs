//! Jacobians and Hessians: a derivative program run once for each entry of a basis.

use std::sync::Arc;

use crate::ad::{AdContext, Transform};
use crate::dtype::{DType, DTypeSet, ScalarValue};
use crate::program::{SemanticProgram, Sizes, ValueMeta};
use crate::tensor::{Shape, Tensor, TensorRead};
use crate::{Result, Session};

impl Session {
    /// The Jacobians of a program: `[i][j]` is that of floating-point output `i` by input `wrt[j]`, with the axes of
    /// the output and then those of the input.
    ///
    /// Forward mode runs once for each entry of the inputs, reverse mode once for each entry of the outputs; the one
    /// that runs less often is taken. A complex output of real inputs takes forward mode.
    ///
    /// # Errors
    /// When an input of `wrt` is not real (a derivative by a complex number is no single number; take a
    /// [`jvp`](crate::ad::jvp) in the direction wanted), and those of [`run`](Session::run).
    ///
    /// ```
    /// use tenferro::ad::AdContext;
    /// use tenferro::prelude::*;
    /// use tenferro::program::ProgramBuilder;
    ///
    /// let mut b = ProgramBuilder::new("squares");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n])?;
    /// let y = b.mul(x, x)?;
    /// let squares = b.finish(&[(None, y)])?;
    ///
    /// let x = Tensor::from_vec_col_major([2], vec![1.0, 3.0])?;
    /// let jacobians = Session::cpu().jacobian(&squares, &[0], &[(&x).into()], &AdContext::new())?;
    /// assert_eq!(jacobians[0][0].shape(), [2, 2]);
    /// assert_eq!(jacobians[0][0].as_slice::<f64>()?, [2.0, 0.0, 0.0, 6.0]);
    /// # Ok::<(), tenferro::Error>(())
    /// ```
    pub fn jacobian(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        inputs: &[TensorRead<'_>],
        ad: &AdContext,
    ) -> Result<Vec<Vec<Tensor>>> {
        let mut derivative = ad.transform(Transform::Jvp, program, wrt)?;
        let shapes: Vec<&[usize]> = inputs.iter().map(TensorRead::shape).collect();
        let sizes = program.bind(&shapes)?;
        let outputs = self.output_spaces(program, &sizes, inputs)?;
        let rows: Vec<Space> = outputs.into_iter().filter(|output| output.dtype.is_float()).collect();
        let columns: Vec<Space> = wrt.iter().map(|&i| Space::new(inputs[i].dtype(), shapes[i].into())).collect();
        if let Some((&i, column)) = wrt.iter().zip(&columns).find(|(_, column)| column.dtype.is_complex()) {
            let (argument, expected) = (program.inputs()[i].name.clone(), DTypeSet::REAL_FLOAT.to_string().into());
            let op = "jacobian".into();
            return Err(tenferro_core::Error::DType { op, argument, expected, actual: column.dtype }.into());
        }

        let entries = |spaces: &[Space]| spaces.iter().map(|space| space.len).sum::<usize>();
        let one_dtype = rows.iter().all(|row| columns.iter().all(|column| row.dtype == column.dtype));
        let forward = !one_dtype || entries(&columns) <= entries(&rows);
        if !forward {
            derivative = ad.transform(Transform::Vjp, program, wrt)?;
        }
        let mut blocks =
            rows.iter().map(|row| columns.iter().map(|c| row.by(c)).collect()).collect::<Result<Vec<Vec<_>>>>()?;
        let seeds = if forward { &columns } else { &rows };
        for (at, seed) in seeds.iter().enumerate() {
            for entry in 0..seed.len {
                let basis = seeds.iter().enumerate().map(|(i, space)| space.basis((i == at).then_some(entry)));
                let basis = basis.collect::<Result<Vec<_>>>()?;
                let reads: Vec<_> = inputs.iter().cloned().chain(basis.iter().map(TensorRead::from)).collect();
                let results = self.run(&derivative, &reads)?;
                for (other, result) in results[program.outputs().len()..].iter().enumerate() {
                    let (row, column) = if forward { (other, at) } else { (at, other) };
                    let (start, step) = if forward { (entry * rows[row].len, 1) } else { (entry, rows[row].len) };
                    place(&mut blocks[row][column], start, step, result)?;
                }
            }
        }
        Ok(blocks)
    }

    /// What the outputs range over; where their extents depend on data, the program is run.
    fn output_spaces(
        &mut self,
        program: &SemanticProgram,
        sizes: &Sizes,
        inputs: &[TensorRead<'_>],
    ) -> Result<Vec<Space>> {
        let metas = || (0..program.outputs().len()).map(|i| program.output_meta(i));
        if metas().flat_map(|meta| meta.shape.iter()).any(|dim| dim.sizes_needed() > sizes.len()) {
            let outputs = self.run(Arc::new(program.clone()), inputs)?;
            return Ok(outputs.iter().map(|output| Space::new(output.dtype(), output.shape().into())).collect());
        }
        let space = |meta: &ValueMeta| {
            let shape = meta.shape.iter().map(|dim| dim.eval_extent(sizes)).collect::<Result<_, _>>()?;
            Ok(Space::new(meta.dtype, shape))
        };
        metas().map(space).collect()
    }

    /// The Hessians of a program whose output is a real scalar: `[i][j]` is the second derivative by inputs `wrt[i]`
    /// and `wrt[j]`, with the axes of the one and then those of the other. Forward over reverse.
    ///
    /// # Errors
    /// As [`jacobian`](Session::jacobian), and when the output is not a real scalar.
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
    /// let (x, y) = (Tensor::scalar(2.0), Tensor::scalar(5.0));
    /// let hessian = Session::cpu().hessian(&product, &[0, 1], &[(&x).into(), (&y).into()], &AdContext::new())?;
    /// assert_eq!(hessian[0][1].item::<f64>()?, 1.0);
    /// assert_eq!(hessian[0][0].item::<f64>()?, 0.0);
    /// # Ok::<(), tenferro::Error>(())
    /// ```
    pub fn hessian(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        inputs: &[TensorRead<'_>],
        ad: &AdContext,
    ) -> Result<Vec<Vec<Tensor>>> {
        let gradient = ad.transform(Transform::Grad, program, wrt)?;
        self.jacobian(&gradient, wrt, inputs, ad)
    }
}

/// What an input or output ranges over.
struct Space {
    dtype: DType,
    shape: Shape,
    len: usize,
}

impl Space {
    fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, len: shape.iter().product(), shape }
    }

    /// Zeros, but for a one at an entry.
    fn basis(&self, entry: Option<usize>) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(self.dtype, &self.shape)?;
        if let Some(entry) = entry {
            place(&mut tensor, entry, 1, &Tensor::scalar(ScalarValue::one(self.dtype)))?;
        }
        Ok(tensor)
    }

    /// Zeros for the derivatives of this space by another.
    fn by(&self, other: &Self) -> Result<Tensor> {
        let shape: Shape = self.shape.iter().chain(&other.shape).copied().collect();
        Ok(Tensor::zeros(self.dtype, &shape)?)
    }
}

/// Writes values over every `step`-th entry from `start` on.
fn place(block: &mut Tensor, start: usize, step: usize, values: &Tensor) -> Result<()> {
    tenferro_core::with_dtype!(block.dtype(), T => {
        let values = values.to_vec_col_major::<T>()?;
        let entries = block.as_mut_slice::<T>()?.iter_mut().skip(start).step_by(step);
        entries.zip(values).for_each(|(entry, value)| *entry = value);
    });
    Ok(())
}

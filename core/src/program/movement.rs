//! Moving entries by indices and along diagonals, as methods of the builder.

use super::{ProgramBuilder, ValueId, ValueMeta};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::CoreOp;
use crate::shape::SymDim;

impl ProgramBuilder {
    /// The slices of `x` at `indices`, whose shape takes the place of the axis.
    ///
    /// An index that is negative or beyond the extent is an error when the program runs.
    ///
    /// # Errors
    /// When the axis does not exist or the indices are not i64.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, program::ProgramBuilder};
    /// let mut b = ProgramBuilder::new("embedding");
    /// let (words, width, length) = (b.size("words"), b.size("width"), b.size("length"));
    /// let table = b.input("table", DType::F32, &[width, words])?;
    /// let text = b.input("text", DType::I64, &[length, 2.into()])?;
    /// let rows = b.take(table, text, 1)?;
    /// assert_eq!(b.size_names().meta(b.meta(rows)), "f32[width, length, 2]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn take(&mut self, x: ValueId, indices: ValueId, axis: u32) -> Result<ValueId> {
        let (shape, own) = (self.known_meta(x)?.shape.to_vec(), self.known_meta(indices)?.shape.to_vec());
        let Some((before, [_, after @ ..])) = shape.split_at_checked(axis as usize) else {
            return Err(Error::axis("take", "axis", axis as usize, shape.len()));
        };
        let count = own.iter().fold(SymDim::constant(1), |n, d| &n * d);
        let flat = self.reshape(indices, &[count])?;
        let taken = self.gather(x, flat, axis).map_err(|error| error.of("take"))?;
        self.reshape(taken, &[before, &own, after].concat())
    }

    /// [`CoreOp::Gather`]: along axis 0, `x[indices[i, j], j]`. Indices of one axis hold for every place beside it.
    ///
    /// # Errors
    /// When the axis does not exist, or the shapes differ beside it.
    pub fn gather(&mut self, x: ValueId, indices: ValueId, axis: u32) -> Result<ValueId> {
        let indices = self.beside(indices, x, axis)?;
        self.op(CoreOp::Gather { axis }, &[x, indices])
    }

    /// [`CoreOp::ScatterAdd`]: along axis 0, `x` with `updates[i, j]` added at `[indices[i, j], j]`. Indices of one
    /// axis hold for every place beside it.
    ///
    /// # Errors
    /// When the axis does not exist, the shapes differ beside it, or dtypes differ.
    pub fn scatter_add(&mut self, x: ValueId, indices: ValueId, updates: ValueId, axis: u32) -> Result<ValueId> {
        let indices = self.beside(indices, updates, axis)?;
        self.op(CoreOp::ScatterAdd { axis }, &[x, indices, updates])
    }

    /// [`CoreOp::Scatter`]: along axis 0, `x` with `updates[i, j]` at `[indices[i, j], j]`; the last along the axis
    /// wins. Indices of one axis hold for every place beside it.
    ///
    /// # Errors
    /// When the axis does not exist, the shapes differ beside it, or dtypes differ.
    pub fn scatter(&mut self, x: ValueId, indices: ValueId, updates: ValueId, axis: u32) -> Result<ValueId> {
        let indices = self.beside(indices, updates, axis)?;
        self.op(CoreOp::Scatter { axis }, &[x, indices, updates])
    }

    /// Indices of one axis, repeated over the other axes of `like`; others as they are.
    fn beside(&mut self, indices: ValueId, like: ValueId, axis: u32) -> Result<ValueId> {
        let mut shape = self.known_meta(like)?.shape.to_vec();
        match (&*self.known_meta(indices)?.shape, shape.get_mut(axis as usize)) {
            ([count], Some(extent)) => *extent = count.clone(),
            _ => return Ok(indices),
        }
        self.broadcast_in_dim(indices, &shape, &[axis])
    }

    /// The part of `x` of these extents that begins at `starts`, one i64 for each axis. Starts are clamped to where
    /// the part fits.
    ///
    /// # Errors
    /// When the part is larger than `x`, or the starts are not one for each axis.
    pub fn dynamic_slice(&mut self, x: ValueId, starts: ValueId, sizes: &[SymDim]) -> Result<ValueId> {
        self.op(CoreOp::DynamicSlice { sizes: sizes.to_vec().into() }, &[x, starts])
    }

    /// `x` with the part that begins at `starts` replaced. Starts are clamped to where the part fits.
    ///
    /// # Errors
    /// When the part is larger than `x`, or the starts are not one for each axis.
    pub fn dynamic_update_slice(&mut self, x: ValueId, update: ValueId, starts: ValueId) -> Result<ValueId> {
        self.op(CoreOp::DynamicUpdateSlice, &[x, update, starts])
    }

    /// `x` where `column - row <= k`, zero elsewhere; `axes` are those of rows and columns.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn tril(&mut self, x: ValueId, [row, column]: [u32; 2], k: i64) -> Result<ValueId> {
        self.op(CoreOp::Tril { row, column, k }, &[x])
    }

    /// `x` where `column - row >= k`, zero elsewhere; `axes` are those of rows and columns.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn triu(&mut self, x: ValueId, [row, column]: [u32; 2], k: i64) -> Result<ValueId> {
        self.op(CoreOp::Triu { row, column, k }, &[x])
    }

    /// The entries whose index on `axis_b` is that on `axis_a` plus `offset`; both axes vanish, the diagonal is the
    /// new last axis. Beyond extents that are known it is empty; those that are not must reach it, so that the extent
    /// of the diagonal stays `n - offset`.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn extract_diag(&mut self, x: ValueId, axis_a: u32, axis_b: u32, offset: i64) -> Result<ValueId> {
        let diagonal = CoreOp::ExtractDiag { axis_a, axis_b };
        let shape = self.known_meta(x)?.shape.to_vec();
        let (Some(rows), Some(columns)) = (shape.get(axis_a as usize), shape.get(axis_b as usize)) else {
            return self.op(diagonal, &[x]);
        };
        // The square in which the diagonal is the main one, within the extents.
        let within = |start: i64, extent: &SymDim| start.max(0).min(extent.as_const().unwrap_or(i64::MAX)).into();
        let down: SymDim = within(offset.saturating_neg(), rows);
        let right: SymDim = within(offset, columns);
        let length = (rows - &down).minimum(&(columns - &right));
        let mut start = vec![SymDim::constant(0); shape.len()];
        let mut limit = shape.clone();
        for (axis, begin) in [(axis_a, down), (axis_b, right)] {
            limit[axis as usize] = &begin + &length;
            start[axis as usize] = begin;
        }
        let mut square = x;
        if limit != shape || offset != 0 {
            let stride = vec![1; shape.len()].into();
            square = self.op(CoreOp::Slice { start: start.into(), limit: limit.into(), stride }, &[x])?;
        }
        self.op(diagonal, &[square])
    }

    /// The last axis becomes a diagonal of two new last axes, zero elsewhere: column is row plus `offset`.
    ///
    /// # Errors
    /// When `x` is a scalar.
    pub fn embed_diag(&mut self, x: ValueId, offset: i64) -> Result<ValueId> {
        let square = self.op(CoreOp::EmbedDiag, &[x])?;
        if offset == 0 {
            return Ok(square);
        }
        let rank = self.meta(square).rank();
        let (down, right) = (SymDim::constant(offset.saturating_neg().max(0)), SymDim::constant(offset.max(0)));
        let mut low = vec![SymDim::constant(0); rank];
        let mut high = low.clone();
        (low[rank - 2], low[rank - 1]) = (down.clone(), right.clone());
        (high[rank - 2], high[rank - 1]) = (right, down);
        let zero = self.zero_scalar(self.meta(x).dtype)?;
        self.op(CoreOp::Pad { low: low.into(), high: high.into(), interior: vec![0; rank].into() }, &[square, zero])
    }

    /// The extents of `x`, i64, one for each axis.
    ///
    /// # Errors
    /// None but for values of another builder.
    pub fn shape_of(&mut self, x: ValueId) -> Result<ValueId> {
        let shape = self.known_meta(x)?.shape.to_vec();
        let mut extents = Vec::with_capacity(shape.len());
        for extent in &shape {
            let value = self.size_value(extent, DType::I64)?;
            extents.push(self.reshape(value, &[SymDim::constant(1)])?);
        }
        match &*extents {
            [] => self.zeros(&ValueMeta::new(DType::I64, vec![SymDim::constant(0)])),
            [extent] => Ok(*extent),
            _ => self.op(CoreOp::Concatenate { axis: 0 }, &extents),
        }
    }
}

//! Sizes that are read off values while a program runs, and what is made of them.

use std::iter::Peekable;

use super::builder::NOT_COPIED;
use super::{Op, ProgramBuilder, Relation, Size, SizeBinding, ValueId, ValueSize};
use crate::dtype::{DType, ScalarValue};
use crate::error::{Error, Result};
use crate::ops::CoreOp;
use crate::shape::{SizeId, SymDim};

impl ProgramBuilder {
    /// The size that an i32 or i64 scalar is, at most `bound`.
    ///
    /// A value is one size: asked for again, it keeps its name, and further bounds become guards. Where the value is
    /// known already, it is that extent. A run fails where the value is negative or above the bound.
    ///
    /// # Errors
    /// When the value is no i32 or i64 scalar, or cannot be within the bound.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, program::ProgramBuilder};
    /// let mut b = ProgramBuilder::new("leading");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n.clone()])?;
    /// let count = b.input("count", DType::I64, &[])?;
    /// let k = b.size_of_value("k", count, &n)?;
    /// let leading = b.dynamic_truncate(x, count, 0)?;
    /// assert_eq!(*b.meta(leading).shape, [k]);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn size_of_value(&mut self, name: impl Into<String>, value: ValueId, bound: &SymDim) -> Result<SymDim> {
        self.check_sizes(bound)?;
        let meta = self.known_meta(value)?;
        if meta.rank() != 0 || !matches!(meta.dtype, DType::I32 | DType::I64) {
            let message = format!("must be an i32 or i64 scalar, not {}", self.size_names().meta(meta));
            return Err(Error::argument("size_of_value", "value", message));
        }
        let name = name.into();
        if let Some(known) = self.known_size(value) {
            if let Some(value) = known.as_const().filter(|value| *value < 0) {
                return Err(Error::argument(
                    "size_of_value",
                    "value",
                    format!("is {value}, but a size is not negative"),
                ));
            }
            self.guard(&0.into(), Relation::Le, &known, &format!("size `{name}`"))?;
            self.guard(&known, Relation::Le, bound, &format!("size `{name}`"))?;
            return Ok(known);
        }
        let most = self.size_names().range(bound).high;
        if let Some(most) = most.as_const().filter(|most| *most < 0) {
            return Err(Error::argument("size_of_value", "bound", format!("is {most}, but a size is not negative")));
        }
        let same = |size: &Size| matches!(size.binding, SizeBinding::Value { value: v, .. } if v == value);
        let id = self.sizes.iter().position(same).unwrap_or_else(|| {
            self.sizes.push(Size { name: name.into(), binding: SizeBinding::Value { value, bound: most } });
            self.sizes.len() - 1
        });
        let size = SymDim::size(SizeId(id as u32));
        // Nothing, but where the bound is another than that of the size.
        let reason = format!("size `{}`", self.sizes[id].name);
        self.guard(&size, Relation::Le, bound, &reason)?;
        Ok(size)
    }

    /// What a scalar is known to be without running the program.
    fn known_size(&self, value: ValueId) -> Option<SymDim> {
        match &self.maker(value)?.op {
            Op::Core(CoreOp::Constant(ScalarValue::I64(value))) => Some((*value).into()),
            Op::Core(CoreOp::Constant(ScalarValue::I32(value))) => Some((*value).into()),
            Op::Core(CoreOp::SizeValue { dim, dtype: DType::I64 }) => Some(dim.clone()),
            _ => None,
        }
    }

    /// A name that no size has yet, made of `base`.
    pub(super) fn fresh_size_name(&self, base: &str) -> String {
        let mut name = base.to_string();
        while self.sizes.iter().any(|size| size.name == name) {
            name.push('_');
        }
        name
    }

    /// Binds the adopted sizes of `program` whose values are copied: `map` holds the copies of its first values.
    pub(super) fn adopt_values<'p>(
        &mut self,
        waiting: &mut Peekable<impl Iterator<Item = ValueSize<'p>>>,
        map: &[ValueId],
    ) {
        while let Some(ValueSize { id, value, .. }) = waiting.next_if(|size| size.value.index() < map.len()) {
            if let Some(SizeBinding::Value { value: here, .. }) =
                self.sizes.get_mut(id.0 as usize).map(|size| &mut size.binding)
                && *here == NOT_COPIED
            {
                *here = map[value.index()];
            }
        }
    }

    /// The first entries of `x` along an axis, as many as the i32 or i64 scalar `size` says: a view.
    ///
    /// The result's extent is the [size of the value](Self::size_of_value), so that all that is truncated by one value
    /// agrees. A run fails where the value is negative or above the extent of `x`. The derivative is that of a slice:
    /// entries beyond have gradient 0, the value has none.
    ///
    /// # Errors
    /// When the axis does not exist, or `size` is no i32 or i64 scalar.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, ops::Comparison, program::ProgramBuilder};
    /// // The entries of a sorted `x` above a threshold.
    /// let mut b = ProgramBuilder::new("above");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n])?;
    /// let threshold = b.constant_like(x, 0.5)?;
    /// let above = b.compare(Comparison::Gt, x, threshold)?;
    /// let ones = b.convert(above, DType::I64)?;
    /// let count = b.sum(ones, &[0])?;
    /// let kept = b.dynamic_truncate(x, count, 0)?;
    /// let whole = b.pad_to_match(kept, x, 0)?;
    /// let program = b.finish(&[(None, kept), (None, whole)])?;
    /// assert!(program.to_string().starts_with("program above<n, k = %5 <= n>(x: f64[n]) -> (f64[k], f64[n])"));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn dynamic_truncate(&mut self, x: ValueId, size: ValueId, axis: u32) -> Result<ValueId> {
        let mut limit = self.shape_with("dynamic_truncate", x, axis)?;
        let name = self.fresh_size_name("k");
        limit[axis as usize] = self.size_of_value(name, size, &limit[axis as usize])?;
        if *limit == *self.meta(x).shape {
            return Ok(x);
        }
        let rank = limit.len();
        let start = vec![SymDim::constant(0); rank].into();
        self.op(CoreOp::Slice { start, limit: limit.into(), stride: vec![1; rank].into() }, &[x])
    }

    /// `x` with zeros after its entries along an axis, up to the extent that `like` has there: what undoes a
    /// [truncation](Self::dynamic_truncate).
    ///
    /// # Errors
    /// When `x` or `like` lacks the axis, or `x` is longer than `like` for all sizes; where sizes decide, a guard.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, program::ProgramBuilder};
    /// let mut b = ProgramBuilder::new("padded");
    /// let (n, m) = (b.size("n"), b.size("m"));
    /// let x = b.input("x", DType::F64, &[n.clone()])?;
    /// let y = b.input("y", DType::F64, &[m.clone()])?;
    /// let padded = b.pad_to_match(x, y, 0)?;
    /// assert_eq!(*b.meta(padded).shape, [m]);
    /// let program = b.finish(&[(None, padded)])?;
    /// assert!(program.bind(&[&[2], &[5]]).is_ok());
    /// assert!(program.bind(&[&[5], &[2]]).is_err());
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn pad_to_match(&mut self, x: ValueId, like: ValueId, axis: u32) -> Result<ValueId> {
        let own = &self.shape_with("pad_to_match", x, axis)?[axis as usize];
        let wanted = &self.shape_with("pad_to_match", like, axis)?[axis as usize];
        let high = wanted - own;
        if high.as_const() == Some(0) {
            return Ok(x);
        }
        self.guard(own, Relation::Le, wanted, "pad_to_match")?;
        let rank = self.meta(x).rank();
        let low = vec![SymDim::constant(0); rank];
        let mut ends = low.clone();
        ends[axis as usize] = high;
        let zero = self.zero_scalar(self.meta(x).dtype)?;
        self.op(CoreOp::Pad { low: low.into(), high: ends.into(), interior: vec![0; rank].into() }, &[x, zero])
    }

    /// The shape of a value, which has the axis.
    fn shape_with(&self, op: &'static str, x: ValueId, axis: u32) -> Result<Vec<SymDim>> {
        let shape = self.known_meta(x)?.shape.to_vec();
        if axis as usize >= shape.len() {
            return Err(Error::axis(op, "axis", axis as usize, shape.len()));
        }
        Ok(shape)
    }
}

//! The operations as methods of the builder. Calls that would change nothing return their operand.

use super::builder::check_operands;
use super::{ProgramBuilder, ValueId, ValueMeta};
use crate::dtype::{DType, DTypeSet, ScalarValue};
use crate::error::Result;
use crate::ops::{Comparison, CoreOp};
use crate::shape::SymDim;

macro_rules! unary {
    ($($method:ident $op:ident),* $(,)?) => {$(
        #[doc = concat!("[`CoreOp::", stringify!($op), "`] of one operand.\n\n# Errors\nWhen the dtype is not accepted.")]
        pub fn $method(&mut self, x: ValueId) -> Result<ValueId> {
            self.op(CoreOp::$op, &[x])
        }
    )*};
}

macro_rules! binary {
    ($($method:ident $op:ident),* $(,)?) => {$(
        #[doc = concat!("[`CoreOp::", stringify!($op), "`] of two operands of equal shape.\n\n",
            "# Errors\nWhen dtypes or shapes differ.")]
        pub fn $method(&mut self, a: ValueId, b: ValueId) -> Result<ValueId> {
            self.op(CoreOp::$op, &[a, b])
        }
    )*};
}

impl ProgramBuilder {
    unary!(
        neg Neg, abs Abs, sign Sign, exp Exp, expm1 Expm1, log Log, log1p Log1p, sin Sin, cos Cos, tan Tan,
        asin Asin, acos Acos, atan Atan, sinh Sinh, cosh Cosh, tanh Tanh, sqrt Sqrt, rsqrt Rsqrt, cbrt Cbrt, erf Erf,
        erfc Erfc, floor Floor, ceil Ceil, round Round, not Not, is_finite IsFinite, stop_gradient StopGradient,
    );
    binary!(
        add Add, sub Sub, rem Rem, pow Pow, atan2 Atan2, complex Complex, maximum Maximum, minimum Minimum, and And, or Or,
    );

    /// [`CoreOp::Mul`] of two operands of equal shape.
    ///
    /// # Errors
    /// When dtypes or shapes differ.
    pub fn mul(&mut self, a: ValueId, b: ValueId) -> Result<ValueId> {
        let alike = self.known_meta(a)? == self.known_meta(b)?;
        match (self.is_real_one(a), self.is_real_one(b)) {
            (_, true) if alike => self.unchanged(a, &CoreOp::Mul, &[a, b]),
            (true, _) if alike => self.unchanged(b, &CoreOp::Mul, &[a, b]),
            _ => self.op(CoreOp::Mul, &[a, b]),
        }
    }

    /// [`CoreOp::Div`] of two operands of equal shape.
    ///
    /// # Errors
    /// When dtypes or shapes differ.
    pub fn div(&mut self, a: ValueId, b: ValueId) -> Result<ValueId> {
        let alike = self.known_meta(a)? == self.known_meta(b)?;
        if alike && self.is_real_one(b) {
            return self.unchanged(a, &CoreOp::Div, &[a, b]);
        }
        self.op(CoreOp::Div, &[a, b])
    }

    /// The conjugate; a value that is not complex stays.
    ///
    /// # Errors
    /// When the dtype is not numeric.
    pub fn conj(&mut self, x: ValueId) -> Result<ValueId> {
        let dtype = self.known_meta(x)?.dtype;
        if DTypeSet::NUMERIC.contains(dtype) && !dtype.is_complex() { Ok(x) } else { self.op(CoreOp::Conj, &[x]) }
    }

    /// The real part; a value that is not complex stays.
    ///
    /// # Errors
    /// When the dtype is not numeric.
    pub fn real(&mut self, x: ValueId) -> Result<ValueId> {
        let dtype = self.known_meta(x)?.dtype;
        if DTypeSet::NUMERIC.contains(dtype) && !dtype.is_complex() { Ok(x) } else { self.op(CoreOp::Real, &[x]) }
    }

    /// The imaginary part.
    ///
    /// # Errors
    /// When the dtype is not numeric.
    pub fn imag(&mut self, x: ValueId) -> Result<ValueId> {
        self.op(CoreOp::Imag, &[x])
    }

    /// To another dtype.
    ///
    /// # Errors
    /// None but for values of another builder.
    pub fn convert(&mut self, x: ValueId, dtype: DType) -> Result<ValueId> {
        if self.known_meta(x)?.dtype == dtype { Ok(x) } else { self.op(CoreOp::Convert(dtype), &[x]) }
    }

    /// `a ? b` for a comparison.
    ///
    /// # Errors
    /// When dtypes or shapes differ, or complex numbers are to be ordered.
    pub fn compare(&mut self, comparison: Comparison, a: ValueId, b: ValueId) -> Result<ValueId> {
        self.op(CoreOp::Compare(comparison), &[a, b])
    }

    /// `a` where the condition holds, `b` elsewhere.
    ///
    /// # Errors
    /// When dtypes or shapes differ.
    pub fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> Result<ValueId> {
        self.op(CoreOp::Select, &[condition, a, b])
    }

    /// The sum over axes; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn sum(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::Sum { axes })
    }

    /// The product over axes; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn prod(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::Prod { axes })
    }

    /// The largest over axes; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn max(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::Max { axes })
    }

    /// The smallest over axes; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist.
    pub fn min(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::Min { axes })
    }

    /// Whether any entry over axes is true; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist or the dtype is not bool.
    pub fn any(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::Any { axes })
    }

    /// Whether all entries over axes are true; over none, the operand.
    ///
    /// # Errors
    /// When an axis does not exist or the dtype is not bool.
    pub fn all(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        self.over(x, axes, |axes| CoreOp::All { axes })
    }

    /// The sums of all entries up to each along an axis.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn cumsum(&mut self, x: ValueId, axis: u32) -> Result<ValueId> {
        self.op(CoreOp::CumSum { axis }, &[x])
    }

    /// The products of all entries up to each along an axis.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn cumprod(&mut self, x: ValueId, axis: u32) -> Result<ValueId> {
        self.op(CoreOp::CumProd { axis }, &[x])
    }

    /// `z[0] = b[0]`, then `z[i] = a[i] z[i-1] + b[i]` along an axis.
    ///
    /// # Errors
    /// When the axis does not exist, or dtypes or shapes differ.
    pub fn linear_recurrence(&mut self, a: ValueId, b: ValueId, axis: u32) -> Result<ValueId> {
        self.op(CoreOp::LinearRecurrence { axis }, &[a, b])
    }

    fn over(&mut self, x: ValueId, axes: &[u32], op: fn(crate::ops::Axes) -> CoreOp) -> Result<ValueId> {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        let none = axes.is_empty();
        let op = op(axes.into());
        if none { self.unchanged(x, &op, &[x]) } else { self.op(op, &[x]) }
    }

    /// `x`, which an operation on these operands would not change, provided that it accepts them.
    fn unchanged(&self, x: ValueId, op: &CoreOp, operands: &[ValueId]) -> Result<ValueId> {
        let metas = operands.iter().map(|&v| self.known_meta(v)).collect::<Result<Vec<_>>>()?;
        check_operands(op, &metas)?;
        Ok(x)
    }

    /// Axis i of the result is axis `axes[i]` of `x`.
    ///
    /// # Errors
    /// When `axes` is no permutation of the axes.
    pub fn transpose(&mut self, x: ValueId, axes: &[u32]) -> Result<ValueId> {
        let rank = self.known_meta(x)?.rank() as u32;
        if axes.iter().copied().eq(0..rank) {
            return Ok(x);
        }
        self.op(CoreOp::Transpose { axes: axes.to_vec().into() }, &[x])
    }

    /// The same entries in column-major order under another shape.
    ///
    /// # Errors
    /// When the number of entries differs.
    pub fn reshape(&mut self, x: ValueId, shape: &[SymDim]) -> Result<ValueId> {
        if *self.known_meta(x)?.shape == *shape {
            return Ok(x);
        }
        self.op(CoreOp::Reshape { shape: shape.to_vec().into() }, &[x])
    }

    /// Axis i of `x` becomes axis `axes[i]` of the result.
    ///
    /// # Errors
    /// When an axis does not exist or an extent is neither 1 nor the result's.
    pub fn broadcast_in_dim(&mut self, x: ValueId, shape: &[SymDim], axes: &[u32]) -> Result<ValueId> {
        if *self.known_meta(x)?.shape == *shape && axes.iter().copied().eq(0..shape.len() as u32) {
            return Ok(x);
        }
        self.op(CoreOp::BroadcastInDim { shape: shape.to_vec().into(), axes: axes.to_vec().into() }, &[x])
    }

    /// A scalar constant.
    ///
    /// # Errors
    /// None.
    pub fn constant(&mut self, value: ScalarValue) -> Result<ValueId> {
        self.op(CoreOp::Constant(value), &[])
    }

    /// A size as a scalar.
    ///
    /// # Errors
    /// When the dtype is bool.
    pub fn size_value(&mut self, dim: &SymDim, dtype: DType) -> Result<ValueId> {
        match dim.as_const() {
            // exact where the dtype is
            Some(value) if dtype == DType::I64 => self.constant(ScalarValue::I64(value)),
            Some(value) if dtype != DType::Bool => self.constant(ScalarValue::from_f64(value as f64, dtype)),
            _ => self.op(CoreOp::SizeValue { dim: dim.clone(), dtype }, &[]),
        }
    }

    /// A constant of the dtype and shape of another value.
    ///
    /// # Errors
    /// None but for values of another builder.
    pub fn constant_like(&mut self, like: ValueId, value: f64) -> Result<ValueId> {
        let meta = self.known_meta(like)?.clone();
        self.filled(&meta, value)
    }

    /// Zeros of a dtype and shape.
    ///
    /// # Errors
    /// None.
    pub fn zeros(&mut self, meta: &ValueMeta) -> Result<ValueId> {
        self.filled(meta, 0.0)
    }

    /// One value of a dtype, repeated over a shape.
    ///
    /// # Errors
    /// None.
    pub fn filled(&mut self, meta: &ValueMeta, value: f64) -> Result<ValueId> {
        let scalar = self.constant(ScalarValue::from_f64(value, meta.dtype))?;
        self.broadcast_in_dim(scalar, &meta.shape, &[])
    }

    pub(crate) fn zero_scalar(&mut self, dtype: DType) -> Result<ValueId> {
        self.constant(ScalarValue::zero(dtype))
    }

    /// `i` of the complex dtype and the shape of another value.
    pub(crate) fn imaginary_unit_like(&mut self, like: ValueId) -> Result<ValueId> {
        let meta = self.meta(like).clone();
        let unit = match meta.dtype {
            DType::C32 => ScalarValue::C32(num_complex::Complex::new(0.0, 1.0)),
            _ => ScalarValue::C64(num_complex::Complex::new(0.0, 1.0)),
        };
        let scalar = self.constant(unit)?;
        self.broadcast_in_dim(scalar, &meta.shape, &[])
    }

    /// Whether a value is the constant 1, or repeats it.
    pub fn is_one(&self, value: ValueId) -> bool {
        self.splat(value).is_some_and(|value| value == ScalarValue::one(value.dtype()))
    }

    /// Whether every entry is the constant 1 of a dtype in which a product with it is exact: those of complex numbers
    /// multiply their parts by 0 too.
    pub(super) fn is_real_one(&self, value: ValueId) -> bool {
        self.is_one(value) && !self.meta(value).dtype.is_complex()
    }
}

//! The attributes of core operations in the text form: one table, which the printer and the parser share.
//!
//! A row is the name of an operation, its variant and, for each attribute, how it is written. Attributes stand between
//! the name and the operands, in the order of the row, as `key=value`, or bare where there is but one; a shape or dtype
//! that is the result's own is not repeated.

use std::fmt::Write;

use super::SizeNames;
use crate::dtype::{DType, ScalarValue};
use crate::ops::{Axes, Comparison, CoreOp, Dims};
use crate::shape::SymDim;

/// All relations of a comparison.
pub(super) const COMPARISONS: [Comparison; 6] =
    [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];

/// Where the attributes of an operation come from.
pub(super) trait ReadAttributes {
    type Error;
    /// A scalar of the result's dtype.
    fn scalar(&mut self, key: &str) -> Result<ScalarValue, Self::Error>;
    /// An extent.
    fn dim(&mut self, key: &str) -> Result<SymDim, Self::Error>;
    /// Extents, one an axis.
    fn dims(&mut self, key: &str) -> Result<Dims, Self::Error>;
    /// Numbers.
    fn list(&mut self, key: &str) -> Result<Axes, Self::Error>;
    /// A number.
    fn number(&mut self, key: &str) -> Result<u32, Self::Error>;
    /// A number with a sign.
    fn integer(&mut self, key: &str) -> Result<i64, Self::Error>;
    /// A relation.
    fn comparison(&mut self, key: &str) -> Result<Comparison, Self::Error>;
    /// The shape of the result.
    fn result_shape(&mut self, key: &str) -> Result<Dims, Self::Error>;
    /// The dtype of the result.
    fn result_dtype(&mut self, key: &str) -> Result<DType, Self::Error>;
}

macro_rules! table {
    ($($name:literal $variant:ident $(($only:ident))? $({ $($field:ident: $kind:ident),* })?;)*) => {
        /// The names of all core operations.
        pub(super) const NAMES: &[&str] = &[$($name),*];

        /// The attributes as text, each after a blank.
        pub(super) fn write(op: &CoreOp, names: SizeNames<'_>) -> String {
            let mut writer = Writer { text: String::new(), names };
            match op {
                $(CoreOp::$variant { $(0: binding!($only value))? $($($field),*)? } => {
                    $(writer.$only("", value);)?
                    $($(writer.$kind(stringify!($field), $field);)*)?
                })*
            }
            writer.text
        }

        /// The operation of a name with attributes from `reader`; `None` if there is no such operation.
        pub(super) fn read<R: ReadAttributes>(name: &str, reader: &mut R) -> Result<Option<CoreOp>, R::Error> {
            Ok(Some(match name {
                $($name => CoreOp::$variant {
                    $(0: reader.$only("")?)? $($($field: reader.$kind(stringify!($field))?),*)?
                },)*
                _ => return Ok(None),
            }))
        }
    };
}

macro_rules! binding {
    ($kind:ident $name:ident) => {
        $name
    };
}

table! {
    "constant" Constant(scalar);
    "size" SizeValue { dim: dim, dtype: result_dtype };
    "iota" Iota { axis: number, shape: result_shape, dtype: result_dtype };
    "neg" Neg;
    "abs" Abs;
    "sign" Sign;
    "exp" Exp;
    "expm1" Expm1;
    "log" Log;
    "log1p" Log1p;
    "sin" Sin;
    "cos" Cos;
    "tan" Tan;
    "asin" Asin;
    "acos" Acos;
    "atan" Atan;
    "sinh" Sinh;
    "cosh" Cosh;
    "tanh" Tanh;
    "sqrt" Sqrt;
    "rsqrt" Rsqrt;
    "cbrt" Cbrt;
    "erf" Erf;
    "erfc" Erfc;
    "floor" Floor;
    "ceil" Ceil;
    "round" Round;
    "conj" Conj;
    "real" Real;
    "imag" Imag;
    "not" Not;
    "is_finite" IsFinite;
    "convert" Convert(result_dtype);
    "add" Add;
    "sub" Sub;
    "mul" Mul;
    "div" Div;
    "rem" Rem;
    "pow" Pow;
    "atan2" Atan2;
    "complex" Complex;
    "maximum" Maximum;
    "minimum" Minimum;
    "and" And;
    "or" Or;
    "compare" Compare(comparison);
    "select" Select;
    "stop_gradient" StopGradient;
    "transpose" Transpose { axes: list };
    "reshape" Reshape { shape: result_shape };
    "broadcast_in_dim" BroadcastInDim { axes: list, shape: result_shape };
    "slice" Slice { start: dims, limit: dims, stride: list };
    "reverse" Reverse { axes: list };
    "extract_diag" ExtractDiag { axis_a: number, axis_b: number };
    "embed_diag" EmbedDiag;
    "pad" Pad { low: dims, high: dims, interior: list };
    "concatenate" Concatenate { axis: number };
    "tril" Tril { row: number, column: number, k: integer };
    "triu" Triu { row: number, column: number, k: integer };
    "gather" Gather { axis: number };
    "scatter" Scatter { axis: number };
    "scatter_add" ScatterAdd { axis: number };
    "dynamic_slice" DynamicSlice { sizes: dims };
    "dynamic_update_slice" DynamicUpdateSlice;
    "sum" Sum { axes: list };
    "prod" Prod { axes: list };
    "max" Max { axes: list };
    "min" Min { axes: list };
    "any" Any { axes: list };
    "all" All { axes: list };
    "argmax" ArgMax { axis: number };
    "argmin" ArgMin { axis: number };
    "cumsum" CumSum { axis: number };
    "cumprod" CumProd { axis: number };
    "linear_recurrence" LinearRecurrence { axis: number };
}

struct Writer<'a> {
    text: String,
    names: SizeNames<'a>,
}

impl Writer<'_> {
    fn push(&mut self, key: &str, value: impl std::fmt::Display) {
        let equals = if key.is_empty() { "" } else { "=" };
        // Writing to a string does not fail.
        let _ = write!(self.text, " {key}{equals}{value}");
    }

    fn scalar(&mut self, key: &str, value: &ScalarValue) {
        self.push(key, scalar_text(*value));
    }

    fn dim(&mut self, _: &str, dim: &SymDim) {
        let text = self.names.dim(dim);
        self.push("", text);
    }

    fn dims(&mut self, key: &str, dims: &Dims) {
        let text = self.names.shape(dims);
        self.push(key, text);
    }

    fn list(&mut self, key: &str, list: &Axes) {
        self.push(key, format_args!("{list:?}"));
    }

    fn number(&mut self, key: &str, number: &u32) {
        self.push(key, number);
    }

    fn integer(&mut self, key: &str, number: &i64) {
        self.push(key, number);
    }

    fn comparison(&mut self, key: &str, comparison: &Comparison) {
        self.push(key, comparison.name());
    }

    fn result_shape(&mut self, _: &str, _: &Dims) {}

    fn result_dtype(&mut self, _: &str, _: &DType) {}
}

/// As [`ScalarValue`] prints, except that a NaN whose bits are not those of the constant `NAN` shows them.
fn scalar_text(value: ScalarValue) -> String {
    let single = |x: f32| match x.is_nan() && x.to_bits() != f32::NAN.to_bits() {
        true => format!("NaN({:#x})", x.to_bits()),
        false => format!("{x:?}"),
    };
    let double = |x: f64| match x.is_nan() && x.to_bits() != f64::NAN.to_bits() {
        true => format!("NaN({:#x})", x.to_bits()),
        false => format!("{x:?}"),
    };
    let complex = |re: String, im: String| {
        let part = |text: String| text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
        let sign = if im.starts_with('-') { "" } else { "+" };
        format!("{}{sign}{}i", part(re), part(im))
    };
    match value {
        ScalarValue::F32(x) => single(x),
        ScalarValue::F64(x) => double(x),
        ScalarValue::C32(z) => complex(single(z.re), single(z.im)),
        ScalarValue::C64(z) => complex(double(z.re), double(z.im)),
        other => other.to_string(),
    }
}

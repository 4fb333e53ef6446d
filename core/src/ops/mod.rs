//! The closed table of core operations.
//!
//! An operation is one variant of [`CoreOp`] and one [`Row`]: name, arity, dtypes, shape rule and derivative.
//! Kernels are the engines' business. Rows stand in one file a class; [`CoreOp::row`] finds them.

mod creation;
mod elementwise;
mod indexing;
mod layout;
mod movement;
mod reduction;
mod row;
mod tangents;

use std::borrow::Cow;

use crate::dtype::{DType, ScalarValue};
use crate::shape::SymDim;

pub use row::{Derivative, Linearize, LinearizeFn, OpClass, OutputDType, Row, ShapeFn, Transpose, TransposeFn};

/// Dimensions stored in an operation.
pub type Dims = Cow<'static, [SymDim]>;
/// Axes stored in an operation.
pub type Axes = Cow<'static, [u32]>;

/// The relation tested by [`CoreOp::Compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

impl Comparison {
    /// `eq ne lt le gt ge`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
        }
    }
}

/// A core operation with its attributes. Every core operation yields one value.
///
/// Elementwise operations take operands of equal shape; broadcasting is an operation of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are documented by their rows
pub enum CoreOp {
    // creation
    Constant(ScalarValue),
    SizeValue { dim: SymDim, dtype: DType },
    Iota { shape: Dims, axis: u32, dtype: DType },
    // elementwise, one operand
    Neg,
    Abs,
    Sign,
    Exp,
    Expm1,
    Log,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Sqrt,
    Rsqrt,
    Cbrt,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Round,
    Conj,
    Real,
    Imag,
    Not,
    IsFinite,
    Convert(DType),
    // elementwise, two operands
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Atan2,
    Complex,
    Maximum,
    Minimum,
    And,
    Or,
    Compare(Comparison),
    // elementwise, three operands
    Select,
    // layout: the result is a view of the operand
    StopGradient,
    Transpose { axes: Axes },
    Reshape { shape: Dims },
    BroadcastInDim { shape: Dims, axes: Axes },
    Slice { start: Dims, limit: Dims, stride: Axes },
    Reverse { axes: Axes },
    ExtractDiag { axis_a: u32, axis_b: u32 },
    // movement
    EmbedDiag,
    Pad { low: Dims, high: Dims, interior: Axes },
    Concatenate { axis: u32 },
    Tril { row: u32, column: u32, k: i64 },
    Triu { row: u32, column: u32, k: i64 },
    // movement, steered by indices
    Gather { axis: u32 },
    Scatter { axis: u32 },
    ScatterAdd { axis: u32 },
    DynamicSlice { sizes: Dims },
    DynamicUpdateSlice,
    // reduction
    Sum { axes: Axes },
    Prod { axes: Axes },
    Max { axes: Axes },
    Min { axes: Axes },
    Any { axes: Axes },
    All { axes: Axes },
    ArgMax { axis: u32 },
    ArgMin { axis: u32 },
    CumSum { axis: u32 },
    CumProd { axis: u32 },
    LinearRecurrence { axis: u32 },
}

impl CoreOp {
    /// The operation's row: everything known of it but its kernels.
    pub fn row(&self) -> &'static Row {
        use {creation as c, elementwise as e, indexing as i, layout as l, movement as m, reduction as r};
        match self {
            Self::Constant(_) => &c::CONSTANT,
            Self::SizeValue { .. } => &c::SIZE_VALUE,
            Self::Iota { .. } => &c::IOTA,
            Self::Neg => &e::NEG,
            Self::Abs => &e::ABS,
            Self::Sign => &e::SIGN,
            Self::Exp => &e::EXP,
            Self::Expm1 => &e::EXPM1,
            Self::Log => &e::LOG,
            Self::Log1p => &e::LOG1P,
            Self::Sin => &e::SIN,
            Self::Cos => &e::COS,
            Self::Tan => &e::TAN,
            Self::Asin => &e::ASIN,
            Self::Acos => &e::ACOS,
            Self::Atan => &e::ATAN,
            Self::Sinh => &e::SINH,
            Self::Cosh => &e::COSH,
            Self::Tanh => &e::TANH,
            Self::Sqrt => &e::SQRT,
            Self::Rsqrt => &e::RSQRT,
            Self::Cbrt => &e::CBRT,
            Self::Erf => &e::ERF,
            Self::Erfc => &e::ERFC,
            Self::Floor => &e::FLOOR,
            Self::Ceil => &e::CEIL,
            Self::Round => &e::ROUND,
            Self::Conj => &e::CONJ,
            Self::Real => &e::REAL,
            Self::Imag => &e::IMAG,
            Self::Not => &e::NOT,
            Self::IsFinite => &e::IS_FINITE,
            Self::Convert(_) => &e::CONVERT,
            Self::Add => &e::ADD,
            Self::Sub => &e::SUB,
            Self::Mul => &e::MUL,
            Self::Div => &e::DIV,
            Self::Rem => &e::REM,
            Self::Pow => &e::POW,
            Self::Atan2 => &e::ATAN2,
            Self::Complex => &e::COMPLEX,
            Self::Maximum => &e::MAXIMUM,
            Self::Minimum => &e::MINIMUM,
            Self::And => &e::AND,
            Self::Or => &e::OR,
            Self::Compare(Comparison::Eq | Comparison::Ne) => &e::COMPARE_EQUALITY,
            Self::Compare(_) => &e::COMPARE_ORDER,
            Self::Select => &e::SELECT,
            Self::StopGradient => &l::STOP_GRADIENT,
            Self::Transpose { .. } => &l::TRANSPOSE,
            Self::Reshape { .. } => &l::RESHAPE,
            Self::BroadcastInDim { .. } => &l::BROADCAST_IN_DIM,
            Self::Slice { .. } => &l::SLICE,
            Self::Reverse { .. } => &l::REVERSE,
            Self::ExtractDiag { .. } => &l::EXTRACT_DIAG,
            Self::EmbedDiag => &m::EMBED_DIAG,
            Self::Pad { .. } => &m::PAD,
            Self::Concatenate { .. } => &m::CONCATENATE,
            Self::Tril { .. } => &m::TRIL,
            Self::Triu { .. } => &m::TRIU,
            Self::Gather { .. } => &i::GATHER,
            Self::Scatter { .. } => &i::SCATTER,
            Self::ScatterAdd { .. } => &i::SCATTER_ADD,
            Self::DynamicSlice { .. } => &i::DYNAMIC_SLICE,
            Self::DynamicUpdateSlice => &i::DYNAMIC_UPDATE_SLICE,
            Self::Sum { .. } => &r::SUM,
            Self::Prod { .. } => &r::PROD,
            Self::Max { .. } => &r::MAX,
            Self::Min { .. } => &r::MIN,
            Self::Any { .. } => &r::ANY,
            Self::All { .. } => &r::ALL,
            Self::ArgMax { .. } => &r::ARG_MAX,
            Self::ArgMin { .. } => &r::ARG_MIN,
            Self::CumSum { .. } => &r::CUM_SUM,
            Self::CumProd { .. } => &r::CUM_PROD,
            Self::LinearRecurrence { .. } => &r::LINEAR_RECURRENCE,
        }
    }

    /// The operation's name, as the text form prints it.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// The operation's class.
    pub fn class(&self) -> OpClass {
        self.row().class
    }

    /// The expressions of sizes among its attributes.
    pub fn dims(&self) -> Vec<&SymDim> {
        match self {
            Self::SizeValue { dim, .. } => vec![dim],
            Self::Iota { shape, .. }
            | Self::Reshape { shape }
            | Self::BroadcastInDim { shape, .. }
            | Self::DynamicSlice { sizes: shape } => shape.iter().collect(),
            Self::Slice { start: a, limit: b, .. } | Self::Pad { low: a, high: b, .. } => {
                a.iter().chain(b.iter()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The operation with every size in its attributes replaced, as [`SymDim::substitute`] does.
    pub fn substitute(&self, replacements: &[SymDim]) -> CoreOp {
        let dims = |d: &Dims| -> Dims { d.iter().map(|d| d.substitute(replacements)).collect() };
        match self {
            Self::SizeValue { dim, dtype } => Self::SizeValue { dim: dim.substitute(replacements), dtype: *dtype },
            Self::Iota { shape, axis, dtype } => Self::Iota { shape: dims(shape), axis: *axis, dtype: *dtype },
            Self::Reshape { shape } => Self::Reshape { shape: dims(shape) },
            Self::BroadcastInDim { shape, axes } => Self::BroadcastInDim { shape: dims(shape), axes: axes.clone() },
            Self::Slice { start, limit, stride } => {
                Self::Slice { start: dims(start), limit: dims(limit), stride: stride.clone() }
            }
            Self::Pad { low, high, interior } => {
                Self::Pad { low: dims(low), high: dims(high), interior: interior.clone() }
            }
            Self::DynamicSlice { sizes } => Self::DynamicSlice { sizes: dims(sizes) },
            other => other.clone(),
        }
    }
}

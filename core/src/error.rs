//! The crate's error: which operation refused which argument, and why.

use std::borrow::Cow;

use crate::dtype::DType;

/// A result whose error is [`enum@Error`] unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on tensors or programs was refused.
///
/// Every variant names the operation and, where there is one, the argument at fault.
///
/// ```
/// use tenferro_core::TypedTensor;
/// let error = TypedTensor::from_vec_col_major([2, 3], vec![1.0; 5]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "from_vec_col_major: `values` has 5 elements, shape [2, 3] needs 6"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has the wrong dtype.
    #[error("{op}: `{argument}` is {actual}, expected {expected}")]
    DType {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// The dtype, or the set of them, that is accepted.
        expected: Cow<'static, str>,
        /// The dtype found.
        actual: DType,
    },
    /// An argument has the wrong rank, or a list of axes the wrong length.
    #[error("{op}: `{argument}` has rank {actual}, expected {expected}")]
    Rank {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// The rank that is accepted.
        expected: usize,
        /// The rank found.
        actual: usize,
    },
    /// Two shapes do not go together.
    #[error("{op}: `{argument}` has shape {actual}, expected {expected}")]
    Shape {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// The shape that is accepted, printed.
        expected: String,
        /// The shape found, printed.
        actual: String,
    },
    /// An axis that does not exist.
    #[error("{op}: `{argument}` names axis {axis}, which rank {rank} does not have")]
    Axis {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// The axis named.
        axis: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An argument is wrong in a way of its own.
    #[error("{op}: `{argument}` {message}")]
    Argument {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// What is wrong with it, as a predicate.
        message: String,
    },
    /// An index lies outside its tensor.
    #[error("{op}: index {index:?} is outside shape {shape:?}")]
    Index {
        /// The operation.
        op: Cow<'static, str>,
        /// The index.
        index: Vec<usize>,
        /// The shape of the tensor.
        shape: Vec<usize>,
    },
    /// The number of elements given does not fit the shape.
    #[error("{op}: `{argument}` has {actual} elements, shape {shape:?} needs {expected}")]
    Length {
        /// The operation.
        op: Cow<'static, str>,
        /// The argument at fault.
        argument: Cow<'static, str>,
        /// The shape to be filled.
        shape: Vec<usize>,
        /// The number of elements that is accepted.
        expected: usize,
        /// The number of elements found.
        actual: usize,
    },
    /// A shape holds more than memory can address.
    #[error("{op}: shape {shape:?} is larger than memory can address")]
    Overflow {
        /// The operation.
        op: Cow<'static, str>,
        /// The shape at fault.
        shape: Vec<usize>,
    },
    /// The elements do not lie one after the other in column-major order.
    #[error("{op}: shape {shape:?} with strides {strides:?} is not contiguous; {advice}")]
    NotContiguous {
        /// The operation.
        op: Cow<'static, str>,
        /// The shape of the tensor.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
        /// How to copy what holds the elements.
        advice: &'static str,
    },
    /// The allocator has no memory left.
    #[error("allocate: no memory for {bytes} bytes")]
    OutOfMemory {
        /// The size of the allocation refused.
        bytes: usize,
    },
    /// The inputs of a program do not fit its declared shapes, or break one of its guards.
    #[error("{program}: {message}")]
    Binding {
        /// The program.
        program: String,
        /// Which size or axis disagrees, with both places.
        message: String,
    },
    /// A derivative needs a rule that no rule set of the context has.
    #[error(
        "extension family `{family}` has no `{role}` rule; add its rules to the AD context, as `with_rules(&einsum::ad_rules()?)` does for einsums"
    )]
    MissingRule {
        /// The family.
        family: String,
        /// The role that was asked for.
        role: &'static str,
    },
    /// An extension does not say what a program must know of it.
    #[error("extension family `{family}` declares no {what}; a pure operation with fresh results says so")]
    Undeclared {
        /// The family.
        family: String,
        /// What is not declared.
        what: &'static str,
    },
    /// A family id is not of the form `<namespace>.<name>.v<version>`.
    #[error("family id `{id}`: {message}; write `<namespace>.<name>.v<version>`")]
    FamilyId {
        /// The id.
        id: String,
        /// The part that is wrong.
        message: String,
    },
    /// A program breaks an invariant; a fault of whoever built it.
    #[error("program `{program}` is malformed: {message}")]
    Malformed {
        /// The program.
        program: String,
        /// The invariant.
        message: String,
    },
}

impl Error {
    /// The same error as one of the operation that was called, which is done by the one that found it.
    pub(crate) fn of(mut self, called: &'static str) -> Self {
        match &mut self {
            Self::DType { op, .. }
            | Self::Rank { op, .. }
            | Self::Shape { op, .. }
            | Self::Axis { op, .. }
            | Self::Argument { op, .. }
            | Self::Index { op, .. }
            | Self::Length { op, .. }
            | Self::Overflow { op, .. }
            | Self::NotContiguous { op, .. } => *op = called.into(),
            _ => {}
        }
        self
    }

    /// An [`Error::Argument`].
    pub fn argument(
        op: impl Into<Cow<'static, str>>,
        argument: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::Argument { op: op.into(), argument: argument.into(), message: message.into() }
    }

    /// An [`Error::Axis`].
    pub fn axis(
        op: impl Into<Cow<'static, str>>,
        argument: impl Into<Cow<'static, str>>,
        axis: usize,
        rank: usize,
    ) -> Self {
        Self::Axis { op: op.into(), argument: argument.into(), axis, rank }
    }

    /// An [`Error::Shape`].
    pub fn shape(
        op: impl Into<Cow<'static, str>>,
        argument: impl Into<Cow<'static, str>>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self::Shape { op: op.into(), argument: argument.into(), expected: expected.into(), actual: actual.into() }
    }
}

/// Refuses axes that do not exist or are named twice.
pub(crate) fn check_axes(op: &'static str, argument: &'static str, axes: &[usize], rank: usize) -> Result<()> {
    for (i, &axis) in axes.iter().enumerate() {
        if axis >= rank {
            return Err(Error::Axis { op: op.into(), argument: argument.into(), axis, rank });
        }
        if axes[..i].contains(&axis) {
            return Err(Error::argument(op, argument, format!("{axes:?} names axis {axis} twice")));
        }
    }
    Ok(())
}

//! What most programs need: `use tenferro::prelude::*;`.

pub use crate::dtype::{DType, Float, Num, Real, Scalar};
pub use crate::kernel::{Kernel, Operand};
pub use crate::tensor::{Tensor, TensorView, TypedTensor, TypedView};
pub use crate::{Session, einsum, einsum_into, tenferro};

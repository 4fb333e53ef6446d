//! What a tenferro program is: dtypes, tensors, symbolic sizes, operations, programs and their derivatives.

pub mod ad;
pub mod composite;
pub mod dtype;
pub mod error;
pub mod extension;
pub mod ops;
pub mod program;
pub mod shape;
pub mod tensor;

pub use dtype::{DType, DTypeSet, Elements, Float, Num, Real, Scalar, ScalarValue};
pub use error::{Error, Result};
pub use num_complex::{Complex, Complex32, Complex64};
pub use tensor::{
    Layout, Mismatch, Offsets, Shape, Strides, Tensor, TensorRead, TensorView, TypedTensor, TypedView, all_close,
    compare,
};

//! The integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used)]

mod all {
    #[cfg(feature = "faer")]
    mod faer;
    mod kernels;
    mod nalgebra;
    mod ndarray;
    mod npy;
    mod plans;
    mod serde;
    mod support;
    mod tracing;
}

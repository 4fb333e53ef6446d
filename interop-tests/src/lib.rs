//! The tests of the features `ndarray`, `nalgebra`, `faer`, `serde` and `npy`, of the page on them, and of the feature
//! `tracing`.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../../docs/interop.md")]
struct Page;

//! The tests of the features `ndarray`, `nalgebra`, `faer`, `serde` and `npy`, and of the page on them.
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../../docs/interop.md")]
struct Page;

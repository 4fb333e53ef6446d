//! What the tests of several crates share: the reader of the golden reference data.
//!
//! A failing expectation panics, as tests want.
#![forbid(unsafe_code)]

pub mod golden;

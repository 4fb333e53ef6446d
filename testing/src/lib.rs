//! What the tests of several crates share: the reader of the golden reference data.
//!
//! A failing expectation panics, as tests want.
#![forbid(unsafe_code)]

use std::io::Write;

pub mod golden;

/// Prints to standard output even where the test runner captures what passing tests print.
pub fn announce(text: &str) {
    // What cannot be printed is not worth failing for.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

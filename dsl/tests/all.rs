//! The language from text to programs, and its error messages.
#![allow(clippy::unwrap_used)] // tests

mod all {
    mod errors;
    mod indices;
    mod programs;
    mod support;
}

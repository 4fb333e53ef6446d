//! Integration tests, one subject a module.
#![allow(missing_docs, clippy::unwrap_used)]

mod all {
    mod aliasing;
    mod binding;
    mod buffers;
    mod counters;
    mod failures;
    mod families;
    mod placement;
    mod reference;
    mod refusals;
    mod sharing;
    mod support;
}

//! Integration tests, one subject a module.
#![allow(missing_docs, clippy::unwrap_used)]

mod all {
    mod aliasing;
    mod buffers;
    mod counters;
    mod families;
    mod placement;
    mod reference;
    mod refusals;
    mod sharing;
    mod support;
    mod value_sizes;
}

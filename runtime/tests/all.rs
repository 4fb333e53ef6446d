//! Integration tests, one subject a module.
#![allow(missing_docs, clippy::unwrap_used)]

mod all {
    mod aliasing;
    mod binding;
    mod buffers;
    mod counters;
    mod defaults;
    mod failures;
    mod families;
    mod passes;
    mod placement;
    mod reference;
    mod refusals;
    mod registrations;
    mod sharing;
    mod stress;
    mod support;
    mod value_sizes;
}

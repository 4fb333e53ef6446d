//! Integration tests, one subject a module.
#![allow(missing_docs, clippy::unwrap_used)]

mod all {
    mod aliasing;
    mod binding;
    mod buffers;
    mod counters;
    mod defaults;
    mod explain;
    mod failures;
    mod families;
    mod passes;
    mod placement;
    mod profile;
    mod reference;
    mod refusals;
    mod registrations;
    mod sharing;
    mod stress;
    mod support;
    mod transfers;
    mod value_sizes;
}

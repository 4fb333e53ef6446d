//! The integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used)]

mod all {
    mod draw;
    mod extents;
    mod fingerprint;
    mod indexing;
    mod passes;
    mod program;
    mod tensor_compare;
    mod tensor_dtypes;
    mod tensor_errors;
    mod tensor_layout;
    mod tensor_memory;
    mod tensor_print;
    mod tensor_slice;
    mod tensor_typed;
    mod tensor_values;
    mod text;
    mod value_sizes;
}

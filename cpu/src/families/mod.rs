//! The executors of the standard operation families on this engine, one file a family.

pub mod einsum;

//! Every operation of the CPU engine against the reference engine.
#![allow(clippy::unwrap_used)] // a failure is the end of a test

mod all {
    mod determinism;
    mod einsum;
    mod elementwise;
    mod engine;
    mod movement;
    mod products;
    mod reduction;
    mod support;
}

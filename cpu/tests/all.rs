//! Every operation of the CPU engine against the reference engine, and against golden data.

#[path = "all/determinism.rs"]
mod determinism;
#[path = "all/einsum.rs"]
mod einsum;
#[path = "all/elementwise.rs"]
mod elementwise;
#[path = "all/engine.rs"]
mod engine;
#[path = "all/golden.rs"]
mod golden;
#[path = "all/movement.rs"]
mod movement;
#[path = "all/reduction.rs"]
mod reduction;
#[path = "all/support.rs"]
mod support;

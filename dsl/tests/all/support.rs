//! Compiling blocks given as text.

use tenferro_core::program::SemanticProgram;
use tenferro_dsl::lowered::{LoweredBlock, LoweredItem, LoweredKernel};

/// Compiles the text of a block.
pub fn compile(text: &str) -> LoweredBlock {
    tenferro_dsl::compile(text.parse().unwrap())
}

/// The messages of a block's errors.
pub fn errors(text: &str) -> Vec<String> {
    compile(text).diagnostics.iter().map(|error| error.message().to_string()).collect()
}

/// The kernels of a block that must have no errors.
pub fn kernels(text: &str) -> Vec<LoweredKernel> {
    let block = compile(text);
    let messages: Vec<&str> = block.diagnostics.iter().map(|error| error.message()).collect();
    assert!(messages.is_empty(), "{text}\n{}", messages.join("\n"));
    block.items.into_iter().map(|LoweredItem::Kernel(kernel)| kernel).collect()
}

/// The primal program of the last kernel of a block.
pub fn program(text: &str) -> SemanticProgram {
    let kernel = kernels(text).pop().unwrap();
    kernel.bodies.unwrap().remove(0).primal
}

/// The body of the last kernel's program as text, without the frame.
pub fn body(text: &str) -> String {
    let text = program(text).to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines[1..lines.len() - 1].join("\n")
}

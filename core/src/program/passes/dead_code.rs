//! Drops operations that no output needs. Sizes, inputs and guards stay.

use super::rewrite::rewrite;
use crate::error::Result;
use crate::program::SemanticProgram;

/// Runs the pass.
///
/// # Errors
/// None but for a program that is malformed.
pub fn run(program: &SemanticProgram) -> Result<SemanticProgram> {
    rewrite(program, |_, _| Ok(None))
}

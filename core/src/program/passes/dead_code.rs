//! Drops operations that no output needs. Inputs and guards stay, and so do sizes that are read off axes.

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

//! Passes: programs to programs that compute the same.
//!
//! Every pass keeps name, inputs, sizes, guards, and the names, dtypes and shapes of the outputs; a size that is read
//! off a value stays as long as a shape, an attribute or a guard mentions it. Values stay the same to
//! the bit on an engine whose arithmetic is that of the dtypes (payloads of NaN excepted), derivatives up to rounding:
//! the order in which shared contributions are added may change. [`flattening`] alone changes the rounding of values
//! too, so it is not among the default passes. All are written on
//! [`ProgramBuilder`](super::ProgramBuilder), which shares equal operations and drops what no output needs; in debug
//! builds it verifies each result.

pub mod common_subexpressions;
pub mod constant_folding;
pub mod dead_code;
pub mod flattening;
pub mod identities;
mod rewrite;

use super::SemanticProgram;
use crate::error::Result;

/// Which passes [`compile`] runs; by default all that keep values to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompilerOptions {
    /// [`constant_folding`]
    pub constant_folding: bool,
    /// [`identities`]
    pub identities: bool,
    /// [`common_subexpressions`]
    pub common_subexpressions: bool,
    /// [`flattening`]; not by default, for it changes the rounding of values.
    pub flattening: bool,
    /// [`dead_code`]
    pub dead_code: bool,
}

impl CompilerOptions {
    /// No pass at all: the program as it is.
    pub const NONE: Self = Self {
        constant_folding: false,
        identities: false,
        common_subexpressions: false,
        flattening: false,
        dead_code: false,
    };
}

impl Default for CompilerOptions {
    fn default() -> Self {
        Self { constant_folding: true, identities: true, common_subexpressions: true, dead_code: true, ..Self::NONE }
    }
}

/// Runs the passes that `options` names, each once, in the order of its fields.
///
/// # Errors
/// None but for a program that is malformed.
///
/// ```
/// use tenferro_core::program::passes::{CompilerOptions, compile};
/// use tenferro_core::program::SemanticProgram;
/// let program = SemanticProgram::parse("
///     program f(x: f64[n]) -> f64[n] {
///       %1 = neg x : f64[n]
///       %2 = neg %1 : f64[n]
///       return %2
///     }")?;
/// let compiled = compile(&program, &CompilerOptions::default())?;
/// assert_eq!(compiled.to_string(), "program f(x: f64[n]) -> f64[n] {\n  return x\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(program: &SemanticProgram, options: &CompilerOptions) -> Result<SemanticProgram> {
    type Pass = fn(&SemanticProgram) -> Result<SemanticProgram>;
    let passes: [(bool, Pass); 5] = [
        (options.constant_folding, constant_folding::run),
        (options.identities, identities::run),
        (options.common_subexpressions, common_subexpressions::run),
        (options.flattening, flattening::run),
        (options.dead_code, dead_code::run),
    ];
    passes.into_iter().filter(|(wanted, _)| *wanted).try_fold(program.clone(), |program, (_, pass)| pass(&program))
}

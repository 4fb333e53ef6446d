//! What `tenferro!` makes of a kernel, and what it takes to run one.

mod arguments;
mod destination;
mod operand;
mod prepared;
mod program;
mod results;

pub use arguments::{Argument, Arguments, Array, Item};
pub use operand::Operand;
pub use prepared::Prepared;
pub use results::Results;

#[doc(hidden)]
pub use destination::{Destination, Place};
#[doc(hidden)]
pub use operand::scalar;
#[doc(hidden)]
pub use program::{KernelProgram, Slot, position};

pub(crate) use destination::destination_tensors;

use crate::Result;
use crate::program::SemanticProgram;

/// A kernel written in the language: what all of them have in common.
///
/// `T` is the element type for a generic kernel, and `()` for one whose element types are fixed.
/// Everyday code calls the methods of the kernel itself, which are typed in full; this trait is for
/// code that takes any kernel.
///
/// ```
/// use tenferro::prelude::*;
///
/// tenferro! {
///     fn scaled<T: Real>(x: T[n], by: T) -> T[n] { x * by }
/// }
///
/// fn describe<T, K: Kernel<T>>(_: K) -> String {
///     format!("{} has {} inputs", K::NAME, K::program().inputs().len())
/// }
/// assert_eq!(describe::<f32, _>(scaled), "scaled has 2 inputs");
/// ```
pub trait Kernel<T = ()>: Copy + Send + Sync + 'static {
    /// The kernel's name.
    const NAME: &'static str;
    /// A tuple with an [`Array`] or an [`Item`] for each argument.
    type Inputs;
    /// What a run returns.
    type Output;

    /// The program, made while compiling.
    fn program() -> &'static SemanticProgram;

    /// Takes the typed output from the results of a run.
    ///
    /// # Errors
    /// Where the results are not those of this kernel's program.
    fn output(results: &mut Results<'_, '_>) -> Result<Self::Output>;
}

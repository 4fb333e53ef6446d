//! How values get from the memory of one engine to that of another.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tenferro_core::{Tensor, TensorView};

use crate::engine::{AllocationDomain, Engine};
use crate::error::{Error, Result};
use crate::registration::are_indistinguishable;

/// Copies values from one memory to another. The runtime inserts a transfer where an operation
/// reads a value that is in other memory than its engine's, once for each value and memory.
///
/// A transfer is [registered](crate::RuntimeBuilder::register_transfer) for a pair of memories.
/// Nothing says that either is readable by the host, nor that an engine is done with what was
/// submitted to it: where it matters, the transfer calls [`Engine::synchronize`].
///
/// The engines are those that made the value and that will use the copy. Host memory may have no
/// engine: what is an input of the program has no source engine, and what becomes an output of a
/// program without an engine in host memory no destination engine. Without a destination engine the
/// elements must have arrived when the transfer returns; with one, it is enough that the commands
/// submitted to that engine from then on see them. The memory of the source may be written again as soon as the
/// transfer returns.
///
/// ```
/// use tenferro_core::{Tensor, TensorView, with_dtype};
/// use tenferro_runtime::{Engine, Result, Transfer};
///
/// /// Between memories that are the host's in truth.
/// struct Plain;
///
/// impl Transfer for Plain {
///     fn transfer(
///         &self,
///         from: Option<&mut dyn Engine>,
///         source: &TensorView<'_>,
///         _to: Option<&mut dyn Engine>,
///         destination: &mut Tensor,
///     ) -> Result<()> {
///         if let Some(engine) = from {
///             engine.synchronize()?;
///         }
///         with_dtype!(source.dtype(), T => {
///             let entries = source.iter::<T>()?;
///             destination.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
///         });
///         Ok(())
///     }
/// }
/// ```
pub trait Transfer: Any + Send + Sync {
    /// Copies `source`, a view of any strides of memory of `from`, to `destination`, a compact
    /// tensor of equal dtype and shape that `to` allocated.
    ///
    /// # Errors
    /// Where the copy fails, or an earlier command of `from` did.
    fn transfer(
        &self,
        from: Option<&mut dyn Engine>,
        source: &TensorView<'_>,
        to: Option<&mut dyn Engine>,
        destination: &mut Tensor,
    ) -> Result<()>;
}

/// Between which memories.
pub(crate) type Route = (Option<AllocationDomain>, Option<AllocationDomain>);

/// The transfers of a configuration.
#[derive(Clone, Default)]
pub(crate) struct Transfers(Vec<(Route, Arc<dyn Transfer>)>);

impl Transfers {
    pub fn register(&mut self, route: Route, transfer: Arc<dyn Transfer>) -> Result<()> {
        if route.0 == route.1 {
            let message = format!("what is in {} needs no transfer to it", Memory(route.0));
            return Err(Error::Argument { call: "RuntimeBuilder::register_transfer", argument: "to", message });
        }
        match self.find(route) {
            None => self.0.push((route, transfer)),
            Some(present) if are_indistinguishable(present, &transfer) => {}
            Some(_) => {
                let (from, to) = (Memory(route.0).to_string(), Memory(route.1).to_string());
                return Err(Error::DuplicateTransfer { from, to });
            }
        }
        Ok(())
    }

    pub fn find(&self, route: Route) -> Option<&Arc<dyn Transfer>> {
        self.0.iter().find(|(registered, _)| *registered == route).map(|(_, transfer)| transfer)
    }
}

/// A memory in messages.
pub(crate) struct Memory(pub Option<AllocationDomain>);

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(AllocationDomain(domain)) => write!(f, "memory {domain}"),
            None => f.write_str("host memory"),
        }
    }
}

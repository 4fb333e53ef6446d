//! What executes: the engine contract and the names by which engines are told apart.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use tenferro_core::{DType, Tensor, TensorView};

use crate::error::Result;
use crate::extension::ExtensionCacheStore;

/// The name of a kind of engine, such as `tenferro.reference.v1`.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct EngineId(Cow<'static, str>);

impl Hash for EngineId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialEq for EngineId {
    /// Most ids are one static text, so the same memory.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.as_str(), other.as_str());
        std::ptr::eq(a, b) || a == b
    }
}

impl EngineId {
    /// An id known when the program is compiled.
    pub const fn from_static(id: &'static str) -> Self {
        Self(Cow::Borrowed(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for EngineId {
    fn from(id: &'static str) -> Self {
        Self::from_static(id)
    }
}

impl From<String> for EngineId {
    fn from(id: String) -> Self {
        Self(Cow::Owned(id))
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EngineId({:?})", self.0)
    }
}

/// The concrete type of an engine, which its commands may downcast to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContextIdentity {
    type_id: TypeId,
    type_name: &'static str,
}

impl ContextIdentity {
    /// The identity of the engine type `E`.
    pub fn of<E: Engine>() -> Self {
        Self { type_id: TypeId::of::<E>(), type_name: std::any::type_name::<E>() }
    }

    /// The name of the type, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }
}

/// The memory an engine allocates from, where that is not the host's.
///
/// It decides where values are: engines of one memory read each other's results as they are, all
/// else takes a [transfer](crate::Transfer). What is in host memory, the domain `None`, can be read
/// in place by anybody; of other memory only the engines in it are taken to know how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocationDomain(pub u64);

/// The engine a program is prepared for: its id, its concrete type and the memory it uses.
///
/// Threads, streams and pools are no part of it: a program prepared for one engine runs on any
/// engine of equal target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EngineTarget {
    /// The kind of engine.
    pub engine_id: EngineId,
    /// Its concrete type.
    pub context: ContextIdentity,
    /// The memory it allocates from; `None` is the host's.
    pub allocation_domain: Option<AllocationDomain>,
}

impl fmt::Display for EngineTarget {
    /// The id, the concrete type, and the memory where it is not the host's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" ({})", self.engine_id, self.context.type_name())?;
        match self.allocation_domain {
            Some(AllocationDomain(domain)) => write!(f, " in memory {domain}"),
            None => Ok(()),
        }
    }
}

/// Something that executes commands. The caller owns it and lends it to
/// [`Runtime::run`](crate::Runtime::run); a runtime never holds one.
///
/// Nothing here says that an engine computes in this process, at once, or in host memory: what
/// it allocates is read and written by its own commands only, and results may be late until
/// [`synchronize`](Engine::synchronize).
pub trait Engine: Any + Send {
    /// What programs are prepared for.
    fn target(&self) -> EngineTarget;

    /// A compact column-major tensor of the engine's memory, uniquely owned, its contents
    /// unspecified.
    ///
    /// # Errors
    /// Where the shape overflows or the memory is not to be had.
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor>;

    /// Takes back a tensor that is no longer needed. Those still shared are simply dropped.
    fn recycle(&mut self, tensor: Tensor);

    /// Copies the elements of a view of any strides, in column-major order, into a compact tensor
    /// of equal dtype and number of elements; the shapes may differ.
    ///
    /// # Errors
    /// Where dtypes or numbers of elements differ.
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()>;

    /// What the operation families keep from one run to the next. The engine owns it, and commands
    /// of families ask for it through the engine they are run on: a program without such commands
    /// never touches it, and nothing is handed out and back around a run.
    fn caches(&mut self) -> &mut ExtensionCacheStore;

    /// Waits until everything submitted is done.
    ///
    /// # Errors
    /// Those of commands that ran late.
    fn synchronize(&mut self) -> Result<()> {
        Ok(())
    }
}

impl dyn Engine {
    /// The engine as its concrete type, where it is an `E`. Commands prepared for an engine's
    /// target are only ever given such an engine.
    pub fn downcast_mut<E: Engine>(&mut self) -> Option<&mut E> {
        let any: &mut dyn Any = self;
        any.downcast_mut()
    }
}

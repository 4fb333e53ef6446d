//! The description of an engine that a runtime holds.

use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use crate::engine::{AllocationDomain, ContextIdentity, Engine, EngineId, EngineTarget};
use crate::error::Result;
use crate::prepare::{Preparation, PrepareRequest};

/// Chooses an engine's kernels for core operations, without an engine at hand.
///
/// The runtime itself handles what needs no kernel: constants, sizes as scalars, and layout
/// operations (as view algebra). A provider is asked for all other core operations.
///
/// Several threads may ask at once, each while its runtime prepares a program: a provider must not
/// prepare another one on that runtime ([`Error::NestedPreparation`](crate::Error::NestedPreparation)).
/// A panic is reported as an error, [`Error::ProviderPanic`](crate::Error::ProviderPanic).
pub trait Provider: Any + Send + Sync {
    /// Prepares one operation, asks to know more about the inputs, or declines.
    ///
    /// # Errors
    /// Where the operation is one the engine has but this instance of it cannot be right. The
    /// error is kept: the same request is not made again.
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation>;

    /// Whether `other` chooses the same kernels, so that registering it again changes nothing.
    ///
    /// Two of one type without fields always do, as does a provider and itself; neither is asked.
    /// Any others are held to differ unless this says that they do not.
    fn is_equivalent(&self, other: &dyn Provider) -> bool {
        let _ = other;
        false
    }
}

/// Whether two shared values are one, or two of one type that has no fields to differ in.
pub(crate) fn are_indistinguishable<T: Any + ?Sized>(a: &Arc<T>, b: &Arc<T>) -> bool {
    let same_type = (**a).type_id() == (**b).type_id();
    same_type && (size_of_val(&**a) == 0 || ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)))
}

/// A description of an engine: what it is called, what it is, and who chooses its kernels.
///
/// Two descriptions are equal when id, type and memory are, and the providers
/// [choose the same](Provider::is_equivalent).
#[derive(Clone)]
pub struct EngineRegistration {
    target: EngineTarget,
    provider: Arc<dyn Provider>,
}

impl EngineRegistration {
    /// Describes engines of type `E`, in host memory.
    pub fn new<E: Engine>(engine_id: EngineId, provider: Arc<dyn Provider>) -> Self {
        let context = ContextIdentity::of::<E>();
        Self { target: EngineTarget { engine_id, context, allocation_domain: None }, provider }
    }

    /// The same in other memory.
    #[must_use]
    pub fn in_domain(mut self, domain: AllocationDomain) -> Self {
        self.target.allocation_domain = Some(domain);
        self
    }

    /// The target that engines of this description report.
    pub fn target(&self) -> &EngineTarget {
        &self.target
    }

    /// The kind of engine described.
    pub fn engine_id(&self) -> &EngineId {
        &self.target.engine_id
    }

    /// Who chooses the kernels.
    pub fn provider(&self) -> &dyn Provider {
        &*self.provider
    }
}

impl PartialEq for EngineRegistration {
    fn eq(&self, other: &Self) -> bool {
        self.target == other.target
            && (are_indistinguishable(&self.provider, &other.provider) || self.provider.is_equivalent(&*other.provider))
    }
}

impl fmt::Debug for EngineRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineRegistration").field("target", &self.target).finish_non_exhaustive()
    }
}

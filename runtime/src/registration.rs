//! The description of an engine that a runtime holds.

use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use tenferro_core::DTypeSet;
use tenferro_core::ops::OpClass;

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

/// A description of an engine: what it is called, what it is, which memory it uses, what it is asked
/// for and by whom its kernels are chosen, which inputs it takes.
///
/// Two descriptions are equal when all of this is, and the providers
/// [choose the same](Provider::is_equivalent).
#[derive(Clone)]
pub struct EngineRegistration {
    target: EngineTarget,
    provider: Arc<dyn Provider>,
    /// A bit for each class of operations that the provider is asked for.
    classes: u8,
    ingress: Ingress,
}

/// Which inputs of programs the commands of an engine can read as they are given. Inputs that reach
/// the engine by a [transfer](crate::Transfer) are compact whatever they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingress {
    /// Of these dtypes.
    pub dtypes: DTypeSet,
    /// Also others than compact column-major ones.
    pub strided: bool,
}

impl Default for Ingress {
    /// All inputs.
    fn default() -> Self {
        Self { dtypes: DTypeSet::ALL, strided: true }
    }
}

impl EngineRegistration {
    /// Describes engines of type `E`, in host memory, whose provider is asked for all operations and
    /// that take all inputs.
    pub fn new<E: Engine>(engine_id: EngineId, provider: Arc<dyn Provider>) -> Self {
        let target = EngineTarget { engine_id, context: ContextIdentity::of::<E>(), allocation_domain: None };
        Self { target, provider, classes: u8::MAX, ingress: Ingress::default() }
    }

    /// The same in other memory.
    #[must_use]
    pub fn in_domain(mut self, domain: AllocationDomain) -> Self {
        self.target.allocation_domain = Some(domain);
        self
    }

    /// The same with a provider that is asked for core operations of these classes only. The runtime
    /// itself does those of [`OpClass::Layout`], whatever is said here; operation families are a
    /// matter of the [modules](crate::ExtensionModule) installed.
    #[must_use]
    pub fn with_classes(mut self, classes: &[OpClass]) -> Self {
        self.classes = classes.iter().fold(0, |bits, &class| bits | bit(class));
        self
    }

    /// The same with a rule for inputs.
    #[must_use]
    pub fn with_ingress(mut self, ingress: Ingress) -> Self {
        self.ingress = ingress;
        self
    }

    /// Whether the provider is asked for operations of a class.
    pub fn has_class(&self, class: OpClass) -> bool {
        self.classes & bit(class) != 0
    }

    /// Which inputs it takes.
    pub fn ingress(&self) -> Ingress {
        self.ingress
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

fn bit(class: OpClass) -> u8 {
    1 << class as u8
}

impl PartialEq for EngineRegistration {
    fn eq(&self, other: &Self) -> bool {
        (&self.target, self.classes, self.ingress) == (&other.target, other.classes, other.ingress)
            && (are_indistinguishable(&self.provider, &other.provider) || self.provider.is_equivalent(&*other.provider))
    }
}

impl fmt::Debug for EngineRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineRegistration").field("target", &self.target).finish_non_exhaustive()
    }
}

//! The plain engine: every operation as the loop that defines it.
//!
//! It is the oracle of the tests, and a second engine beside any other. It plans nothing, keeps
//! nothing and is as slow as it is simple.

mod complex;
mod einsum;
mod elementwise;
pub mod indexing;
mod kernel;
mod movement;
mod reduction;
pub mod scalar;

use std::sync::Arc;

use tenferro_core::ops::OpClass;
use tenferro_core::{DType, Error as CoreError, Tensor, TensorView, with_dtype};

use crate::engine::{ContextIdentity, Engine, EngineId, EngineTarget};
use crate::error::Result;
use crate::extension::{ExtensionCacheStore, ExtensionModule, Registrar};
use crate::prepare::{Preparation, PrepareRequest};
use crate::registration::{EngineRegistration, Provider};

/// The id of the reference engine.
pub const ENGINE_ID: EngineId = EngineId::from_static("tenferro.reference.v1");

/// The reference engine.
#[derive(Debug, Default)]
pub struct ReferenceEngine {
    caches: ExtensionCacheStore,
}

impl ReferenceEngine {
    /// A new engine.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for ReferenceEngine {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ENGINE_ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
    }

    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        Ok(Tensor::allocate(dtype, shape)?)
    }

    fn recycle(&mut self, _: Tensor) {}

    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        if source.len() != destination.len() {
            let (expected, actual) = (format!("{:?}", source.shape()), format!("{:?}", destination.shape()));
            return Err(CoreError::shape("copy", "destination", expected, actual).into());
        }
        with_dtype!(destination.dtype(), T => {
            let entries = source.iter::<T>()?;
            destination.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
        });
        Ok(())
    }

    fn caches(&mut self) -> &mut ExtensionCacheStore {
        &mut self.caches
    }
}

/// The description of reference engines, for [`register_engine`](crate::RuntimeBuilder::register_engine).
pub fn registration() -> EngineRegistration {
    EngineRegistration::new::<ReferenceEngine>(ENGINE_ID, Arc::new(ReferenceProvider))
}

/// The standard operation families on the reference engine, for
/// [`install_extension_module`](crate::RuntimeBuilder::install_extension_module).
pub fn module() -> Arc<dyn ExtensionModule> {
    Arc::new(ReferenceModule)
}

struct ReferenceModule;

impl ExtensionModule for ReferenceModule {
    fn configure(&self, registrar: &mut Registrar) -> Result<()> {
        registrar.register_executor(ENGINE_ID, Arc::new(einsum::EinsumExecutor))
    }
}

struct ReferenceProvider;

impl Provider for ReferenceProvider {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let Some(op) = request.core_op() else { return Ok(Preparation::Unsupported) };
        let (needs, kernel): (_, fn(&_, &_) -> _) = match op.class() {
            OpClass::Elementwise => (request.metadata(), elementwise::kernel),
            OpClass::Reduction => (request.metadata(), reduction::kernel),
            OpClass::Creation => (request.metadata(), movement::kernel),
            OpClass::Movement => (request.attributes(), movement::kernel),
            OpClass::Layout => return Ok(Preparation::Unsupported),
        };
        request.with(needs, || Ok(kernel(op, request).map_or(Preparation::Unsupported, Preparation::command)))
    }
}

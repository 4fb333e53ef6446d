//! Which descriptions of engines and which executors are the same.

use std::sync::Arc;

use tenferro_core::extension::ExtensionOp;
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    AllocationDomain, EngineId, EngineRegistration, Error, ExtensionModule, FamilyExecutor, Preparation,
    PrepareRequest, Provider, Registrar, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.described.v1");

/// A provider of another type than the reference engine's.
struct Nothing;

impl Provider for Nothing {
    fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::Unsupported)
    }
}

/// Providers and executors of one type that differ in what they hold, and do not say when they do not.
struct Tile(usize);

impl Provider for Tile {
    fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Err(Error::Execution { op: "tile".to_owned(), message: format!("{}", self.0) })
    }
}

impl FamilyExecutor for Tile {
    fn family_id(&self) -> &'static str {
        "demo.tile.v1"
    }
    fn prepare(&self, _: &dyn ExtensionOp, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::Unsupported)
    }
}

/// The same that say so.
struct Compared(usize);

impl Provider for Compared {
    fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::Unsupported)
    }
    fn is_equivalent(&self, other: &dyn Provider) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }
}

impl FamilyExecutor for Compared {
    fn family_id(&self) -> &'static str {
        "demo.tile.v1"
    }
    fn prepare(&self, _: &dyn ExtensionOp, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::Unsupported)
    }
    fn is_equivalent(&self, other: &dyn FamilyExecutor) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }
}

fn described(provider: impl Provider) -> EngineRegistration {
    EngineRegistration::new::<ReferenceEngine>(ID, Arc::new(provider))
}

#[test]
fn descriptions_are_compared_by_all_they_say() {
    assert_eq!(described(Nothing), described(Nothing));
    assert_ne!(described(Nothing), described(Tile(1)));
    assert_ne!(described(Nothing), described(Nothing).in_domain(AllocationDomain(1)));
    assert_ne!(
        described(Nothing),
        EngineRegistration::new::<ReferenceEngine>("demo.other.v1".into(), Arc::new(Nothing))
    );
    // Of one type, and nothing says whether they choose the same.
    let tile = described(Tile(1));
    assert_eq!(tile, tile.clone());
    assert_ne!(tile, described(Tile(1)));
    assert_ne!(tile, described(Tile(2)));
    assert_eq!(described(Compared(1)), described(Compared(1)));
    assert_ne!(described(Compared(1)), described(Compared(2)));
    assert_ne!(described(Compared(1)), tile);
}

#[test]
fn another_provider_of_the_same_type_is_another_description() {
    let tile = described(Tile(1));
    let builder = Runtime::builder().register_engine(tile.clone()).unwrap().register_engine(tile).unwrap();
    let error = builder.register_engine(described(Tile(2))).err().unwrap();
    assert!(matches!(error, Error::DuplicateEngine { engine_id } if engine_id == ID));
}

#[test]
fn executors_are_compared_as_providers_are() {
    struct Module(Arc<dyn FamilyExecutor>);
    impl ExtensionModule for Module {
        fn configure(&self, registrar: &mut Registrar) -> Result<()> {
            registrar.register_executor(ID, Arc::clone(&self.0))
        }
    }
    let both = |a: Arc<dyn FamilyExecutor>, b: Arc<dyn FamilyExecutor>| {
        let builder = Runtime::builder().install_extension_module(Arc::new(Module(a))).unwrap();
        builder.install_extension_module(Arc::new(Module(b))).map(|_| ())
    };
    let tile: Arc<dyn FamilyExecutor> = Arc::new(Tile(1));
    both(tile.clone(), tile.clone()).unwrap();
    both(Arc::new(Compared(1)), Arc::new(Compared(1))).unwrap();
    for other in [Arc::new(Tile(1)) as Arc<dyn FamilyExecutor>, Arc::new(Compared(1))] {
        let error = both(tile.clone(), other).unwrap_err();
        assert!(matches!(error, Error::DuplicateExecutor { .. }));
        assert_eq!(
            error.to_string(),
            "family \"demo.tile.v1\" already has another executor on engine \"demo.described.v1\""
        );
    }
    assert!(both(Arc::new(Compared(1)), Arc::new(Compared(2))).is_err());
}

#[test]
fn an_engine_id_has_one_description() {
    let twice = Runtime::builder()
        .register_engine(reference::registration())
        .unwrap()
        .register_engine(reference::registration())
        .unwrap();
    let other = EngineRegistration::new::<ReferenceEngine>(reference::ENGINE_ID, Arc::new(Nothing));
    let error = twice.register_engine(other).err().unwrap();
    assert!(matches!(error, Error::DuplicateEngine { .. }));
    assert_eq!(
        error.to_string(),
        "RuntimeBuilder::register_engine: engine \"tenferro.reference.v1\" is already registered \
         with another description"
    );
}

#[test]
fn modules_may_be_installed_twice() {
    let runtime = runtime();
    runtime.reconfigure(|builder| builder.install_extension_module(reference::module())).unwrap();
}

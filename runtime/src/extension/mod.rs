//! How operation families reach a runtime: modules, what they register, what they keep.

mod cache_store;
mod module;

pub use cache_store::ExtensionCacheStore;
pub use module::{ExtensionModule, FamilyExecutor, Registrar};

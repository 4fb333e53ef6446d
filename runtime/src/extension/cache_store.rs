//! What operation families keep in an engine from one run to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

/// Typed caches, one per family and type, owned by an engine: plans, tables, scratch.
///
/// ```
/// let mut store = tenferro_runtime::ExtensionCacheStore::new();
/// *store.get_or_default::<u32>("demo.count.v1") += 1;
/// assert_eq!(store.get::<u32>("demo.count.v1"), Some(&1));
/// assert_eq!(store.get::<u32>("demo.other.v1"), None);
/// ```
#[derive(Default)]
pub struct ExtensionCacheStore {
    entries: HashMap<(&'static str, TypeId), Box<dyn Any + Send>>,
}

impl ExtensionCacheStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cache of type `C` of a family, if there is one.
    pub fn get<C: Any + Send>(&self, family_id: &'static str) -> Option<&C> {
        self.entries.get(&(family_id, TypeId::of::<C>()))?.downcast_ref()
    }

    /// The cache of type `C` of a family, made when it is first asked for.
    pub fn get_or_default<C: Any + Send + Default>(&mut self, family_id: &'static str) -> &mut C {
        let entry = self.entries.entry((family_id, TypeId::of::<C>()));
        match entry.or_insert_with(|| Box::new(C::default())).downcast_mut() {
            Some(cache) => cache,
            None => unreachable!("a cache is stored under its own type"),
        }
    }

    /// Forgets what one family keeps.
    pub fn clear_family(&mut self, family_id: &str) {
        self.entries.retain(|(family, _), _| *family != family_id);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl fmt::Debug for ExtensionCacheStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys().map(|(family, _)| family)).finish()
    }
}

//! [`AdContext`]: the rules derivatives are made with, and the derivatives made lately.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::SemanticExtensionRuleSet;
use super::transforms::{grad, hvp, jvp, value_and_grad, vjp};
use crate::error::{Error, Result};
use crate::program::{Fingerprint, SemanticProgram};

/// The transforms whose results a context keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// [`jvp`](fn@jvp)
    Jvp,
    /// [`vjp`](fn@vjp)
    Vjp,
    /// [`grad`](fn@grad)
    Grad,
    /// [`value_and_grad`](fn@value_and_grad)
    ValueAndGrad,
    /// [`hvp`](fn@hvp)
    Hvp,
}

/// What derivatives are made with: the rules of extension families, and a bounded cache of derivative programs.
///
/// Clones are cheap and share the cache; threads may share a context.
///
/// ```
/// use std::sync::Arc;
/// use tenferro_core::{ad::{AdContext, Transform}, dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("square");
/// let x = b.input("x", DType::F64, &[])?;
/// let y = b.mul(x, x)?;
/// let square = b.finish(&[(None, y)])?;
///
/// let ad = AdContext::builder().build()?;
/// let gradient = ad.transform(Transform::Grad, &square, &[0])?;
/// assert!(Arc::ptr_eq(&gradient, &ad.transform(Transform::Grad, &square, &[0])?));
/// assert_eq!(ad.cache_stats().to_string(), "entries=1 hits=1 misses=1 evictions=0");
/// assert_eq!(ad.provenance(&gradient).map(|p| p.source), Some(square.fingerprint()));
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Clone)]
pub struct AdContext {
    rules: Arc<SemanticExtensionRuleSet>,
    cache: Arc<Mutex<Cache>>,
}

impl AdContext {
    /// A context without extension rules.
    pub fn new() -> Self {
        Self::with(SemanticExtensionRuleSet::new(), AdContextBuilder::CAPACITY)
    }

    /// Starts a context.
    pub fn builder() -> AdContextBuilder {
        AdContextBuilder { rules: SemanticExtensionRuleSet::new(), capacity: AdContextBuilder::CAPACITY }
    }

    fn with(rules: SemanticExtensionRuleSet, capacity: usize) -> Self {
        Self { rules: Arc::new(rules), cache: Arc::new(Mutex::new(Cache::new(capacity))) }
    }

    /// The context with these rules added and an empty cache. Where both have a rule, the new one is used.
    #[must_use]
    pub fn with_rules(self, rules: &SemanticExtensionRuleSet) -> Self {
        let capacity = self.lock().capacity;
        Self::with(SemanticExtensionRuleSet::clone(&self.rules).union(rules), capacity)
    }

    /// The rules.
    pub fn rules(&self) -> &SemanticExtensionRuleSet {
        &self.rules
    }

    /// The derivative of a program, from the cache where it was made before.
    ///
    /// Names of sizes, inputs and outputs count: they name the inputs and outputs of the derivative.
    ///
    /// # Errors
    /// Those of the transform; failures are not kept.
    pub fn transform(
        &self,
        transform: Transform,
        program: &SemanticProgram,
        wrt: &[usize],
    ) -> Result<Arc<SemanticProgram>> {
        let source = Provenance { source: program.fingerprint(), transform, wrt: wrt.to_vec() };
        let key = Key { source, names: names(program) };
        if let Some(found) = self.lock().find(&key) {
            return Ok(found);
        }
        // Made outside of the lock; where two threads make the same, the first to finish is kept.
        let derivative = match transform {
            Transform::Jvp => jvp(program, wrt, self),
            Transform::Vjp => vjp(program, wrt, self),
            Transform::Grad => grad(program, wrt, self),
            Transform::ValueAndGrad => value_and_grad(program, wrt, self),
            Transform::Hvp => hvp(program, wrt, self),
        }?;
        Ok(self.lock().insert(key, Arc::new(derivative)))
    }

    /// Which program a derivative in the cache was made from, and how.
    pub fn provenance(&self, derivative: &SemanticProgram) -> Option<Provenance> {
        let cache = self.lock();
        let of = |used: &Used| used.derivative.fingerprint() == derivative.fingerprint();
        cache.entries.iter().find(|(_, used)| of(used)).map(|(key, _)| key.source.clone())
    }

    /// What the cache holds and did.
    pub fn cache_stats(&self) -> TransformCacheStats {
        let cache = self.lock();
        TransformCacheStats { entries: cache.entries.len(), ..cache.stats }
    }

    /// Forgets all derivatives. Those in the caller's hands stay usable; the counters go on.
    pub fn clear_cache(&self) {
        self.lock().entries.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        // Every critical section leaves the cache whole, so a panic elsewhere spoils nothing.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for AdContext {
    fn default() -> Self {
        Self::new()
    }
}

impl Debug for AdContext {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdContext").field("rules", &self.rules).field("cache", &self.cache_stats()).finish()
    }
}

/// Makes an [`AdContext`].
pub struct AdContextBuilder {
    rules: SemanticExtensionRuleSet,
    capacity: usize,
}

impl AdContextBuilder {
    const CAPACITY: usize = 256;

    /// Adds the rules of extension families.
    ///
    /// # Errors
    /// When there is already a rule for one of the families in the same role.
    pub fn with_semantic_extension_rules(mut self, rules: SemanticExtensionRuleSet) -> Result<Self> {
        if let Some((family, role)) = self.rules.conflict(&rules) {
            return Err(Error::argument("AdContext::builder", family, format!("already has a `{role}` rule")));
        }
        self.rules = self.rules.union(&rules);
        Ok(self)
    }

    /// The most derivatives kept; the least recently used makes room.
    #[must_use]
    pub fn with_cache_capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// The context.
    ///
    /// # Errors
    /// When the cache has no capacity.
    pub fn build(self) -> Result<AdContext> {
        if self.capacity == 0 {
            return Err(Error::argument("AdContext::builder", "cache capacity", "must be at least 1"));
        }
        Ok(AdContext::with(self.rules, self.capacity))
    }
}

/// Where a derivative program comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Provenance {
    /// The program that was transformed.
    pub source: Fingerprint,
    /// How.
    pub transform: Transform,
    /// With respect to which of its inputs.
    pub wrt: Vec<usize>,
}

/// What the cache of a context holds and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransformCacheStats {
    /// Derivatives held.
    pub entries: usize,
    /// Lookups that found one.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Derivatives that made room.
    pub evictions: u64,
}

impl fmt::Display for TransformCacheStats {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { entries, hits, misses, evictions } = self;
        write!(f, "entries={entries} hits={hits} misses={misses} evictions={evictions}")
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    source: Provenance,
    names: Vec<Option<String>>,
}

/// The names that a derivative takes over; the fingerprint leaves them out.
fn names(program: &SemanticProgram) -> Vec<Option<String>> {
    let own = std::iter::once(program.name()).chain(program.sizes().iter().map(|s| &*s.name));
    let required = own.chain(program.inputs().iter().map(|i| &*i.name)).map(Some);
    required.chain(program.outputs().iter().map(|o| o.name.as_deref())).map(|n| n.map(str::to_string)).collect()
}

struct Cache {
    capacity: usize,
    entries: HashMap<Key, Used>,
    clock: u64,
    stats: TransformCacheStats,
}

struct Used {
    derivative: Arc<SemanticProgram>,
    last: u64,
}

impl Cache {
    fn new(capacity: usize) -> Self {
        Self { capacity, entries: HashMap::new(), clock: 0, stats: TransformCacheStats::default() }
    }

    fn find(&mut self, key: &Key) -> Option<Arc<SemanticProgram>> {
        self.clock += 1;
        let Some(used) = self.entries.get_mut(key) else {
            self.stats.misses += 1;
            return None;
        };
        used.last = self.clock;
        self.stats.hits += 1;
        Some(used.derivative.clone())
    }

    fn insert(&mut self, key: Key, derivative: Arc<SemanticProgram>) -> Arc<SemanticProgram> {
        if self.entries.len() >= self.capacity && !self.entries.contains_key(&key) {
            let oldest = self.entries.iter().min_by_key(|(_, used)| used.last).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.entries.remove(&oldest);
                self.stats.evictions += 1;
            }
        }
        let last = self.clock;
        self.entries.entry(key).or_insert(Used { derivative, last }).derivative.clone()
    }
}

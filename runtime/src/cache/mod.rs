//! Prepared programs by what they were prepared for.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::prepare::{Entry, Key};

/// The most entries kept; the least recently used make room.
const ENTRIES: usize = 128;

/// What the cache of a runtime holds and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Entries held.
    pub entries: usize,
    /// Lookups that found an entry.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Preparations made.
    pub preparations: u64,
    /// Lookups that found a failure.
    pub negative_hits: u64,
    /// Entries that made room.
    pub evictions: u64,
}

impl fmt::Display for CacheStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, hits, misses, preparations, negative_hits, .. } = self;
        write!(
            f,
            "entries={entries} hits={hits} misses={misses} preparations={preparations} negative_hits={negative_hits}"
        )
    }
}

/// The cache. Preparations run outside its lock; where two threads prepare the same key, the
/// first to finish is kept.
#[derive(Default)]
pub(crate) struct PreparedCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Used>,
    clock: u64,
    stats: CacheStats,
}

struct Used {
    entry: Result<Entry>,
    last: u64,
}

impl PreparedCache {
    /// The entry of `key`, prepared if there is none. Failures are kept as well.
    pub fn get_or_prepare(&self, key: Key, prepare: impl FnOnce(&Key) -> Result<Entry>) -> Result<Entry> {
        if let Some(entry) = self.lock().find(&key) {
            return entry;
        }
        let entry = prepare(&key);
        self.lock().insert(key, entry)
    }

    pub fn stats(&self) -> CacheStats {
        let state = self.lock();
        CacheStats { entries: state.entries.len(), ..state.stats }
    }

    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole, so a panic elsewhere spoils nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, key: &Key) -> Option<Result<Entry>> {
        self.clock += 1;
        let Some(used) = self.entries.get_mut(key) else {
            self.stats.misses += 1;
            return None;
        };
        used.last = self.clock;
        match &used.entry {
            Ok(_) => self.stats.hits += 1,
            Err(_) => self.stats.negative_hits += 1,
        }
        Some(used.entry.clone())
    }

    fn insert(&mut self, key: Key, entry: Result<Entry, Error>) -> Result<Entry> {
        self.stats.preparations += 1;
        if self.entries.len() >= ENTRIES && !self.entries.contains_key(&key) {
            let oldest = self.entries.iter().min_by_key(|(_, used)| used.last).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.entries.remove(&oldest);
                self.stats.evictions += 1;
            }
        }
        let last = self.clock;
        self.entries.entry(key).or_insert(Used { entry, last }).entry.clone()
    }
}

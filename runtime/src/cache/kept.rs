//! A map that forgets what was used least recently.

use std::collections::HashMap;
use std::hash::Hash;

use super::CacheLimits;

/// The entries, each with its size and when it was last used.
pub(super) struct Kept<K, V> {
    entries: HashMap<K, Used<V>>,
    bytes: usize,
    /// Grows with each use, so that no two entries were last used at the same time.
    clock: u64,
}

struct Used<V> {
    value: V,
    bytes: usize,
    last: u64,
}

impl<K: Hash + Eq, V> Kept<K, V> {
    pub fn new() -> Self {
        Self { entries: HashMap::new(), bytes: 0, clock: 0 }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn find(&mut self, key: &K) -> Option<&V> {
        let used = self.entries.get_mut(key)?;
        self.clock += 1;
        used.last = self.clock;
        Some(&used.value)
    }

    /// Adds an entry and returns those that had to go: others, or itself if it is too large.
    pub fn insert(&mut self, key: K, value: V, bytes: usize, limits: &CacheLimits) -> Vec<V> {
        if bytes > limits.bytes {
            return vec![value];
        }
        self.clock += 1;
        let used = Used { value, bytes, last: self.clock };
        let replaced = self.entries.insert(key, used);
        debug_assert!(replaced.is_none(), "a key is prepared only while it has no entry");
        self.bytes += bytes;
        self.shrink(limits)
    }

    /// Removes the least recently used until the limits hold. This sorts by age: it follows a
    /// preparation, which costs more.
    pub fn shrink(&mut self, limits: &CacheLimits) -> Vec<V> {
        let (mut entries, mut bytes) = (self.entries.len(), self.bytes);
        let fits = |entries, bytes| entries <= limits.entries && bytes <= limits.bytes;
        if fits(entries, bytes) {
            return Vec::new();
        }
        let mut by_age: Vec<_> = self.entries.values().map(|used| (used.last, used.bytes)).collect();
        by_age.sort_unstable();
        let mut newest_to_go = 0;
        for (last, size) in by_age {
            if fits(entries, bytes) {
                break;
            }
            newest_to_go = last;
            entries -= 1;
            bytes -= size;
        }
        self.bytes = bytes;
        let gone = self.entries.extract_if(|_, used| used.last <= newest_to_go);
        gone.map(|(_, used)| used.value).collect()
    }

    /// Removes everything.
    pub fn take(&mut self) -> Vec<V> {
        self.bytes = 0;
        self.entries.drain().map(|(_, used)| used.value).collect()
    }
}

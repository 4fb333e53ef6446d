//! What a cache of prepared programs did.

use std::fmt;

/// What the cache of a runtime holds and did since the runtime was made.
///
/// A preparation looks up several entries: one that says what must be known of the inputs, and one
/// for what they are. Each lookup counts as exactly one of `hits`, `negative_hits`, `misses` and
/// `waits`. Each miss leads to one of the `preparations`, or is refused for the
/// [limits](crate::CacheLimits).
///
/// Each preparation that is over left an entry, unless it failed in a way that
/// [may pass](crate::Error::is_transient). So while nothing is cleared and nothing is in
/// preparation, `preparations` is `entries` and `evictions` and those failures together.
///
/// It prints as `entries=2 hits=0 misses=2 preparations=2 negative_hits=0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Entries held: prepared programs, requirements and failures.
    pub entries: usize,
    /// Their logical size, as [`CacheLimits::bytes`](crate::CacheLimits::bytes) defines it.
    pub bytes: usize,
    /// Lookups that found a prepared program, or the requirements to look up next.
    pub hits: u64,
    /// Lookups that found neither an entry nor a preparation of it under way.
    pub misses: u64,
    /// Preparations begun, whatever their end.
    pub preparations: u64,
    /// Lookups that found a failure kept.
    pub negative_hits: u64,
    /// Lookups that found the entry in preparation by another thread, or queued for it, and waited.
    pub waits: u64,
    /// Entries that made room, and entries too large to be kept at all.
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

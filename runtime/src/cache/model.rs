//! The state machine of the cache under every interleaving of its threads, by the model checker:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p tenferro-runtime --lib cache::model`.
#![allow(clippy::unwrap_used)]

use loom::thread;
use std::sync::Arc;

use super::*;

type Cache = PreparedCache<u32, u32>;

fn cache(limits: CacheLimits) -> Arc<Cache> {
    let cache = PreparedCache::new(|_, _| 1);
    cache.set_limits("model", limits).unwrap();
    Arc::new(cache)
}

fn passing_failure() -> Error {
    Error::Core(tenferro_core::Error::OutOfMemory { bytes: 1 })
}

/// Runs one thread besides this one for each of the others, and joins them.
fn together(threads: Vec<Box<dyn FnOnce() + Send>>) {
    let mut threads = threads.into_iter();
    let own = threads.next().unwrap();
    let others: Vec<_> = threads.map(thread::spawn).collect();
    own();
    others.into_iter().for_each(|other| other.join().unwrap());
}

fn get(cache: &Arc<Cache>, key: u32) -> Box<dyn FnOnce() + Send> {
    let cache = Arc::clone(cache);
    Box::new(move || assert_eq!(cache.get_or_prepare(key, |key| Ok(*key)).unwrap(), key))
}

fn sums_up(stats: &CacheStats, lookups: u64) {
    assert_eq!(stats.hits + stats.negative_hits + stats.misses + stats.waits, lookups, "{stats:?}");
}

#[test]
fn one_key_is_prepared_once() {
    loom::model(|| {
        let cache = cache(CacheLimits::default());
        together((0..3).map(|_| get(&cache, 1)).collect());
        let stats = cache.stats();
        assert_eq!((stats.misses, stats.preparations, stats.entries), (1, 1, 1));
        sums_up(&stats, 3);
    });
}

#[test]
fn keys_pass_a_single_place_on() {
    loom::model(|| {
        let cache = cache(CacheLimits { preparing: 1, ..CacheLimits::default() });
        together(vec![get(&cache, 1), get(&cache, 2), get(&cache, 2)]);
        let stats = cache.stats();
        assert_eq!((stats.misses, stats.preparations, stats.entries), (2, 2, 2));
        sums_up(&stats, 3);
    });
}

#[test]
fn a_failure_that_may_pass_frees_the_key() {
    loom::model(|| {
        let cache = cache(CacheLimits::default());
        let failing = Arc::clone(&cache);
        let fail = move || drop(failing.get_or_prepare(1, |_| Err(passing_failure())));
        let other = Arc::clone(&cache);
        let get = move || drop(other.get_or_prepare(1, |_| Ok(1)));
        together(vec![Box::new(fail), Box::new(get)]);
        assert_eq!(cache.get_or_prepare(1, |_| Ok(1)).unwrap(), 1);
        let stats = cache.stats();
        assert_eq!(stats.entries, 1);
        assert!(stats.preparations <= 2, "{stats:?}");
        sums_up(&stats, 3);
    });
}

#[test]
fn limits_and_clearing_disturb_no_one() {
    loom::model(|| {
        let cache = cache(CacheLimits { preparing: 1, ..CacheLimits::default() });
        let other = Arc::clone(&cache);
        let edit = move || {
            other.clear();
            other.set_limits("model", CacheLimits { entries: 1, preparing: 2, ..CacheLimits::default() }).unwrap();
        };
        together(vec![Box::new(edit), get(&cache, 1), get(&cache, 2)]);
        let stats = cache.stats();
        assert_eq!((stats.misses, stats.preparations), (2, 2));
        assert!(stats.entries <= 1 && stats.evictions <= 1, "{stats:?}");
    });
}

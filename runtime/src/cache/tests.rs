//! The cache by itself, with numbers for programs.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use super::*;

type Cache = PreparedCache<u32, u32>;

/// The size of an entry is its value.
fn cache() -> Cache {
    PreparedCache::new(|_, entry| entry.as_ref().map_or(1, |value| *value as usize))
}

fn limited(limits: CacheLimits) -> Cache {
    let cache = cache();
    cache.set_limits("test", limits).unwrap();
    cache
}

fn failure(message: &str) -> Error {
    Error::Execution { op: "test".to_owned(), message: message.to_owned() }
}

fn passing_failure() -> Error {
    Error::Core(tenferro_core::Error::OutOfMemory { bytes: 1 })
}

/// A result that must come; a thread that never wakes fails the test instead of hanging it.
fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(Duration::from_secs(60)).expect("a thread sleeps for ever")
}

/// Waits for a condition that other threads bring about.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

#[test]
fn a_result_published_between_lookup_and_wait_is_not_missed() {
    let (registered, has_registered) = channel();
    let published = Arc::new(Barrier::new(2));
    let mut cache = cache();
    let barrier = Arc::clone(&published);
    cache.before_wait = Some(Box::new(move || {
        registered.send(()).unwrap();
        barrier.wait();
    }));
    let cache = Arc::new(cache);
    let (result, results) = channel();
    let led = cache.get_or_prepare(7, |_| {
        let waiter = Arc::clone(&cache);
        thread::spawn(move || result.send(waiter.get_or_prepare(7, |_| unreachable!("it is in preparation"))));
        receive(&has_registered);
        Ok(1)
    });
    // The waiter has looked up and does not wait yet; the result is published.
    assert_eq!(cache.stats().entries, 1);
    published.wait();
    assert_eq!((led.unwrap(), receive(&results).unwrap()), (1, 1));
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.waits, stats.preparations, stats.hits), (1, 1, 1, 0));
}

#[test]
fn waiters_that_sleep_are_woken() {
    let cache = &cache();
    thread::scope(|scope| {
        let (result, results) = channel();
        let led = cache.get_or_prepare(7, |_| {
            for _ in 0..3 {
                let result = result.clone();
                scope.spawn(move || result.send(cache.get_or_prepare(7, |_| Ok(2))));
            }
            until(|| cache.stats().waits == 3);
            // Most likely they sleep by now; the other test is for those that do not.
            thread::sleep(Duration::from_millis(5));
            Ok(1)
        });
        assert_eq!(led.unwrap(), 1);
        assert_eq!([(); 3].map(|()| receive(&results).unwrap()), [1; 3]);
    });
}

#[test]
fn waiters_share_a_failure() {
    for (error, entries) in [(failure("never"), 1), (passing_failure(), 0)] {
        let cache = &cache();
        thread::scope(|scope| {
            let (waiter, waiters) = channel();
            let led = cache.get_or_prepare(7, |_| {
                waiter.send(scope.spawn(|| cache.get_or_prepare(7, |_| Ok(2)))).unwrap();
                until(|| cache.stats().waits == 1);
                Err(error.clone())
            });
            let waited = receive(&waiters).join().unwrap();
            assert_eq!(waited.unwrap_err().to_string(), error.to_string());
            assert_eq!(led.unwrap_err().to_string(), error.to_string());
        });
        assert_eq!(cache.stats().entries, entries);
        // What is kept is found; what may pass is tried again.
        assert_eq!(cache.get_or_prepare(7, |_| Ok(2)).is_err(), entries == 1);
        let stats = cache.stats();
        assert_eq!((stats.negative_hits, stats.preparations), (entries as u64, 2 - entries as u64));
    }
}

#[test]
fn a_panic_frees_the_key_for_those_that_wait() {
    let cache = &cache();
    thread::scope(|scope| {
        let (waiter, waiters) = channel();
        let led = catch_unwind(AssertUnwindSafe(|| {
            cache.get_or_prepare(7, |_| {
                waiter.send(scope.spawn(|| cache.get_or_prepare(7, |_| Ok(2)))).unwrap();
                until(|| cache.stats().waits == 1);
                panic!("told to")
            })
        }));
        assert!(led.is_err());
        assert_eq!(receive(&waiters).join().unwrap().unwrap(), 2);
    });
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.waits, stats.preparations, stats.entries), (2, 1, 2, 1));
}

#[test]
fn keys_queue_for_places_in_order_and_the_queue_is_bounded() {
    let cache = &limited(CacheLimits { preparing: 1, queued: 2, ..CacheLimits::default() });
    let (order, running) = (std::sync::Mutex::new(Vec::new()), AtomicUsize::new(0));
    let prepare = &|key: &u32| {
        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
        order.lock().unwrap().push(*key);
        running.fetch_sub(1, Ordering::SeqCst);
        Ok(*key)
    };
    thread::scope(|scope| {
        cache
            .get_or_prepare(0, |_| {
                for key in [1, 2] {
                    scope.spawn(move || cache_get(cache, key, prepare));
                    until(|| cache.stats().misses == u64::from(key) + 1);
                }
                // A waiter for a queued key needs no place; another key finds none.
                scope.spawn(|| cache_get(cache, 2, prepare));
                until(|| cache.stats().waits == 1);
                let refused = scope.spawn(|| cache.get_or_prepare(3, prepare)).join().unwrap();
                assert_eq!(
                    refused.unwrap_err().to_string(),
                    "Runtime::prepare: 1 programs are in preparation and 2 wait for it, and no more may; \
                     call again later, or raise the limits with `Runtime::set_prepared_cache_limits`"
                );
                Ok(0)
            })
            .unwrap();
    });
    assert_eq!(*order.lock().unwrap(), [1, 2]);
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.preparations, stats.waits, stats.entries), (4, 3, 1, 3));
    assert_eq!(cache.get_or_prepare(3, prepare).unwrap(), 3);
}

fn cache_get(cache: &Cache, key: u32, prepare: impl FnOnce(&u32) -> Result<u32>) {
    assert_eq!(cache.get_or_prepare(key, prepare).unwrap(), key);
}

#[test]
fn raised_limits_let_the_queue_go_on() {
    let cache = &limited(CacheLimits { preparing: 1, ..CacheLimits::default() });
    thread::scope(|scope| {
        cache
            .get_or_prepare(0, |_| {
                let queued = scope.spawn(|| cache_get(cache, 1, |key| Ok(*key)));
                until(|| cache.stats().misses == 2);
                assert_eq!(cache.stats().preparations, 1);
                cache.set_limits("test", CacheLimits { preparing: 2, ..CacheLimits::default() }).unwrap();
                // It ends while this one goes on.
                queued.join().unwrap();
                Ok(0)
            })
            .unwrap();
    });
}

#[test]
fn a_preparation_that_needs_another_is_refused() {
    let cache = cache();
    cache_get(&cache, 1, |key| Ok(*key));
    let value = cache.get_or_prepare(2, |_| {
        for key in [2, 3] {
            let error = cache.get_or_prepare(key, |_| Ok(0)).unwrap_err();
            assert!(matches!(error, Error::NestedPreparation));
            assert!(error.to_string().contains("prepare it before"), "{error}");
        }
        // What is there may be used.
        cache.get_or_prepare(1, |_| unreachable!("it is kept"))
    });
    assert_eq!(value.unwrap(), 1);
}

#[test]
fn the_least_recently_used_make_room() {
    let cache = limited(CacheLimits { entries: 3, ..CacheLimits::default() });
    let has = |key| {
        let before = cache.stats().misses;
        cache.get_or_prepare(key, |_| Err(passing_failure())).is_ok() && cache.stats().misses == before
    };
    for key in [1, 2, 3] {
        cache_get(&cache, key, |key| Ok(*key));
    }
    assert!(has(1));
    cache_get(&cache, 4, |key| Ok(*key));
    assert_eq!([1, 2, 3, 4].map(has), [true, false, true, true]);
    assert!(has(1));
    cache.set_limits("test", CacheLimits { entries: 1, ..CacheLimits::default() }).unwrap();
    assert_eq!([1, 3, 4].map(has), [true, false, false]);
    assert_eq!(cache.stats().evictions, 3);
}

#[test]
fn bytes_are_bounded() {
    let cache = limited(CacheLimits { bytes: 10, ..CacheLimits::default() });
    for key in [2, 3, 4] {
        cache_get(&cache, key, |key| Ok(*key));
    }
    assert_eq!((cache.stats().entries, cache.stats().bytes, cache.stats().evictions), (3, 9, 0));
    // 5 more: 2 and 3 go.
    cache_get(&cache, 5, |key| Ok(*key));
    assert_eq!((cache.stats().entries, cache.stats().bytes, cache.stats().evictions), (2, 9, 2));
    // One that is too large goes by itself, and nothing for it.
    cache_get(&cache, 11, |key| Ok(*key));
    assert_eq!((cache.stats().entries, cache.stats().bytes, cache.stats().evictions), (2, 9, 3));
    cache.set_limits("test", CacheLimits { bytes: 5, ..CacheLimits::default() }).unwrap();
    assert_eq!((cache.stats().entries, cache.stats().bytes, cache.stats().evictions), (1, 5, 4));
    cache.clear();
    assert_eq!((cache.stats().entries, cache.stats().bytes), (0, 0));
}

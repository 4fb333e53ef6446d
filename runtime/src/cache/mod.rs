//! Prepared programs by what they were prepared for, each prepared once.
//!
//! The first to ask for a key without an entry leads its preparation, outside the lock; whoever
//! asks meanwhile waits for the same result. As many keys are in preparation as the limits allow;
//! the leaders of some more queue for a place, in the order they came.
//!
//! What happens under the lock is a step of one state machine, and all that a thread waits for is
//! a condition on its state: a waiter tests it under the lock before it sleeps and whenever it
//! wakes, so it does not matter whether it was asleep when it was notified.

mod kept;
mod limits;
#[cfg(all(test, loom))]
mod model;
mod stats;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::mem;
use std::sync::{Arc, OnceLock, PoisonError};

use crate::error::{Error, Result};
use kept::Kept;
use sync::{Condvar, Mutex, MutexGuard, thread};

pub use limits::CacheLimits;
pub use stats::CacheStats;

/// The cache.
pub(crate) struct PreparedCache<K, V> {
    state: Mutex<State<K, V>>,
    /// The logical size of an entry.
    size: fn(&K, &Result<V>) -> usize,
    /// Called by a waiter between its lookup and its wait.
    #[cfg(test)]
    before_wait: Option<Box<dyn Fn() + Send + Sync>>,
}

struct State<K, V> {
    kept: Kept<K, Result<V>>,
    /// The keys in preparation or queued.
    flights: HashMap<K, Arc<Flight<V>>>,
    /// Those of them that have no place yet.
    queue: VecDeque<Arc<Flight<V>>>,
    /// The number of those that have.
    preparing: usize,
    limits: CacheLimits,
    stats: CacheStats,
}

/// One attempt to prepare a key.
struct Flight<V> {
    leader: thread::ThreadId,
    /// Set under the cache's lock when the attempt is over; nothing if it was abandoned.
    outcome: OnceLock<Option<Result<V>>>,
    /// Notified when the attempt gets a place and when it is over.
    changed: Condvar,
}

/// What a lookup found.
enum Found<V> {
    Kept(Result<V>),
    /// Another thread prepares it.
    Underway(Arc<Flight<V>>),
    /// Nothing: the caller has to prepare it.
    Nothing(Arc<Flight<V>>),
}

impl<K: Hash + Eq + Clone, V: Clone> PreparedCache<K, V> {
    pub fn new(size: fn(&K, &Result<V>) -> usize) -> Self {
        let state = State {
            kept: Kept::new(),
            flights: HashMap::new(),
            queue: VecDeque::new(),
            preparing: 0,
            limits: CacheLimits::default(),
            stats: CacheStats::default(),
        };
        Self {
            state: Mutex::new(state),
            size,
            #[cfg(test)]
            before_wait: None,
        }
    }

    /// The entry of `key`, prepared if there is none.
    ///
    /// Failures are kept as well, but for those that may pass. Whoever waits for a preparation that
    /// fails gets its error; after one that panics it looks up again.
    pub fn get_or_prepare(&self, key: K, prepare: impl FnOnce(&K) -> Result<V>) -> Result<V> {
        loop {
            match self.look_up(&key)? {
                Found::Kept(entry) => return entry,
                Found::Underway(flight) => {
                    #[cfg(test)]
                    if let Some(hook) = &self.before_wait {
                        hook();
                    }
                    if let Some(outcome) = self.wait(&flight) {
                        return outcome;
                    }
                }
                Found::Nothing(flight) => {
                    self.wait_for_place(&flight);
                    let lead = Lead { cache: self, key: &key, flight: &flight };
                    let outcome = prepare(&key);
                    lead.finish(outcome.clone());
                    return outcome;
                }
            }
        }
    }

    pub fn stats(&self) -> CacheStats {
        let state = self.lock();
        CacheStats { entries: state.kept.len(), bytes: state.kept.bytes(), ..state.stats }
    }

    pub fn limits(&self) -> CacheLimits {
        self.lock().limits
    }

    /// Replaces the limits. Entries in excess go at once; keys in preparation or queued in excess
    /// stay, and no more come.
    pub fn set_limits(&self, call: &'static str, limits: CacheLimits) -> Result<()> {
        limits.check(call)?;
        let mut state = self.lock();
        state.limits = limits;
        let gone = state.kept.shrink(&limits);
        state.stats.evictions += gone.len() as u64;
        state.fill_places();
        // Entries end in foreign code, which must not run under the lock.
        drop(state);
        drop(gone);
        Ok(())
    }

    /// Forgets all entries. Preparations under way go on and are kept.
    pub fn clear(&self) {
        let gone = self.lock().kept.take();
        drop(gone);
    }

    fn look_up(&self, key: &K) -> Result<Found<V>> {
        let mut state = self.lock();
        let State { kept, stats, .. } = &mut *state;
        if let Some(entry) = kept.find(key) {
            match entry {
                Ok(_) => stats.hits += 1,
                Err(_) => stats.negative_hits += 1,
            }
            return Ok(Found::Kept(entry.clone()));
        }
        let leader = thread::current().id();
        if state.flights.values().any(|flight| flight.leader == leader) {
            return Err(Error::NestedPreparation);
        }
        if let Some(flight) = state.flights.get(key) {
            let flight = Arc::clone(flight);
            state.stats.waits += 1;
            return Ok(Found::Underway(flight));
        }
        state.stats.misses += 1;
        let flight = Arc::new(Flight { leader, outcome: OnceLock::new(), changed: Condvar::new() });
        let CacheLimits { preparing, queued, .. } = state.limits;
        if state.preparing < preparing {
            state.preparing += 1;
        } else if state.queue.len() < queued {
            state.queue.push_back(Arc::clone(&flight));
        } else {
            return Err(Error::PreparationQueueFull { preparing, queued });
        }
        state.flights.insert(key.clone(), Arc::clone(&flight));
        Ok(Found::Nothing(flight))
    }

    /// Waits until an attempt is over; nothing if it was abandoned.
    fn wait(&self, flight: &Flight<V>) -> Option<Result<V>> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = flight.outcome.get() {
                return outcome.clone();
            }
            state = sleep(&flight.changed, state);
        }
    }

    /// Waits until an attempt is one of those that may go on.
    fn wait_for_place(&self, flight: &Arc<Flight<V>>) {
        let mut state = self.lock();
        while state.queue.iter().any(|queued| Arc::ptr_eq(queued, flight)) {
            state = sleep(&flight.changed, state);
        }
        state.stats.preparations += 1;
    }

    /// Ends an attempt: keeps the entry, passes the place on and wakes whoever waits.
    fn end(&self, key: &K, flight: &Flight<V>, outcome: Option<Result<V>>) {
        let mut gone = Vec::new();
        let mut state = self.lock();
        state.flights.remove(key);
        state.preparing -= 1;
        state.fill_places();
        if let Some(entry) = &outcome
            && !entry.as_ref().is_err_and(Error::is_transient)
        {
            let (size, limits) = ((self.size)(key, entry), state.limits);
            gone = state.kept.insert(key.clone(), entry.clone(), size, &limits);
            state.stats.evictions += gone.len() as u64;
        }
        let first = flight.outcome.set(outcome).is_ok();
        debug_assert!(first, "an attempt ends once");
        flight.changed.notify_all();
        drop(state);
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        // Every critical section leaves the state whole, so a panic elsewhere spoils nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> State<K, V> {
    /// Gives free places to those that queue.
    fn fill_places(&mut self) {
        while self.preparing < self.limits.preparing
            && let Some(flight) = self.queue.pop_front()
        {
            self.preparing += 1;
            flight.changed.notify_all();
        }
    }
}

fn sleep<'g, T>(changed: &Condvar, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// The duty to end an attempt. It is abandoned if the preparation panics.
struct Lead<'c, K: Hash + Eq + Clone, V: Clone> {
    cache: &'c PreparedCache<K, V>,
    key: &'c K,
    flight: &'c Flight<V>,
}

impl<K: Hash + Eq + Clone, V: Clone> Lead<'_, K, V> {
    fn finish(self, outcome: Result<V>) {
        self.cache.end(self.key, self.flight, Some(outcome));
        mem::forget(self);
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Drop for Lead<'_, K, V> {
    fn drop(&mut self) {
        self.cache.end(self.key, self.flight, None);
    }
}

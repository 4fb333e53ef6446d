//! Independent tries side by side, the best of them, and how a search is watched.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::Pair;
use crate::objective::Score;

/// How a search is run. What it finds depends on none of it, unless it is cancelled.
///
/// ```
/// use std::ops::ControlFlow;
/// use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Search};
/// let shapes = [[2, 2].as_slice(); 5];
/// let op = EinsumOp::concrete(&EinsumNotation::parse("ab,bc,cd,de,ea->")?, &shapes)?;
/// let op = op.with_plan(EinsumOptimize::RandomGreedy { trials: 100, seed: 1 })?;
/// let stop = |progress: &tenferro_einsum::Progress| match progress.done {
///     0..10 => ControlFlow::Continue(()),
///     _ => ControlFlow::Break(()),
/// };
/// let tree = op.tree_with(&shapes, &Search { progress: Some(&stop), ..Search::default() })?;
/// assert_eq!(tree.steps().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Search<'a> {
    /// The most threads of a long search; 0 stands for those of the machine. Short searches start none.
    pub threads: usize,
    /// Told of each try that is done, on any thread but one at a time; `Break` ends the search with the best so far.
    pub progress: Option<&'a Tell<'a>>,
}

/// What is told of the progress of a search.
pub type Tell<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The tries that are done.
    pub done: u32,
    /// All tries.
    pub total: u32,
    /// The flops of the best plan so far, over all slices.
    pub flops: f64,
    /// The elements of its largest result.
    pub peak: f64,
}

/// A search that is under way.
pub(crate) struct Watch<'a> {
    search: &'a Search<'a>,
    cancelled: AtomicBool,
}

impl<'a> Watch<'a> {
    pub fn new(search: &'a Search<'a>) -> Self {
        Self { search, cancelled: AtomicBool::new(false) }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    fn tell(&self, progress: &Progress) {
        if self.search.progress.is_some_and(|tell| tell(progress).is_break()) {
            self.cancelled.store(true, Relaxed);
        }
    }

    fn threads(&self) -> usize {
        match self.search.threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        }
    }
}

/// A plan and what it is worth.
pub(super) struct Found {
    pub score: Score,
    /// Predicted nanoseconds.
    pub time: f64,
    pub flops: f64,
    pub peak: f64,
    pub pairs: Vec<Pair>,
    /// The labels that are sliced.
    pub slices: Vec<u32>,
}

/// The best of the tries; of equals, the first. The first try is made in any case.
pub(super) fn best_of(
    tries: NonZero<u32>,
    watch: &Watch<'_>,
    is_long: bool,
    attempt: impl Fn(u32) -> Found + Sync,
) -> Found {
    let next = AtomicU32::new(0);
    let state = Mutex::new(State { done: 0, best: None });
    let work = || loop {
        let index = next.fetch_add(1, Relaxed);
        if index >= tries.get() || (index > 0 && watch.is_cancelled()) {
            return;
        }
        let found = attempt(index);
        let mut state = lock(&state);
        state.done += 1;
        if state.best.as_ref().is_none_or(|(first, best)| {
            found.score.better_than(best.score) || (found.score == best.score && index < *first)
        }) {
            state.best = Some((index, found));
        }
        if let Some((_, Found { flops, peak, .. })) = state.best {
            watch.tell(&Progress { done: state.done, total: tries.get(), flops, peak });
        }
    };
    let threads = if is_long { watch.threads().min(tries.get() as usize) } else { 1 };
    thread::scope(|scope| {
        // What a thread that the system refuses would do is left to the others.
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let best = lock(&state).best.take();
    // The loop above makes at least one try, in this thread or another.
    best.map_or_else(|| attempt(0), |(_, best)| best)
}

struct State {
    done: u32,
    /// The best try and its index.
    best: Option<(u32, Found)>,
}

/// A panic elsewhere leaves a whole state behind.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

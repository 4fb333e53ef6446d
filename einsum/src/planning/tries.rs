//! Independent tries side by side, the best of them, and how a search is watched.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
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
    pub progress: Option<&'a (dyn Fn(&Progress) -> ControlFlow<()> + Sync)>,
}

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

/// Whether a search has been cancelled.
pub(super) struct Watch<'a>(&'a AtomicBool);

impl Watch<'_> {
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// A plan and what it is worth.
pub(super) struct Found {
    pub score: Score,
    pub flops: f64,
    pub peak: f64,
    pub pairs: Vec<Pair>,
    /// The labels that are sliced.
    pub slices: Vec<u32>,
}

/// The best of the tries; of equals, the first. The first try is made in any case.
pub(super) fn best_of(
    tries: NonZero<u32>,
    search: &Search<'_>,
    is_long: bool,
    attempt: impl Fn(u32, &Watch<'_>) -> Found + Sync,
) -> Found {
    let cancelled = AtomicBool::new(false);
    let watch = Watch(&cancelled);
    let first = attempt(0, &watch);
    let state = Mutex::new((0, 0, first));
    let report = |state: &mut (u32, u32, Found)| {
        state.0 += 1;
        let progress = Progress { done: state.0, total: tries.get(), flops: state.2.flops, peak: state.2.peak };
        if search.progress.is_some_and(|tell| tell(&progress).is_break()) {
            cancelled.store(true, Relaxed);
        }
    };
    lock(&state, report);
    let next = AtomicU32::new(1);
    let work = || {
        while !watch.is_cancelled() {
            let index = next.fetch_add(1, Relaxed);
            if index >= tries.get() {
                return;
            }
            let found = attempt(index, &watch);
            lock(&state, |state| {
                let best = &state.2.score;
                if found.score.better_than(*best) || (found.score == *best && index < state.1) {
                    (state.1, state.2) = (index, found);
                }
                report(state);
            });
        }
    };
    let machine = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = match search.threads {
        _ if !is_long || tries.get() < 3 => 1,
        0 => machine(),
        threads => threads,
    };
    thread::scope(|scope| {
        // A thread that the system refuses is work for the others.
        for _ in 1..threads.min(tries.get() as usize - 1) {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).2
}

/// Runs `change` alone; a panic elsewhere leaves a whole state behind.
fn lock<T>(state: &Mutex<T>, change: impl FnOnce(&mut T)) {
    change(&mut state.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
}

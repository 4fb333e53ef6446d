//! Splitting work over threads, always by fixed blocks, so that no result depends on how many threads there are.

use std::sync::Arc;

use rayon::ThreadPool;

/// The threads that an engine computes on: a pool, or only the caller's.
#[derive(Clone, Default)]
pub(crate) struct Workers {
    pool: Option<Arc<ThreadPool>>,
}

impl Workers {
    pub fn new(pool: Arc<ThreadPool>) -> Self {
        Self { pool: (pool.current_num_threads() > 1).then_some(pool) }
    }

    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` where [`Split::join`] may use the pool, if it is worth waking it.
    pub fn run<R: Send>(&self, worth_splitting: bool, work: impl FnOnce(Split) -> R + Send) -> R {
        match &self.pool {
            Some(pool) if worth_splitting => pool.install(|| work(Split { parallel: true })),
            _ => work(Split { parallel: false }),
        }
    }
}

/// Leave to run two pieces of work at once, if the engine has the threads.
#[derive(Clone, Copy)]
pub(crate) struct Split {
    parallel: bool,
}

impl Split {
    /// Runs both.
    pub fn join<A: Send, B: Send>(self, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
        if self.parallel { rayon::join(first, second) } else { (first(), second()) }
    }

    /// The same leave, or none if the work is not worth splitting.
    pub fn only_if(self, worth: bool) -> Self {
        Self { parallel: self.parallel && worth }
    }

    /// Runs `work` for each block of `0..count`.
    pub fn for_each(self, count: usize, work: &(impl Fn(usize) + Sync)) {
        if self.parallel {
            self.halves(0, count, work);
        } else {
            (0..count).for_each(work);
        }
    }

    fn halves(self, first: usize, end: usize, work: &(impl Fn(usize) + Sync)) {
        match end - first {
            0 => {}
            1 => work(first),
            count => {
                let middle = first + count / 2;
                self.join(|| self.halves(first, middle, work), || self.halves(middle, end, work));
            }
        }
    }

    /// Cuts `data` before each position `start(i)` (ascending, `start(0) = 0`) and runs `work` on each of the `count`
    /// parts.
    pub fn for_each_part<D: Cut>(
        self,
        data: D,
        count: usize,
        start: &(impl Fn(usize) -> usize + Sync),
        work: &(impl Fn(usize, D) + Sync),
    ) {
        if count > 0 {
            self.parts(data, 0, count, start, work);
        }
    }

    fn parts<D: Cut>(
        self,
        data: D,
        first: usize,
        end: usize,
        start: &(impl Fn(usize) -> usize + Sync),
        work: &(impl Fn(usize, D) + Sync),
    ) {
        if end - first == 1 {
            return work(first, data);
        }
        let middle = first + (end - first) / 2;
        let (low, high) = data.cut(start(middle) - start(first));
        self.join(|| self.parts(low, first, middle, start, work), || self.parts(high, middle, end, start, work));
    }
}

/// Exclusively borrowed elements that can be cut in two.
pub(crate) trait Cut: Send + Sized {
    fn cut(self, position: usize) -> (Self, Self);
}

impl<T: Send> Cut for &mut [T] {
    fn cut(self, position: usize) -> (Self, Self) {
        self.split_at_mut(position)
    }
}

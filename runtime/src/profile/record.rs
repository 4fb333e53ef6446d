//! How runs reach the profiles that are on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::{CommandRecord, Profile, RunRecord};
use crate::execute::BoundStep;
use crate::prepare::Prepared;

/// The profiles of a runtime that are on.
#[derive(Default)]
pub(crate) struct Profiles {
    /// How many there are, for runs to ask at no cost.
    count: AtomicUsize,
    active: Mutex<Vec<Arc<Sink>>>,
}

/// Where a profile collects.
struct Sink {
    start: Instant,
    collected: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    runs: Vec<RunRecord>,
    threads: Vec<ThreadId>,
}

/// Ends a profile, also by a panic.
struct On<'p> {
    profiles: &'p Profiles,
    sink: Arc<Sink>,
}

impl Profiles {
    pub fn profile<R>(&self, body: impl FnOnce() -> R) -> (R, Profile) {
        let sink = Arc::new(Sink { start: Instant::now(), collected: Mutex::default() });
        lock(&self.active).push(Arc::clone(&sink));
        self.count.fetch_add(1, Ordering::Release);
        let on = On { profiles: self, sink };
        let result = body();
        let wall = on.sink.start.elapsed();
        let runs = std::mem::take(&mut lock(&on.sink.collected).runs);
        (result, Profile { runs, wall })
    }

    /// The recording of a run that begins now, if a profile is on.
    #[inline]
    pub fn recording(&self, prepared: &Prepared) -> Option<Box<Recording>> {
        if self.count.load(Ordering::Acquire) == 0 { None } else { self.begin(prepared) }
    }

    #[cold]
    fn begin(&self, prepared: &Prepared) -> Option<Box<Recording>> {
        let (sinks, prepared) = (lock(&self.active).clone(), prepared.clone());
        // The last may have ended meanwhile.
        let is_on = !sinks.is_empty();
        is_on.then(|| Box::new(Recording { sinks, prepared, start: Instant::now(), commands: Vec::new() }))
    }
}

impl Drop for On<'_> {
    fn drop(&mut self) {
        lock(&self.profiles.active).retain(|sink| !Arc::ptr_eq(sink, &self.sink));
        self.profiles.count.fetch_sub(1, Ordering::Release);
    }
}

/// A run that is profiled. It reaches the profiles when it is dropped, which is when the run ends,
/// well or not.
pub(crate) struct Recording {
    sinks: Vec<Arc<Sink>>,
    prepared: Prepared,
    start: Instant,
    commands: Vec<Recorded>,
}

/// A command as it is noted while its run goes on.
struct Recorded {
    position: u32,
    engine: usize,
    start: Instant,
    time: Duration,
    bytes: u64,
    flops: Option<f64>,
}

impl Recording {
    /// Notes a step that began at `start` and is done.
    pub fn command(&mut self, step: &BoundStep, start: Instant, bytes: u64) {
        let BoundStep { position, engine, flops, .. } = *step;
        self.commands.push(Recorded { position, engine, start, time: start.elapsed(), bytes, flops });
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let time = self.start.elapsed();
        let (plan, targets) = (&self.prepared.shared.plan, self.prepared.targets());
        for sink in &self.sinks {
            let since = |instant: Instant| instant.saturating_duration_since(sink.start);
            let command = |recorded: &Recorded| CommandRecord {
                name: plan.steps[recorded.position as usize].work.name().to_owned(),
                engine: targets[recorded.engine].engine_id.clone(),
                start: since(recorded.start),
                time: recorded.time,
                bytes: recorded.bytes,
                flops: recorded.flops,
            };
            let commands = self.commands.iter().map(command).collect();
            let program = self.prepared.program().name().to_owned();
            let mut collected = lock(&sink.collected);
            let thread = collected.thread(thread::current().id());
            collected.runs.push(RunRecord { program, thread, start: since(self.start), time, commands });
        }
    }
}

impl Collected {
    /// The number of a thread.
    fn thread(&mut self, id: ThreadId) -> usize {
        self.threads.iter().position(|&known| known == id).unwrap_or_else(|| {
            self.threads.push(id);
            self.threads.len() - 1
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The lists are whole whenever a panic could leave them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Many threads at one small cache.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, Error as CoreError, Tensor, TensorView};
use tenferro_runtime::reference::ReferenceEngine;
use tenferro_runtime::{
    CacheLimits, Command, Engine, EngineRegistration, EngineTarget, Error, Preparation, PrepareRequest, Provider,
    Result, Runtime,
};

use super::support::*;

const THREADS: u64 = 8;
const PREPARES: u64 = 10_000;
const KEYS: usize = 200;
const LIMITS: CacheLimits = CacheLimits { entries: 32, bytes: 1 << 20, preparing: 3, queued: 64 };

/// A command that knows the size it was prepared for.
#[derive(Debug)]
struct Sized(String);

impl Command for Sized {
    fn execute(&self, _: &mut dyn Engine, _: &[TensorView<'_>], _: &mut [&mut Tensor]) -> Result<()> {
        Ok(())
    }
    fn name(&self) -> &str {
        &self.0
    }
}

/// Prepares one operation for each size; some sizes fail always, some now and then, in both ways.
#[derive(Default)]
struct Tracker {
    calls: AtomicU64,
    /// Failures that no entry is kept of.
    passing: AtomicU64,
}

struct Tracking(Arc<Tracker>);

impl Provider for Tracking {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let call = self.0.calls.fetch_add(1, Ordering::Relaxed);
        request.with(request.extents(), || {
            let size = request.input_shape(0).unwrap()[0];
            thread::yield_now();
            let now_and_then = call.is_multiple_of(3);
            match size % 10 {
                3 => return Err(refusal(size)),
                5 if now_and_then => {
                    self.0.passing.fetch_add(1, Ordering::Relaxed);
                    return Err(Error::Core(CoreError::OutOfMemory { bytes: size }));
                }
                7 if now_and_then => {
                    self.0.passing.fetch_add(1, Ordering::Relaxed);
                    // Without the report of a panic that nobody expects.
                    resume_unwind(Box::new("now and then"));
                }
                _ => {}
            }
            Ok(Preparation::command(Sized(format!("exp of {size}"))))
        })
    }
}

fn refusal(size: usize) -> Error {
    Error::Execution { op: "exp".to_owned(), message: format!("not of {size}") }
}

fn work(runtime: &Runtime, target: &EngineTarget, program: &Arc<SemanticProgram>, seed: u64) {
    let mut state = seed;
    for i in 0..PREPARES / THREADS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Half of the calls are for few keys, so that threads meet.
        let random = (state >> 33) as usize;
        let size = 1 + if random.is_multiple_of(2) { random / 2 % 10 } else { random / 2 % KEYS };
        let prepared = runtime.prepare_for_shapes(program, &[(DType::F64, &[size])], std::slice::from_ref(target));
        match prepared {
            Ok(prepared) => {
                assert_eq!(prepared.commands().collect::<Vec<_>>(), [format!("exp of {size}")]);
                assert_ne!(size % 10, 3);
            }
            Err(Error::Core(CoreError::OutOfMemory { bytes })) => assert_eq!((bytes, size % 10), (size, 5)),
            Err(Error::ProviderPanic { op, message, .. }) => {
                assert_eq!((&*op, &*message, size % 10), ("exp", "now and then", 7));
            }
            Err(error) => {
                assert_eq!(size % 10, 3, "{error}");
                assert_eq!(error.to_string(), refusal(size).to_string());
            }
        }
        if i % 250 == 0 {
            // Another thread may have been faster.
            match runtime.reconfigure(Ok) {
                Ok(_) | Err(Error::ConcurrentReconfiguration) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let stats = runtime.prepared_cache_stats();
        assert!(stats.entries <= LIMITS.entries && stats.bytes <= LIMITS.bytes, "{stats:?}");
    }
}

fn stress() {
    let tracker = Arc::new(Tracker::default());
    let provider = Arc::new(Tracking(Arc::clone(&tracker)));
    let registration = EngineRegistration::new::<ReferenceEngine>("demo.tracked.v1".into(), provider);
    let target = registration.target().clone();
    let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
    runtime.set_prepared_cache_limits(LIMITS).unwrap();
    let program = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (runtime, target, program) = (&runtime, &target, &program);
            scope.spawn(move || work(runtime, target, program, seed));
        }
    });
    let stats = runtime.prepared_cache_stats();
    // Each call looks up the requirements, and then what was prepared for the size.
    assert_eq!(stats.hits + stats.negative_hits + stats.misses + stats.waits, 2 * PREPARES, "{stats:?}");
    // What was missing was prepared, once: each preparation left an entry of its own.
    assert_eq!(stats.misses, stats.preparations, "{stats:?}");
    assert_eq!(stats.preparations, tracker.calls.load(Ordering::Relaxed), "{stats:?}");
    let passing = tracker.passing.load(Ordering::Relaxed);
    assert_eq!(stats.preparations, stats.entries as u64 + stats.evictions + passing, "{stats:?}");
    assert!(stats.negative_hits > 0 && passing > 0 && stats.evictions > 0 && runtime.epoch() > 1, "{stats:?}");
}

#[test]
fn nothing_is_prepared_twice_and_nobody_sleeps_for_ever() {
    let (done, finished) = channel();
    let stress = thread::spawn(move || {
        stress();
        // Whoever waits for this is gone only after the time below.
        let _ = done.send(());
    });
    // A deadlock fails the test instead of hanging it; far beyond what it takes.
    if finished.recv_timeout(Duration::from_secs(300)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("threads wait for each other");
    }
    stress.join().unwrap();
}

//! Runtimes and prepared programs in several threads, each with its engine.

use std::thread;

use tenferro_runtime::reference::ReferenceEngine;
use tenferro_runtime::{Engine, Prepared, Runtime};

use super::support::*;

fn shareable<T: Send + Sync + Clone + 'static>() {}

#[test]
fn types_are_shareable() {
    shareable::<Runtime>();
    shareable::<Prepared>();
}

#[test]
fn a_prepared_program_runs_in_many_threads() {
    let runtime = runtime();
    let program = sum_of_squares();
    let prepared = runtime.prepare(&program, &reads(&[vector(&[1.0])]), &[target()]).unwrap();
    thread::scope(|scope| {
        for t in 0..4 {
            let (runtime, prepared) = (&runtime, &prepared);
            scope.spawn(move || {
                let mut engine = ReferenceEngine::new();
                for n in 1..50 {
                    let n = n + t;
                    let x = [counting(&[n])];
                    let outputs = runtime.run(&mut [&mut engine], prepared, &reads(&x)).unwrap();
                    assert_eq!(values(&outputs[0]), [(1..=n).map(|i| (i * i) as f64).sum::<f64>()]);
                }
            });
        }
    });
}

#[test]
fn many_threads_prepare() {
    let runtime = runtime();
    thread::scope(|scope| {
        for _ in 0..4 {
            let runtime = runtime.clone();
            scope.spawn(move || {
                let mut engine = ReferenceEngine::new();
                for m in 1..20 {
                    let inputs = [counting(&[m, 2]), counting(&[2, 3])];
                    let prepared = runtime.prepare(product(), &reads(&inputs), &[engine.target()]).unwrap();
                    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&inputs)).unwrap();
                    assert_eq!(outputs[0].shape(), [m, 3]);
                }
            });
        }
    });
    let stats = runtime.prepared_cache_stats();
    assert_eq!(stats.entries, 20);
    // Twenty entries, each prepared by whoever came first.
    assert_eq!((stats.misses, stats.preparations), (20, 20));
    assert_eq!(stats.hits + stats.misses + stats.waits, 2 * 4 * 19);
}

#[test]
fn warm_up_is_a_run() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let x = [vector(&[1.0])];
    let prepared = runtime.prepare(sum_of_squares(), &reads(&x), &[engine.target()]).unwrap();
    runtime.warm_up(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    let error = runtime.warm_up(&mut [], &prepared, &reads(&x)).unwrap_err();
    assert!(error.to_string().starts_with("Runtime::warm_up: argument `engines`"), "{error}");
}

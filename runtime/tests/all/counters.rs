//! What the cache counts, in the experiments of the described system by their numbers.

use tenferro_core::{DType, TensorRead};
use tenferro_runtime::reference::ReferenceEngine;
use tenferro_runtime::{CacheLimits, Engine, Error};

use super::support::*;

fn line(runtime: &tenferro_runtime::Runtime) -> String {
    runtime.prepared_cache_stats().to_string()
}

#[test]
fn experiment_2_a_program_of_equal_structure_hits() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = sum_of_squares();
    let inputs = [vector(&[1.0, 2.0, 3.0])];
    let inputs = reads(&inputs);
    assert_eq!(line(&runtime), "entries=0 hits=0 misses=0 preparations=0 negative_hits=0");
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    assert_eq!(line(&runtime), "entries=2 hits=0 misses=2 preparations=2 negative_hits=0");
    for _ in 0..2 {
        let outputs = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap();
        assert_eq!(values(&outputs[0]), [14.0]);
    }
    assert_eq!(line(&runtime), "entries=2 hits=0 misses=2 preparations=2 negative_hits=0");
    runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    assert_eq!(line(&runtime), "entries=2 hits=2 misses=2 preparations=2 negative_hits=0");

    let other = sum_of_squares();
    let data = [vector(&[5.0, 12.0, 5.0])];
    let prepared = runtime.prepare(&other, &reads(&data), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&data)).unwrap();
    assert_eq!(values(&outputs[0]), [194.0]);
    assert_eq!(line(&runtime), "entries=2 hits=4 misses=2 preparations=2 negative_hits=0");
}

#[test]
fn experiment_4_elementwise_and_reductions_fit_every_size() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = sum_of_squares();
    for (i, n) in [3, 5, 1000].into_iter().enumerate() {
        let x = [counting(&[n])];
        let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
        let expected = (1..=n).map(|i| (i * i) as f64).sum::<f64>();
        let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
        assert_eq!(values(&outputs[0]), [expected]);
        assert_eq!(line(&runtime), format!("entries=2 hits={} misses=2 preparations=2 negative_hits=0", 2 * i));
    }
    // What was prepared for 3 runs with 1000.
    let prepared = runtime.prepare_for_shapes(&program, &[(DType::F64, &[3])], &[engine.target()]).unwrap();
    let x = [counting(&[1000])];
    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    assert_eq!(values(&outputs[0]), [333_833_500.0]);
}

#[test]
fn experiment_4b_products_are_prepared_for_each_shape() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = product();
    let counts = [
        ([2, 3, 4], "entries=2 hits=0 misses=2 preparations=2 negative_hits=0"),
        ([2, 3, 4], "entries=2 hits=2 misses=2 preparations=2 negative_hits=0"),
        ([5, 3, 4], "entries=3 hits=3 misses=3 preparations=3 negative_hits=0"),
        ([5, 7, 4], "entries=4 hits=4 misses=4 preparations=4 negative_hits=0"),
    ];
    let mut first = None;
    for ([m, k, n], expected) in counts {
        let inputs = [counting(&[m, k]), counting(&[k, n])];
        let prepared = runtime.prepare(&program, &reads(&inputs), &[engine.target()]).unwrap();
        let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&inputs)).unwrap();
        assert_eq!(outputs[0].shape(), [m, n]);
        assert_eq!(line(&runtime), expected);
        first.get_or_insert(prepared);
    }
    let inputs = [counting(&[5, 7]), counting(&[7, 4])];
    let error = runtime.run(&mut [&mut engine], &first.unwrap(), &reads(&inputs)).unwrap_err();
    assert!(matches!(error, Error::NotSpecialized { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::run: the program was prepared for size `m` = 2, size `k` = 3, size `n` = 4, input `a` column-major, \
         input `b` column-major, and these inputs have size `m` = 5, size `k` = 7, size `n` = 4, \
         input `a` column-major, input `b` column-major: prepare again with them"
    );
}

#[test]
fn the_layout_class_of_a_product_is_part_of_its_specialisation() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = product();
    let (a, b) = (counting(&[3, 2]), counting(&[3, 4]));
    let turned = [TensorRead::from(a.view().transpose(&[1, 0]).unwrap()), TensorRead::from(&b)];
    let straight = a.reshape(&[2, 3]).unwrap();
    let straight = [TensorRead::from(&straight), TensorRead::from(&b)];
    let prepared = runtime.prepare(&program, &straight, &[engine.target()]).unwrap();
    assert!(runtime.run(&mut [&mut engine], &prepared, &straight).is_ok());
    let error = runtime.run(&mut [&mut engine], &prepared, &turned).unwrap_err();
    assert!(error.to_string().contains("input `a` strided"), "{error}");
    let prepared = runtime.prepare(&program, &turned, &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &prepared, &turned).unwrap();
    assert_eq!(values(&outputs[0])[..2], [14.0, 32.0]);
    assert_eq!(runtime.prepared_cache_stats().entries, 3);
}

#[test]
fn experiment_7_another_epoch_prepares_anew() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = sum_of_squares();
    let inputs = [vector(&[1.0, 2.0, 3.0])];
    let inputs = reads(&inputs);
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();

    let error = super::support::runtime().run(&mut [&mut engine], &prepared, &inputs).unwrap_err();
    assert!(matches!(error, Error::ForeignRuntime { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::run: the program was prepared by another runtime; prepare it with this one"
    );

    assert_eq!(runtime.epoch(), 1);
    assert_eq!(runtime.reconfigure(Ok).unwrap(), 2);
    let error = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap_err();
    assert!(matches!(error, Error::StaleEpoch { prepared: 1, current: 2, .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::run: the program was prepared in epoch 1, the runtime is in epoch 2; \
         it was reconfigured since: prepare again"
    );
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    assert_eq!(line(&runtime), "entries=4 hits=0 misses=4 preparations=4 negative_hits=0");
    assert!(runtime.run(&mut [&mut engine], &prepared, &inputs).is_ok());
}

#[test]
fn failures_are_kept() {
    let runtime =
        tenferro_runtime::Runtime::builder().register_engine(tenferro_runtime::reference::registration()).unwrap();
    let runtime = runtime.build().unwrap();
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let first = runtime.prepare(product(), &reads(&inputs), &[target()]).unwrap_err();
    assert_eq!(line(&runtime), "entries=1 hits=0 misses=1 preparations=1 negative_hits=0");
    let second = runtime.prepare(product(), &reads(&inputs), &[target()]).unwrap_err();
    assert_eq!(first.to_string(), second.to_string());
    assert_eq!(line(&runtime), "entries=1 hits=0 misses=1 preparations=1 negative_hits=1");
    runtime.clear_prepared_cache();
    assert_eq!(runtime.prepared_cache_stats().entries, 0);
}

#[test]
fn the_cache_is_bounded() {
    let runtime = runtime();
    let program = product();
    for m in 1..=200 {
        runtime.prepare_for_shapes(&program, &[(DType::F64, &[m, 2]), (DType::F64, &[2, 2])], &[target()]).unwrap();
    }
    let stats = runtime.prepared_cache_stats();
    assert_eq!((stats.entries, stats.misses, stats.evictions), (128, 201, 73));
    // The redirect is used each time, so it is never the oldest.
    assert_eq!(stats.hits, 199);
}

#[test]
fn new_limits_hold_at_once() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = product();
    let shapes = |m: usize| [(DType::F64, [m, 2]), (DType::F64, [2, 2])];
    let prepare = |m: usize| {
        let shapes = shapes(m);
        let shapes: Vec<_> = shapes.iter().map(|(dtype, shape)| (*dtype, shape.as_slice())).collect();
        runtime.prepare_for_shapes(&program, &shapes, &[target()]).unwrap()
    };
    (1..=20).for_each(|m| drop(prepare(m)));
    let full = runtime.prepared_cache_stats();
    assert_eq!(full.entries, 21);
    runtime.set_prepared_cache_limits(CacheLimits { entries: 5, ..CacheLimits::default() }).unwrap();
    let few = runtime.prepared_cache_stats();
    assert_eq!((few.entries, few.evictions), (5, 16));
    assert!(0 < few.bytes && few.bytes < full.bytes);
    // The four last products and the redirect are still there.
    let misses = few.misses;
    (17..=20).for_each(|m| drop(prepare(m)));
    assert_eq!(runtime.prepared_cache_stats().misses, misses);

    // Less than anything needs: all is prepared each time, and runs as ever.
    runtime.set_prepared_cache_limits(CacheLimits { bytes: 1, ..CacheLimits::default() }).unwrap();
    assert_eq!(runtime.prepared_cache_stats().entries, 0);
    let inputs = [counting(&[3, 2]), counting(&[2, 2])];
    let before = runtime.prepared_cache_stats();
    for _ in 0..2 {
        let outputs = runtime.run(&mut [&mut engine], &prepare(3), &reads(&inputs)).unwrap();
        assert_eq!(values(&outputs[0])[0], 9.0);
    }
    let after = runtime.prepared_cache_stats();
    assert_eq!((after.entries, after.preparations - before.preparations), (0, 4));
}

/// Larger programs count for more bytes, and a failure for few.
#[test]
fn bytes_grow_with_the_program() {
    let bytes = |nodes: usize| {
        let runtime = runtime();
        let program = program(&[("x", &["n"])], |b, v, _| vec![(0..nodes).fold(v[0], |y, _| b.sin(y).unwrap())]);
        runtime.prepare_for_shapes(&program, &[(DType::F64, &[3])], &[target()]).unwrap();
        runtime.prepared_cache_stats().bytes
    };
    let (one, ten, hundred) = (bytes(1), bytes(10), bytes(100));
    assert!(one < ten && 5 * (ten - one) < hundred - ten, "{one} {ten} {hundred}");
}

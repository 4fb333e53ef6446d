//! The buffer plan, seen by an engine that counts.

use std::sync::Arc;

use tenferro_core::{DType, Tensor, TensorRead, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, ExtensionCacheStore, Preparation,
    PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.counting.v1");

#[derive(Default)]
struct Counting {
    inner: ReferenceEngine,
    allocated: usize,
    recycled: usize,
    live: isize,
    peak: isize,
}

impl Engine for Counting {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        self.allocated += 1;
        self.live += 1;
        self.peak = self.peak.max(self.live);
        self.inner.allocate(dtype, shape)
    }
    fn recycle(&mut self, tensor: Tensor) {
        // A result that was shared with another is not the engine's to keep.
        if tensor.is_unique() {
            self.recycled += 1;
            self.live -= 1;
        }
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.inner.caches()
    }
}

/// The reference engine's kernels.
struct Borrowed(EngineRegistration);

impl Provider for Borrowed {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        self.0.provider().prepare(request)
    }
}

fn counting_runtime() -> Runtime {
    let provider = Arc::new(Borrowed(reference::registration()));
    let registration = EngineRegistration::new::<Counting>(ID, provider);
    Runtime::builder().register_engine(registration).unwrap().build().unwrap()
}

#[test]
fn a_chain_needs_two_buffers() {
    let program = program(&[("x", &["n"])], |b, v, _| {
        let mut y = v[0];
        for _ in 0..40 {
            y = b.sin(y).unwrap();
        }
        vec![b.sum(y, &[0]).unwrap()]
    });
    let (runtime, mut engine) = (counting_runtime(), Counting::default());
    let x = [vector(&[0.5, 1.0])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    let expected: f64 = [0.5, 1.0].map(|x| (0..40).fold(x, |y: f64, _| y.sin())).iter().sum();
    assert_eq!(values(&outputs[0]), [expected]);
    // Two for the chain, one for the result, which stays out.
    assert_eq!((engine.allocated, engine.recycled), (3, 2));
}

#[test]
fn dead_values_go_back_at_their_last_use() {
    // Shapes that differ: no reuse within the program, so each must go back before the next.
    let program = program(&[("x", &["n", "m"])], |b, v, _| {
        let a = b.exp(v[0]).unwrap();
        let c = b.sum(a, &[0]).unwrap();
        let d = b.sin(c).unwrap();
        vec![b.sum(d, &[0]).unwrap()]
    });
    let (runtime, mut engine) = (counting_runtime(), Counting::default());
    let x = [counting(&[2, 3])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    assert_eq!((engine.allocated, engine.recycled, engine.peak), (4, 3, 2));
}

#[test]
fn a_view_keeps_its_buffer() {
    let program = program(&[("x", &["n", "n"])], |b, v, _| {
        let a = b.add(v[0], v[0]).unwrap();
        let turned = b.transpose(a, &[1, 0]).unwrap();
        let mut y = v[0];
        for _ in 0..3 {
            y = b.sin(y).unwrap();
        }
        vec![b.sub(turned, y).unwrap()]
    });
    let (runtime, mut engine) = (counting_runtime(), Counting::default());
    let x = [counting(&[2, 2])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    let sin3 = |x: f64| x.sin().sin().sin();
    assert_eq!(values(&outputs[0]), [2.0 - sin3(1.0), 6.0 - sin3(2.0), 4.0 - sin3(3.0), 8.0 - sin3(4.0)]);
    assert_eq!(engine.allocated - engine.recycled, 1);
}

#[test]
fn run_into_allocates_no_result() {
    let program = program(&[("x", &["n"])], |b, v, _| {
        let a = b.exp(v[0]).unwrap();
        vec![b.add(a, a).unwrap()]
    });
    let (runtime, mut engine) = (counting_runtime(), Counting::default());
    let x = [vector(&[0.5, 1.0])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    let mut y = Tensor::zeros(DType::F64, [2]).unwrap();
    runtime.run_into(&mut [&mut engine], &prepared, &reads(&x), &mut [&mut y]).unwrap();
    assert_eq!((engine.allocated, engine.recycled), (1, 1));
}

/// A random program over square matrices, returning all its values or the last few.
fn random(seed: u64, all: bool) -> Arc<tenferro_core::program::SemanticProgram> {
    let mut state = seed;
    let mut draw = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    program(&[("x", &["n", "n"]), ("y", &["n", "n"])], |b, v, s| {
        let n = &s[0];
        let mut values = v.to_vec();
        for _ in 0..30 {
            let recent = values.len().min(4);
            let a = values[values.len() - 1 - draw(recent)];
            let c = values[draw(values.len())];
            values.push(match draw(7) {
                0 => b.add(a, c).unwrap(),
                1 => b.sub(a, c).unwrap(),
                2 => b.sin(a).unwrap(),
                3 => b.transpose(a, &[1, 0]).unwrap(),
                4 => {
                    let flat = b.reshape(a, &[n * n]).unwrap();
                    let sin = b.sin(flat).unwrap();
                    b.reshape(sin, &[n.clone(), n.clone()]).unwrap()
                }
                5 => {
                    let flat = b.reshape(a, &[n * n]).unwrap();
                    b.reshape(flat, &[n.clone(), n.clone()]).unwrap()
                }
                _ => {
                    let total = b.sum(a, &[0]).unwrap();
                    let sin = b.sin(total).unwrap();
                    b.broadcast_in_dim(sin, &[n.clone(), n.clone()], &[1]).unwrap()
                }
            });
        }
        values.split_off(if all { 0 } else { values.len() - 3 })
    })
}

#[test]
fn sharing_buffers_changes_no_result() {
    let (x, y) = (counting(&[3, 3]), counting(&[3, 3]));
    let inputs = [TensorRead::from(x.view().transpose(&[1, 0]).unwrap()), TensorRead::from(&y)];
    for seed in 0..100 {
        let (runtime, mut engine) = (counting_runtime(), Counting::default());
        let results = [true, false].map(|all| {
            let prepared = runtime.prepare(random(seed, all), &inputs, &[engine.target()]).unwrap();
            let mut outputs = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap();
            let last = outputs.len() - 3;
            outputs.split_off(last).iter().map(values).collect::<Vec<_>>()
        });
        assert_eq!(results[0], results[1], "seed {seed}");
        let mut into = [(); 3].map(|()| Tensor::zeros(DType::F64, [3, 3]).unwrap());
        let prepared = runtime.prepare(random(seed, false), &inputs, &[engine.target()]).unwrap();
        let mut outputs: Vec<_> = into.iter_mut().collect();
        runtime.run_into(&mut [&mut engine], &prepared, &inputs, &mut outputs).unwrap();
        let into: Vec<Vec<f64>> = into.iter().map(|tensor| tensor.to_vec_col_major().unwrap()).collect();
        assert_eq!(into, results[0], "seed {seed}");
    }
}

//! The buffer plan, seen by an engine that counts.

use std::sync::Arc;

use tenferro_core::{DType, Tensor, TensorView};
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
    live: usize,
    peak: usize,
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
        assert!(tensor.is_unique(), "a recycled tensor is nobody else's");
        self.recycled += 1;
        self.live -= 1;
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

//! Programs over two engines: an operation goes to the first target that has it.

use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::{DType, Tensor, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    AllocationDomain, ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error, ExtensionCacheStore,
    Preparation, PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.adder.v1");

/// An engine that can only add.
struct Adder {
    inner: ReferenceEngine,
    domain: Option<AllocationDomain>,
    allocated: usize,
}

impl Adder {
    fn new(domain: Option<AllocationDomain>) -> Self {
        Self { inner: ReferenceEngine::new(), domain, allocated: 0 }
    }

    fn registration(domain: Option<AllocationDomain>) -> EngineRegistration {
        let registration = EngineRegistration::new::<Self>(ID, Arc::new(Additions));
        match domain {
            Some(domain) => registration.in_domain(domain),
            None => registration,
        }
    }
}

impl Engine for Adder {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ID, context: ContextIdentity::of::<Self>(), allocation_domain: self.domain }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        self.allocated += 1;
        self.inner.allocate(dtype, shape)
    }
    fn recycle(&mut self, tensor: Tensor) {
        self.inner.recycle(tensor);
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.inner.caches()
    }
}

struct Additions;

impl Provider for Additions {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        match request.core_op() {
            Some(CoreOp::Add) => reference::registration().provider().prepare(request),
            _ => Ok(Preparation::Unsupported),
        }
    }
}

fn program_of_three() -> Arc<tenferro_core::program::SemanticProgram> {
    program(&[("x", &["n"])], |b, v, _| {
        let double = b.add(v[0], v[0]).unwrap();
        let exp = b.exp(double).unwrap();
        vec![b.add(exp, double).unwrap()]
    })
}

fn runtime_of_two(domain: Option<AllocationDomain>) -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.register_engine(Adder::registration(domain)).unwrap().build().unwrap()
}

#[test]
fn each_operation_goes_to_the_first_engine_that_has_it() {
    let runtime = runtime_of_two(None);
    let (mut adder, mut engine) = (Adder::new(None), ReferenceEngine::new());
    let x = [vector(&[0.5])];
    let targets = [adder.target(), engine.target()];
    let prepared = runtime.prepare(program_of_three(), &reads(&x), &targets).unwrap();
    let outputs = runtime.run(&mut [&mut adder, &mut engine], &prepared, &reads(&x)).unwrap();
    assert_eq!(values(&outputs[0]), [1.0_f64.exp() + 1.0]);
    assert_eq!(adder.allocated, 2);
    // The order of engines is that of the targets.
    let error = runtime.run(&mut [&mut engine, &mut adder], &prepared, &reads(&x)).unwrap_err();
    assert!(error.to_string().contains("argument `engines`: engine 0"), "{error}");
    // The order of the targets is part of the key.
    let reversed = [engine.target(), adder.target()];
    let prepared = runtime.prepare(program_of_three(), &reads(&x), &reversed).unwrap();
    adder.allocated = 0;
    runtime.run(&mut [&mut engine, &mut adder], &prepared, &reads(&x)).unwrap();
    assert_eq!(adder.allocated, 0);
    assert_eq!(runtime.prepared_cache_stats().entries, 4);
}

#[test]
fn values_do_not_cross_between_memories() {
    let domain = Some(AllocationDomain(1));
    let runtime = runtime_of_two(domain);
    let x = [vector(&[0.5])];
    let targets = [Adder::new(domain).target(), target()];
    let error = runtime.prepare(program_of_three(), &reads(&x), &targets).unwrap_err();
    assert!(matches!(error, Error::NoTransfer { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `exp` on \"tenferro.reference.v1\" reads a value of \"demo.adder.v1\", \
         whose memory it does not share"
    );
}

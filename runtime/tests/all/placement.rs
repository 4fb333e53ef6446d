//! Programs over two engines: which of them does what, and what they are asked for.

use std::sync::Arc;

use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::{DType, DTypeSet, Tensor, TensorRead, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error, ExtensionCacheStore, Ingress,
    Placement, Preparation, PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.adder.v1");

/// An engine that can only add.
struct Adder {
    inner: ReferenceEngine,
    allocated: usize,
}

impl Adder {
    fn new() -> Self {
        Self { inner: ReferenceEngine::new(), allocated: 0 }
    }

    fn registration() -> EngineRegistration {
        EngineRegistration::new::<Self>(ID, Arc::new(Additions))
    }
}

impl Engine for Adder {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
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

fn runtime_of_two() -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.register_engine(Adder::registration()).unwrap().build().unwrap()
}

#[test]
fn each_operation_goes_to_the_first_engine_that_has_it() {
    let runtime = runtime_of_two();
    let (mut adder, mut engine) = (Adder::new(), ReferenceEngine::new());
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

/// The engines of the commands of the program of three, in order.
fn engines_of(placement: Placement, targets: &[EngineTarget]) -> Result<String> {
    let builder = Runtime::builder().register_engine(reference::registration())?;
    let runtime = builder.register_engine(Adder::registration())?.with_placement(placement).build()?;
    let text = runtime.prepare(program_of_three(), &reads(&[vector(&[0.5])]), targets)?.explain().to_string();
    Ok(text.lines().filter_map(|line| line.split("; engine ").nth(1)).map(|rest| &rest[..1]).collect())
}

#[test]
fn what_is_pinned_goes_to_its_engine() {
    let targets = [Adder::new().target(), target()];
    assert_eq!(engines_of(Placement::default(), &targets).unwrap(), "010");
    assert_eq!(engines_of(Placement::default().pin("add", reference::ENGINE_ID), &targets).unwrap(), "111");
    let last = Placement::default().pin("add", reference::ENGINE_ID).pin("add", ID);
    assert_eq!(last.pinned("add"), Some(&ID));
    let reversed = [target(), Adder::new().target()];
    assert_eq!(engines_of(last, &reversed).unwrap(), "101");
}

#[test]
fn a_pin_that_cannot_be_met_is_refused() {
    let targets = [Adder::new().target(), target()];
    let refused = |placement: Placement, targets: &[EngineTarget]| engines_of(placement, targets).unwrap_err();

    let error = refused(Placement::default().pin("exp", ID), &targets);
    assert!(matches!(error, Error::Pinned { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `exp` is pinned to engine \"demo.adder.v1\", which does not support it on (f64 of rank 1)"
    );
    let error = refused(Placement::default().pin("exp", ID), &targets[1..]);
    assert!(matches!(error, Error::Pinned { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `exp` is pinned to engine \"demo.adder.v1\", which is no target; \
         the targets are engine \"tenferro.reference.v1\""
    );
    let error = refused(Placement::default().pin("exp", "demo.absent.v1".into()), &targets);
    assert!(matches!(error, Error::UnregisteredEngine { call: "RuntimeBuilder::build", .. }));

    for name in ["transpose", "reshape", "constant", "size", "stop_gradient", "extract_diag"] {
        let error = refused(Placement::default().pin(name, ID), &targets);
        assert_eq!(
            error.to_string(),
            format!(
                "RuntimeBuilder::build: argument `placement`: pins `{name}`, which takes no command and so no engine"
            )
        );
    }

    let family = "tenferro.einsum.v1";
    let placement = Placement::default().pin(family, ID);
    let runtime = runtime_of_two();
    runtime
        .reconfigure(|builder| Ok(builder.install_extension_module(reference::module())?.with_placement(placement)))
        .unwrap();
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let error = runtime.prepare(product(), &reads(&inputs), &targets).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `tenferro.einsum.v1` is pinned to engine \"demo.adder.v1\", which has no module of the \
         family; install one with `RuntimeBuilder::install_extension_module`"
    );
}

#[test]
fn a_placement_is_part_of_the_epoch() {
    let runtime = runtime_of_two();
    let targets = [Adder::new().target(), target()];
    let x = [vector(&[0.5])];
    let prepared = runtime.prepare(program_of_three(), &reads(&x), &targets).unwrap();
    let pinned = Placement::default().pin("add", reference::ENGINE_ID);
    assert_eq!(runtime.reconfigure(|builder| Ok(builder.with_placement(pinned))).unwrap(), 2);
    let (mut adder, mut engine) = (Adder::new(), ReferenceEngine::new());
    let error = runtime.run(&mut [&mut adder, &mut engine], &prepared, &reads(&x)).unwrap_err();
    assert!(matches!(error, Error::StaleEpoch { .. }));
    let prepared = runtime.prepare(program_of_three(), &reads(&x), &targets).unwrap();
    let outputs = runtime.run(&mut [&mut adder, &mut engine], &prepared, &reads(&x)).unwrap();
    assert_eq!((values(&outputs[0]), adder.allocated), (vec![1.0_f64.exp() + 1.0], 0));
    let absent = Placement::default().pin("add", "demo.absent.v1".into());
    let error = runtime.reconfigure(|builder| Ok(builder.with_placement(absent))).unwrap_err();
    assert!(matches!(error, Error::UnregisteredEngine { call: "Runtime::reconfigure", .. }));
    assert_eq!(runtime.epoch(), 2);
}

#[test]
fn a_provider_is_asked_for_its_classes_only() {
    let only = Adder::registration().with_classes(&[OpClass::Reduction]);
    assert!(only.has_class(OpClass::Reduction) && !only.has_class(OpClass::Elementwise));
    assert_ne!(only, Adder::registration());
    let target = only.target().clone();
    let runtime = Runtime::builder().register_engine(only).unwrap().build().unwrap();
    let doubled = program(&[("x", &["n"])], |b, v, _| vec![b.add(v[0], v[0]).unwrap()]);
    let error = runtime.prepare(&doubled, &reads(&[vector(&[0.5])]), &[target]).unwrap_err();
    assert!(matches!(error, Error::UnsupportedOp { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `add` on (f64 of rank 1, f64 of rank 1) is supported by none of engine \"demo.adder.v1\""
    );
}

#[test]
fn inputs_are_what_engines_admit() {
    let runtime_with = |ingress: Ingress| {
        let registration = Adder::registration().with_ingress(ingress);
        assert_eq!(registration.ingress(), ingress);
        assert_eq!(registration == Adder::registration(), ingress == Ingress::default());
        Runtime::builder().register_engine(registration).unwrap().build().unwrap()
    };
    let sum = program(&[("x", &["n", "m"])], |b, v, _| {
        let turned = b.transpose(v[0], &[1, 0]).unwrap();
        vec![b.add(turned, turned).unwrap(), v[0]]
    });
    let mut adder = Adder::new();
    let x = counting(&[2, 3]);
    let turned = x.view().transpose(&[1, 0]).unwrap();

    let runtime = runtime_with(Ingress { strided: false, ..Ingress::default() });
    let prepared = runtime.prepare(&sum, &[TensorRead::from(&x)], &[adder.target()]).unwrap();
    runtime.run(&mut [&mut adder], &prepared, &[TensorRead::from(&x)]).unwrap();
    let strided = [TensorRead::from(turned)];
    for (call, error) in [
        ("Runtime::prepare", runtime.prepare(&sum, &strided, &[adder.target()]).err().unwrap()),
        ("Runtime::run", runtime.run(&mut [&mut adder], &prepared, &strided).unwrap_err()),
    ] {
        assert!(matches!(error, Error::Ingress { .. }));
        assert_eq!(
            error.to_string(),
            format!(
                "{call}: input `x`: engine \"demo.adder.v1\" reads compact column-major inputs only, \
                 but got f64[3, 2] of strides [2, 1]"
            )
        );
    }

    let runtime = runtime_with(Ingress { dtypes: DTypeSet::INTEGER, ..Ingress::default() });
    let error = runtime.prepare(&sum, &[TensorRead::from(&x)], &[adder.target()]).unwrap_err();
    assert!(matches!(error, Error::Ingress { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: input `x`: engine \"demo.adder.v1\" reads i32 or i64, but got f64[2, 3] of strides [1, 2]"
    );
    // What no engine reads is nobody's concern.
    let same = program(&[("x", &["n", "m"])], |_, v, _| vec![v[0]]);
    runtime.prepare(&same, &[TensorRead::from(&x)], &[adder.target()]).unwrap();
}

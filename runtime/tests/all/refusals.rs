//! Everything that is refused, by type and message.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use tenferro_core::program::ProgramBuilder;
use tenferro_core::shape::SizeId;
use tenferro_core::{DType, Error as CoreError, Tensor, TensorRead, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    AllocationDomain, CacheLimits, ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error,
    ExtensionCacheStore, Preparation, PrepareRequest, Provider, Result, Runtime, SpecializationRequirements,
};

use super::support::*;

/// An engine of another type under the reference engine's id.
struct Impostor(ReferenceEngine);

impl Engine for Impostor {
    fn target(&self) -> EngineTarget {
        EngineTarget {
            engine_id: reference::ENGINE_ID,
            context: ContextIdentity::of::<Self>(),
            allocation_domain: None,
        }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        self.0.allocate(dtype, shape)
    }
    fn recycle(&mut self, tensor: Tensor) {
        self.0.recycle(tensor);
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.0.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.0.caches()
    }
}

struct Nothing;

impl Provider for Nothing {
    fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::Unsupported)
    }
}

#[test]
fn concurrent_reconfiguration() {
    let runtime = runtime();
    let error = runtime
        .reconfigure(|builder| {
            runtime.reconfigure(Ok)?;
            Ok(builder)
        })
        .unwrap_err();
    assert!(matches!(error, Error::ConcurrentReconfiguration));
    assert_eq!(runtime.epoch(), 2);
    assert_eq!(
        error.to_string(),
        "Runtime::reconfigure: the configuration was changed by another call meanwhile; nothing was published"
    );
}

#[test]
fn a_failed_edit_publishes_nothing() {
    let runtime = runtime();
    let other = EngineRegistration::new::<ReferenceEngine>(reference::ENGINE_ID, Arc::new(Nothing));
    assert!(runtime.reconfigure(|builder| builder.register_engine(other)).is_err());
    assert_eq!(runtime.epoch(), 1);
}

#[test]
fn targets() {
    let program = sum_of_squares();
    let x = [vector(&[1.0])];
    let prepare =
        |runtime: &Runtime, targets: &[EngineTarget]| runtime.prepare(&program, &reads(&x), targets).unwrap_err();

    let error = prepare(&Runtime::builder().build().unwrap(), &[target()]);
    assert!(matches!(error, Error::UnregisteredEngine { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: no engine \"tenferro.reference.v1\" is registered with this runtime; \
         register it with `RuntimeBuilder::register_engine`"
    );

    let runtime = runtime();
    let error = prepare(&runtime, &[]);
    assert!(matches!(error, Error::Argument { .. }));
    assert_eq!(error.to_string(), "Runtime::prepare: argument `targets`: prepare needs at least one engine target");

    let error = prepare(&runtime, &[target(), target()]);
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: argument `targets`: engine \"tenferro.reference.v1\" is named twice"
    );

    let error = prepare(&runtime, &[Impostor(ReferenceEngine::new()).target()]);
    assert!(matches!(error, Error::Argument { argument: "targets", .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: argument `targets`: \
         \"tenferro.reference.v1\" (tenferro_runtime::reference::ReferenceEngine) is registered, \
         but the target is \"tenferro.reference.v1\" (all::all::refusals::Impostor)"
    );

    let elsewhere = EngineTarget { allocation_domain: Some(AllocationDomain(7)), ..target() };
    let error = prepare(&runtime, &[elsewhere]);
    assert!(matches!(error, Error::Argument { argument: "targets", .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: argument `targets`: \
         \"tenferro.reference.v1\" (tenferro_runtime::reference::ReferenceEngine) is registered, but the target is \
         \"tenferro.reference.v1\" (tenferro_runtime::reference::ReferenceEngine) in memory 7"
    );
}

#[test]
fn engines() {
    let runtime = runtime();
    let x = [vector(&[1.0])];
    let prepared = runtime.prepare(sum_of_squares(), &reads(&x), &[target()]).unwrap();
    let error = runtime.run(&mut [], &prepared, &reads(&x)).unwrap_err();
    assert!(matches!(error, Error::Argument { argument: "engines", .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::run: argument `engines`: the program was prepared for 1 engines, but 0 were passed"
    );
    let (mut a, mut b) = (ReferenceEngine::new(), ReferenceEngine::new());
    let error = runtime.run(&mut [&mut a, &mut b], &prepared, &reads(&x)).unwrap_err();
    assert!(error.to_string().ends_with("prepared for 1 engines, but 2 were passed"), "{error}");
    let error = runtime.run(&mut [&mut Impostor(a)], &prepared, &reads(&x)).unwrap_err();
    assert!(matches!(error, Error::Argument { argument: "engines", .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::run: argument `engines`: engine 0 is \"tenferro.reference.v1\" (all::all::refusals::Impostor), but the \
         program was prepared for \"tenferro.reference.v1\" (tenferro_runtime::reference::ReferenceEngine)"
    );
}

#[test]
fn inputs() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = program(&[("x", &["n", "3"]), ("y", &["n"])], |b, v, _| vec![b.sum(v[0], &[]).unwrap(), v[1]]);
    let good = [counting(&[2, 3]), counting(&[2])];
    let prepared = runtime.prepare(&program, &reads(&good), &[engine.target()]).unwrap();
    let cases = [
        (vec![], "UnboundPlaceholder", "no tensor for input `x`, `y` of test (2 inputs, 0 given, 0 bound)"),
        (vec![counting(&[2, 3])], "UnboundPlaceholder", "no tensor for input `y` of test (2 inputs, 1 given, 0 bound)"),
        (
            vec![counting(&[2, 3]), counting(&[2]), counting(&[2])],
            "Argument",
            "argument `inputs`: test takes 2 inputs, but 3 were given",
        ),
        (
            vec![Tensor::zeros(DType::F32, [2, 3]).unwrap(), counting(&[2])],
            "InputDType",
            "input `x`: expected f64[n, 3], got f32[2, 3]",
        ),
        (
            vec![counting(&[6]), counting(&[2])],
            "Core(Binding",
            "test: input `x` has rank 1 (shape [6]), but is declared f64[n, 3]",
        ),
        (vec![counting(&[2, 4]), counting(&[2])], "Core(Binding", "test: axis 1 of `x` must have extent 3, but has 4"),
        (
            vec![counting(&[2, 3]), counting(&[5])],
            "Core(Binding",
            "test: size `n`: 2 on axis 0 of `x`, 5 on axis 0 of `y`",
        ),
    ];
    for (inputs, kind, expected) in &cases {
        let prepare = runtime.prepare(&program, &reads(inputs), &[engine.target()]).unwrap_err();
        let run = runtime.run(&mut [&mut engine], &prepared, &reads(inputs)).unwrap_err();
        for (call, error) in [("Runtime::prepare: ", prepare), ("Runtime::run: ", run)] {
            assert!(format!("{error:?}").starts_with(kind), "{error:?}");
            let text = error.to_string();
            assert_eq!(text.strip_prefix(call).unwrap_or(&text), *expected);
        }
    }
}

#[test]
fn outputs() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = program(&[("x", &["n"])], |b, v, _| vec![b.add(v[0], v[0]).unwrap()]);
    let x = [vector(&[1.0, 2.0])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    let mut into = |outputs: &mut [&mut Tensor]| {
        let count = outputs.len();
        let error = runtime.run_into(&mut [&mut engine], &prepared, &reads(&x), outputs).unwrap_err();
        match count {
            1 => assert!(matches!(error, Error::Output { .. })),
            _ => assert!(matches!(error, Error::Argument { argument: "outputs", .. })),
        }
        error.to_string()
    };
    assert_eq!(
        into(&mut []),
        "Runtime::run_into: argument `outputs`: the program has 1 outputs, but 0 tensors were passed"
    );
    assert_eq!(
        into(&mut [&mut counting(&[3])]),
        "Runtime::run_into: output 0 of test: expected f64[2] (declared f64[n]), got f64[3]"
    );
    assert_eq!(
        into(&mut [&mut Tensor::zeros(DType::F32, [2]).unwrap()]),
        "Runtime::run_into: output 0 of test: expected f64[2] (declared f64[n]), got f32[2]"
    );
}

#[test]
fn a_missing_module_names_the_call_to_make() {
    let runtime = Runtime::builder().register_engine(reference::registration()).unwrap().build().unwrap();
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let error = runtime.prepare(product(), &reads(&inputs), &[target()]).unwrap_err();
    assert!(matches!(error, Error::MissingModule { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: no module for family \"tenferro.einsum.v1\" is installed for \
         engine \"tenferro.reference.v1\"; install one with `RuntimeBuilder::install_extension_module`"
    );
}

#[test]
fn an_operation_without_a_kernel() {
    struct Bare;
    impl Provider for Bare {
        fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
            Ok(Preparation::Unsupported)
        }
    }
    let id = EngineId::from("demo.bare.v1");
    let registration = EngineRegistration::new::<ReferenceEngine>(id, Arc::new(Bare));
    let target = registration.target().clone();
    let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
    let x = [vector(&[1.0])];
    let of_shapes =
        || runtime.prepare_for_shapes(sum_of_squares(), &[(DType::F64, &[1])], std::slice::from_ref(&target));
    // The failure is kept, but each call is named as itself.
    for (call, error) in [
        ("Runtime::prepare", runtime.prepare(sum_of_squares(), &reads(&x), std::slice::from_ref(&target)).unwrap_err()),
        ("Runtime::prepare_for_shapes", of_shapes().unwrap_err()),
        ("Runtime::prepare", runtime.prepare(sum_of_squares(), &reads(&x), std::slice::from_ref(&target)).unwrap_err()),
    ] {
        assert!(matches!(error, Error::UnsupportedOp { .. }));
        assert_eq!(
            error.to_string(),
            format!("{call}: `mul` on (f64 of rank 1, f64 of rank 1) is supported by none of engine \"demo.bare.v1\"")
        );
    }
    assert_eq!(runtime.prepared_cache_stats().preparations, 1);
}

#[test]
fn a_provider_that_never_has_enough_is_stopped() {
    struct Greedy;
    impl Provider for Greedy {
        fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
            Ok(Preparation::NeedsSpecialization(request.metadata()))
        }
    }
    let registration = EngineRegistration::new::<ReferenceEngine>("demo.greedy.v1".into(), Arc::new(Greedy));
    let target = registration.target().clone();
    let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
    let x = [vector(&[1.0])];
    let error = runtime.prepare(sum_of_squares(), &reads(&x), &[target]).unwrap_err();
    assert!(matches!(error, Error::Execution { .. }));
    assert_eq!(error.to_string(), "`mul`: it asks to know what it was told");
}

#[test]
fn a_provider_that_asks_for_what_there_is_not() {
    struct Astray(SpecializationRequirements);
    impl Provider for Astray {
        fn prepare(&self, _: &PrepareRequest<'_>) -> Result<Preparation> {
            Ok(Preparation::NeedsSpecialization(self.0.clone()))
        }
    }
    let nothing = SpecializationRequirements::polymorphic;
    for (wanted, message) in [
        (nothing().with_layouts([0, 1]), "the layout of input 1 of a program that has 1"),
        (nothing().with_layouts([u32::MAX]), "the layout of input 4294967295 of a program that has 1"),
        (nothing().with_sizes([SizeId(1)]), "size 1 of a program that has 1"),
        (nothing().with_sizes([SizeId(u32::MAX)]), "size 4294967295 of a program that has 1"),
    ] {
        let registration =
            EngineRegistration::new::<ReferenceEngine>("demo.astray.v1".into(), Arc::new(Astray(wanted)));
        let target = registration.target().clone();
        let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
        let error = runtime.prepare(sum_of_squares(), &reads(&[vector(&[1.0])]), &[target]).unwrap_err();
        assert_eq!(error.to_string(), format!("`mul`: the provider of engine \"demo.astray.v1\" asks for {message}"));
    }
}

#[test]
fn a_provider_that_panics_or_prepares() {
    /// Does what it must not.
    struct Wild {
        runtime: Arc<OnceLock<Runtime>>,
        calls: AtomicUsize,
    }
    impl Provider for Wild {
        fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
            match self.calls.fetch_add(1, Ordering::Relaxed) {
                0 => panic!("call {}", 0),
                1 => {
                    let shape: (DType, &[usize]) = (DType::F64, &[1]);
                    self.runtime.get().unwrap().prepare_for_shapes(sum_of_squares(), &[shape], &[wild()])?;
                    Ok(Preparation::Unsupported)
                }
                _ => reference::registration().provider().prepare(request),
            }
        }
    }
    fn wild() -> EngineTarget {
        EngineTarget { engine_id: EngineId::from("demo.wild.v1"), ..target() }
    }
    let cell = Arc::new(OnceLock::new());
    let provider = Arc::new(Wild { runtime: Arc::clone(&cell), calls: AtomicUsize::new(0) });
    let registration = EngineRegistration::new::<ReferenceEngine>("demo.wild.v1".into(), provider);
    let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
    assert!(cell.set(runtime.clone()).is_ok());
    let x = [vector(&[1.0])];
    let prepare = || runtime.prepare(sum_of_squares(), &reads(&x), &[wild()]);

    let error = prepare().unwrap_err();
    assert!(matches!(error, Error::ProviderPanic { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: the provider of engine \"demo.wild.v1\" panicked on `mul`: call 0"
    );
    let error = prepare().unwrap_err();
    assert!(matches!(error, Error::NestedPreparation));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: called by a provider while this runtime prepares another program, \
         which could wait for itself; prepare it before"
    );
    // Neither is kept.
    assert!(prepare().is_ok());
    assert_eq!(runtime.prepared_cache_stats().negative_hits, 0);
}

#[test]
fn more_preparations_than_the_limits_allow() {
    /// Says when it is asked, and waits to be let go.
    struct Slow {
        asked: Sender<()>,
        go: Mutex<Receiver<()>>,
    }
    impl Provider for Slow {
        fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
            self.asked.send(()).unwrap();
            self.go.lock().unwrap().recv().unwrap();
            reference::registration().provider().prepare(request)
        }
    }
    let ((asked, was_asked), (let_go, go)) = (channel(), channel());
    let provider = Arc::new(Slow { asked, go: Mutex::new(go) });
    let registration = EngineRegistration::new::<ReferenceEngine>("demo.slow.v1".into(), provider);
    let target = registration.target().clone();
    let runtime = Runtime::builder().register_engine(registration).unwrap().build().unwrap();
    runtime.set_prepared_cache_limits(CacheLimits { preparing: 1, queued: 0, ..CacheLimits::default() }).unwrap();
    let exp = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let sin = program(&[("x", &["n"])], |b, v, _| vec![b.sin(v[0]).unwrap()]);
    let x = [vector(&[1.0])];
    let prepare = |program| runtime.prepare(program, &reads(&x), std::slice::from_ref(&target));
    thread::scope(|scope| {
        let first = scope.spawn(|| prepare(&exp).map(drop));
        was_asked.recv().unwrap();
        let error = prepare(&sin).unwrap_err();
        // Enough for all that is asked from now on.
        (0..8).for_each(|_| let_go.send(()).unwrap());
        first.join().unwrap().unwrap();
        assert!(matches!(error, Error::PreparationQueueFull { .. }) && error.is_transient());
        assert_eq!(
            error.to_string(),
            "Runtime::prepare: 1 programs are in preparation and 0 wait for it, and no more may; \
             call again later, or raise the limits with `Runtime::set_prepared_cache_limits`"
        );
    });
    prepare(&sin).unwrap();
}

#[test]
fn a_guard_that_fails() {
    let mut b = ProgramBuilder::new("halves");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let half = n.div(&2.into());
    let y = b.reshape(x, &[half, 2.into()]).unwrap();
    let program = Arc::new(b.finish(&[(None, y)]).unwrap());
    let x = counting(&[5]);
    let error = runtime().prepare(&program, &[TensorRead::from(&x)], &[target()]).unwrap_err();
    assert!(matches!(error, Error::Core(CoreError::Binding { .. })));
    assert_eq!(
        error.to_string(),
        "halves: `reshape` (number of entries before and after reshape) needs n == 2*(n/2), but n = 5"
    );
}

#[test]
fn limits_under_which_nothing_could_be_kept_or_prepared() {
    let runtime = runtime();
    let default = CacheLimits::default();
    assert_eq!(default, CacheLimits { entries: 128, bytes: 64 << 20, preparing: 16, queued: 64 });
    let refused = [
        ("entries", CacheLimits { entries: 0, ..default }),
        ("bytes", CacheLimits { bytes: 0, ..default }),
        ("preparing", CacheLimits { preparing: 0, ..default }),
    ];
    for (name, limits) in refused {
        let error = runtime.set_prepared_cache_limits(limits).unwrap_err();
        assert!(matches!(error, Error::Argument { argument: "limits", .. }));
        assert_eq!(
            error.to_string(),
            format!("Runtime::set_prepared_cache_limits: argument `limits`: `{name}` is 0, but must be at least 1")
        );
        assert_eq!(runtime.prepared_cache_limits(), default);
    }
    runtime.set_prepared_cache_limits(CacheLimits { queued: 0, ..default }).unwrap();
    assert_eq!(runtime.prepared_cache_limits().queued, 0);
}

#[test]
fn a_shared_preparation_keeps_each_programs_names() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let named = |name| program(&[(name, &["n", "3"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let inputs = [counting(&[2, 3])];
    runtime.prepare(named("first"), &reads(&inputs), &[engine.target()]).unwrap();
    let prepared = runtime.prepare(named("second"), &reads(&inputs), &[engine.target()]).unwrap();
    assert_eq!(runtime.prepared_cache_stats().hits, 2);
    let error = runtime.run(&mut [&mut engine], &prepared, &reads(&[counting(&[2, 4])])).unwrap_err();
    assert_eq!(error.to_string(), "test: axis 1 of `second` must have extent 3, but has 4");
}

//! An operation family from outside: several results, caches in the engine, failures.

use std::any::Any;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenferro_core::extension::{AliasDeclaration, EffectDeclaration, ExtensionOp, ShapeContext};
use tenferro_core::program::{SemanticProgram, ValueMeta};
use tenferro_core::{Result as CoreResult, Tensor, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    Command, Engine, Error, ExtensionModule, FamilyExecutor, Preparation, PrepareRequest, Registrar, Result, Runtime,
};

use super::support::*;

const FAMILY: &str = "demo.minmax.v1";

/// The least and the largest entry of a vector.
#[derive(Debug)]
struct MinMax;

impl ExtensionOp for MinMax {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn payload_hash(&self, _: &mut dyn Hasher) {}
    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool {
        other.as_any().is::<Self>()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn input_count(&self) -> usize {
        1
    }
    fn output_count(&self) -> usize {
        2
    }
    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Declared(&[])
    }
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> CoreResult<Vec<ValueMeta>> {
        let scalar = ValueMeta::new(ctx.input(0).dtype, Vec::new());
        Ok(vec![scalar.clone(), scalar])
    }
    fn fmt_payload(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

#[derive(Debug)]
struct MinMaxCommand;

impl Command for MinMaxCommand {
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        *engine.caches().get_or_default::<usize>(FAMILY) += 1;
        let entries: Vec<f64> = inputs[0].iter()?.collect();
        outputs[0].as_mut_slice::<f64>()?[0] = entries.iter().copied().fold(f64::INFINITY, f64::min);
        outputs[1].as_mut_slice::<f64>()?[0] = entries.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(())
    }
    fn name(&self) -> &str {
        "minmax"
    }
}

/// Panics once, if told to.
#[derive(Default)]
struct Executor {
    panics: AtomicBool,
}

impl FamilyExecutor for Executor {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn prepare(&self, op: &dyn ExtensionOp, request: &PrepareRequest<'_>) -> Result<Preparation> {
        assert!(!self.panics.swap(false, Ordering::Relaxed), "told to");
        assert!(op.as_any().is::<MinMax>());
        assert_eq!((request.inputs().len(), request.outputs().len()), (1, 2));
        assert_eq!(request.input_shape(0), None);
        request.with(request.metadata(), || Ok(Preparation::command(MinMaxCommand)))
    }
}

struct Module(Arc<Executor>);

impl ExtensionModule for Module {
    fn configure(&self, registrar: &mut Registrar) -> Result<()> {
        registrar.register_executor(reference::ENGINE_ID, self.0.clone())
    }
}

fn runtime_with(executor: Executor) -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.install_extension_module(Arc::new(Module(Arc::new(executor)))).unwrap().build().unwrap()
}

fn spread() -> Arc<SemanticProgram> {
    program(&[("x", &["n"])], |b, v, _| {
        let ends = b.extension(MinMax, v).unwrap();
        vec![b.sub(ends[1], ends[0]).unwrap(), ends[0]]
    })
}

#[test]
fn a_family_computes_several_results_and_keeps_a_cache() {
    let (runtime, mut engine) = (runtime_with(Executor::default()), ReferenceEngine::new());
    let x = [vector(&[3.0, -1.0, 2.0])];
    let prepared = runtime.prepare(spread(), &reads(&x), &[engine.target()]).unwrap();
    assert_eq!(prepared.commands().collect::<Vec<_>>(), ["minmax", "sub"]);
    let text = prepared.explain().to_string();
    assert!(text.contains("minmax(x: f64[n]) -> %1: f64 in slot 0, %2: f64 in slot 1; engine 0"), "{text}");
    assert!(text.contains("sub(%2: f64, %1: f64) -> %3: f64 in slot 2; engine 0; releases slot 1"), "{text}");
    for runs in 1..=2 {
        let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
        assert_eq!(values(&outputs[0]), [4.0]);
        assert_eq!(values(&outputs[1]), [-1.0]);
        assert_eq!(engine.caches().get::<usize>(FAMILY), Some(&runs));
    }
}

#[test]
fn a_second_executor_is_refused() {
    struct Other;
    impl FamilyExecutor for Other {
        fn family_id(&self) -> &'static str {
            FAMILY
        }
        fn prepare(&self, _: &dyn ExtensionOp, _: &PrepareRequest<'_>) -> Result<Preparation> {
            Ok(Preparation::Unsupported)
        }
    }
    struct OtherModule;
    impl ExtensionModule for OtherModule {
        fn configure(&self, registrar: &mut Registrar) -> Result<()> {
            registrar.register_executor(reference::ENGINE_ID, Arc::new(Other))
        }
    }
    let runtime = runtime_with(Executor::default());
    let error = runtime.reconfigure(|builder| builder.install_extension_module(Arc::new(OtherModule))).unwrap_err();
    assert!(matches!(error, Error::DuplicateExecutor { .. }));
    assert_eq!(
        error.to_string(),
        "family \"demo.minmax.v1\" already has another executor on engine \"tenferro.reference.v1\""
    );
}

#[test]
fn a_panic_of_an_executor_is_an_error_and_the_next_call_succeeds() {
    let (runtime, mut engine) = (runtime_with(Executor { panics: true.into() }), ReferenceEngine::new());
    let x = [vector(&[3.0, -1.0])];
    let error = runtime.prepare(spread(), &reads(&x), &[target()]).unwrap_err();
    assert!(matches!(error, Error::ProviderPanic { .. }) && error.is_transient());
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: the executor of the family on engine \"tenferro.reference.v1\" panicked on \
         `demo.minmax.v1`: told to"
    );
    assert_eq!(runtime.prepared_cache_stats().entries, 0);
    let prepared = runtime.prepare(spread(), &reads(&x), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&x)).unwrap();
    assert_eq!(values(&outputs[0]), [4.0]);
}

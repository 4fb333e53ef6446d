//! Commands that fail or panic: later runs are none the worse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, Tensor, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    Command, ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error, ExtensionCacheStore,
    Preparation, PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.fragile.v1");

/// An engine that counts the tensors it has not got back.
#[derive(Default)]
struct Fragile {
    inner: ReferenceEngine,
    out: isize,
}

impl Engine for Fragile {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        self.out += 1;
        self.inner.allocate(dtype, shape)
    }
    fn recycle(&mut self, tensor: Tensor) {
        self.out -= 1;
        self.inner.recycle(tensor);
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.inner.caches()
    }
}

/// The square root, which fails at numbers below zero and panics at NaN.
#[derive(Debug)]
struct Root;

impl Command for Root {
    fn execute(&self, _: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        let output = outputs[0].as_mut_slice::<f64>()?;
        for (to, from) in output.iter_mut().zip(inputs[0].iter::<f64>()?) {
            assert!(!from.is_nan(), "not a number");
            if from < 0.0 {
                return Err(Error::Execution { op: "root".to_owned(), message: format!("of {from}") });
            }
            *to = from.sqrt();
        }
        Ok(())
    }
    fn name(&self) -> &str {
        "root"
    }
}

struct Roots;

impl Provider for Roots {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        match request.core_op() {
            Some(CoreOp::Sqrt) => Ok(Preparation::command(Root)),
            _ => reference::registration().provider().prepare(request),
        }
    }
}

fn runtime_of_roots() -> Runtime {
    let registration = EngineRegistration::new::<Fragile>(ID, Arc::new(Roots));
    Runtime::builder().register_engine(registration).unwrap().build().unwrap()
}

/// `sqrt(x) + x * x`, with a value in use while the root is taken.
fn program_of_root() -> Arc<SemanticProgram> {
    program(&[("x", &["n"])], |b, v, _| {
        let square = b.mul(v[0], v[0]).unwrap();
        let root = b.sqrt(v[0]).unwrap();
        vec![b.add(root, square).unwrap(), square]
    })
}

#[test]
fn a_failed_run_gives_its_memory_back() {
    let (runtime, mut engine) = (runtime_of_roots(), Fragile::default());
    let (good, bad) = ([vector(&[4.0, 9.0])], [vector(&[4.0, -1.0])]);
    let prepared = runtime.prepare(program_of_root(), &reads(&good), &[engine.target()]).unwrap();
    for _ in 0..3 {
        let error = runtime.run(&mut [&mut engine], &prepared, &reads(&bad)).unwrap_err();
        assert_eq!(error.to_string(), "`root`: of -1");
        assert_eq!(engine.out, 0);
        let outputs = runtime.run(&mut [&mut engine], &prepared, &reads(&good)).unwrap();
        assert_eq!((values(&outputs[0]), values(&outputs[1])), (vec![18.0, 84.0], vec![16.0, 81.0]));
        // The results alone are out.
        assert_eq!(std::mem::take(&mut engine.out), 2);
    }
}

#[test]
fn a_failed_run_leaves_the_callers_tensors_usable() {
    let (runtime, mut engine) = (runtime_of_roots(), Fragile::default());
    let (good, bad) = ([vector(&[4.0, 9.0])], [vector(&[4.0, -1.0])]);
    let prepared = runtime.prepare(program_of_root(), &reads(&good), &[engine.target()]).unwrap();
    let mut outputs = [vector(&[0.0; 2]), vector(&[0.0; 2])];
    for _ in 0..3 {
        let mut into: Vec<&mut Tensor> = outputs.iter_mut().collect();
        runtime.run_into(&mut [&mut engine], &prepared, &reads(&bad), &mut into).unwrap_err();
        runtime.run_into(&mut [&mut engine], &prepared, &reads(&good), &mut into).unwrap();
        assert_eq!(engine.out, 0);
        assert_eq!(outputs.each_ref().map(|o| o.to_vec_col_major::<f64>().unwrap()), [[18.0, 84.0], [16.0, 81.0]]);
    }
}

#[test]
fn a_panic_is_over_with_its_run() {
    let (runtime, mut engine) = (runtime_of_roots(), Fragile::default());
    let (good, bad) = ([vector(&[4.0, 9.0])], [vector(&[4.0, f64::NAN])]);
    let prepared = runtime.prepare(program_of_root(), &reads(&good), &[engine.target()]).unwrap();
    let mut outputs = [vector(&[0.0; 2]), vector(&[0.0; 2])];
    for _ in 0..3 {
        let run = || runtime.run(&mut [&mut engine], &prepared, &reads(&bad)).map(drop);
        catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        let mut into: Vec<&mut Tensor> = outputs.iter_mut().collect();
        let run = || runtime.run_into(&mut [&mut engine], &prepared, &reads(&bad), &mut into);
        catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert!(outputs.iter().all(|output| output.shape() == [2] && output.is_unique()));
        let mut into: Vec<&mut Tensor> = outputs.iter_mut().collect();
        runtime.run_into(&mut [&mut engine], &prepared, &reads(&good), &mut into).unwrap();
        assert_eq!(outputs.each_ref().map(|o| o.to_vec_col_major::<f64>().unwrap()), [[18.0, 84.0], [16.0, 81.0]]);
    }
}

#[test]
fn threads_share_a_prepared_program_through_failures() {
    let (runtime, good) = (runtime_of_roots(), [vector(&[4.0, 9.0])]);
    let prepared = runtime.prepare(program_of_root(), &reads(&good), &[Fragile::default().target()]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (runtime, prepared, good) = (&runtime, &prepared, &good);
            scope.spawn(move || {
                let mut engine = Fragile::default();
                let bad = [vector(&[4.0, if thread % 2 == 0 { f64::NAN } else { -1.0 }])];
                for _ in 0..50 {
                    let run = || runtime.run(&mut [&mut engine], prepared, &reads(&bad)).map(drop);
                    let failed = catch_unwind(AssertUnwindSafe(run));
                    assert_eq!(failed.is_err(), thread % 2 == 0);
                    let outputs = runtime.run(&mut [&mut engine], prepared, &reads(good)).unwrap();
                    assert_eq!(values(&outputs[0]), [18.0, 84.0]);
                }
            });
        }
    });
}

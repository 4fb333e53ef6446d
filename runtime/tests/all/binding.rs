//! Commands bound to the layouts of their operands: once for each signature.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenferro_core::ops::CoreOp;
use tenferro_core::{DType, Layout, Tensor, TensorRead, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    Command, Engine, EngineRegistration, Error, Preparation, PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

/// Doubles on the reference engine and counts how often it is bound.
#[derive(Debug)]
struct Doubler(Arc<AtomicUsize>);

/// The same for operands of one layout, of extent 3 at most.
#[derive(Debug)]
struct Bound(Layout);

impl Command for Doubler {
    fn execute(&self, _: &mut dyn Engine, _: &[TensorView<'_>], _: &mut [&mut Tensor]) -> Result<()> {
        unreachable!("a command that can be bound is run as bound")
    }
    fn bind(&self, inputs: &[&Layout]) -> Result<Option<Arc<dyn Command>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if inputs[0].shape()[0] > 3 {
            return Err(Error::Execution { op: "double".to_owned(), message: "is for three rows at most".to_owned() });
        }
        Ok(Some(Arc::new(Bound(inputs[0].clone()))))
    }
    fn name(&self) -> &str {
        "double"
    }
}

impl Command for Bound {
    fn execute(&self, _: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        assert_eq!(inputs[0].layout(), &self.0);
        let output = outputs[0].as_mut_slice::<f64>()?;
        output.iter_mut().zip(inputs[0].iter::<f64>()?).for_each(|(to, from)| *to = 2.0 * from);
        Ok(())
    }
    fn name(&self) -> &str {
        "double"
    }
}

struct Doublers(Arc<AtomicUsize>);

impl Provider for Doublers {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        match request.core_op() {
            Some(CoreOp::Exp) => Ok(Preparation::command(Doubler(Arc::clone(&self.0)))),
            _ => reference::registration().provider().prepare(request),
        }
    }
}

fn runtime_of(count: &Arc<AtomicUsize>) -> Runtime {
    let id = reference::registration().engine_id().clone();
    let registration = EngineRegistration::new::<ReferenceEngine>(id, Arc::new(Doublers(Arc::clone(count))));
    Runtime::builder().register_engine(registration).unwrap().build().unwrap()
}

#[test]
fn a_command_is_bound_once_a_signature() {
    let count = Arc::new(AtomicUsize::new(0));
    let (runtime, mut engine) = (runtime_of(&count), ReferenceEngine::new());
    // The second command reads a view of the first one's result.
    let program = program(&[("x", &["n", "m"])], |b, v, _| {
        let double = b.exp(v[0]).unwrap();
        let turned = b.transpose(double, &[1, 0]).unwrap();
        vec![b.exp(turned).unwrap()]
    });
    let tensors: Vec<Tensor> = (1..=3).flat_map(|n| (1..=3).map(move |m| counting(&[n, m]))).collect();
    let inputs = [TensorRead::from(&tensors[5])];
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    let mut run = |x: TensorRead<'_>| {
        let outputs = runtime.run(&mut [&mut engine], &prepared, std::slice::from_ref(&x)).unwrap();
        let turned = x.view().transpose(&[1, 0]).unwrap();
        let expected: Vec<f64> = turned.iter::<f64>().unwrap().map(|x| 4.0 * x).collect();
        assert_eq!(values(&outputs[0]), expected);
        count.load(Ordering::Relaxed) / 2
    };
    for _ in 0..3 {
        assert_eq!(run(TensorRead::from(&tensors[5])), 1);
    }
    let turned = tensors[5].view().transpose(&[1, 0]).unwrap();
    for _ in 0..3 {
        assert_eq!(run(TensorRead::from(turned.clone())), 2);
        assert_eq!(run(TensorRead::from(&tensors[5])), 2);
    }
    // More signatures than are kept; the first stays.
    for tensor in tensors.iter().chain(&tensors) {
        run(TensorRead::from(tensor));
    }
    let bound = run(TensorRead::from(&tensors[8]));
    assert_eq!(run(TensorRead::from(&tensors[5])), bound);
}

#[test]
fn a_command_that_cannot_be_bound_fails_the_run_alone() {
    let count = Arc::new(AtomicUsize::new(0));
    let (runtime, mut engine) = (runtime_of(&count), ReferenceEngine::new());
    let program = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let (long, short) = (vector(&[1.0; 4]), vector(&[1.0, 2.0]));
    let prepared = runtime.prepare_for_shapes(&program, &[(DType::F64, &[2])], &[engine.target()]).unwrap();
    for _ in 0..2 {
        let error = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&long)]).unwrap_err();
        assert!(error.to_string().contains("three rows"), "{error}");
        let outputs = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&short)]).unwrap();
        assert_eq!(values(&outputs[0]), [2.0, 4.0]);
    }
}

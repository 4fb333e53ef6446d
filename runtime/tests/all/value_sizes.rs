//! Sizes that are read off values, seen by an engine and a provider that count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tenferro_core::program::{ProgramBuilder, SemanticProgram};
use tenferro_core::{DType, Tensor, TensorView};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, ExtensionCacheStore, Preparation,
    PrepareRequest, Provider, Result, Runtime,
};

use super::support::*;

const ID: EngineId = EngineId::from_static("demo.late.v1");

/// An engine that counts what is asked of it.
#[derive(Default)]
struct Watching {
    inner: ReferenceEngine,
    live: isize,
    copies: usize,
    waits: usize,
}

impl Engine for Watching {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        self.live += 1;
        self.inner.allocate(dtype, shape)
    }
    fn recycle(&mut self, _: Tensor) {
        self.live -= 1;
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.copies += 1;
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.inner.caches()
    }
    fn synchronize(&mut self) -> Result<()> {
        self.waits += 1;
        Ok(())
    }
}

/// The reference engine's kernels, each prepared for the extents of its operands.
struct Specialised {
    inner: EngineRegistration,
    prepared: Arc<AtomicUsize>,
}

impl Provider for Specialised {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        request.with(request.extents_and_layouts(), || {
            self.prepared.fetch_add(1, Ordering::Relaxed);
            for i in 0..request.inputs().len() {
                assert!(request.input_shape(i).is_some() && request.input_layout(i).is_some());
            }
            assert!(request.output_shape(0).is_some());
            self.inner.provider().prepare(request)
        })
    }
}

fn watched() -> (Runtime, Arc<AtomicUsize>) {
    let prepared = Arc::new(AtomicUsize::new(0));
    let provider = Specialised { inner: reference::registration(), prepared: Arc::clone(&prepared) };
    let registration = EngineRegistration::new::<Watching>(ID, Arc::new(provider));
    (Runtime::builder().register_engine(registration).unwrap().build().unwrap(), prepared)
}

/// `sin(-x[:k])` and `exp(x)`, `k` an input.
fn head() -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("head");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let whole = b.exp(x).unwrap();
    let head = b.dynamic_truncate(x, count, 0).unwrap();
    let negative = b.neg(head).unwrap();
    let sine = b.sin(negative).unwrap();
    Arc::new(b.finish(&[(None, sine), (None, whole)]).unwrap())
}

fn scalar(value: i64) -> Tensor {
    Tensor::from_vec_col_major([], vec![value]).unwrap()
}

#[test]
fn kernels_that_want_a_size_are_prepared_once_it_is_known_and_once_for_each() {
    let (runtime, prepared) = watched();
    let mut engine = Watching::default();
    let program = head();
    let preparations = || prepared.load(Ordering::Relaxed);
    let first = [counting(&[6]), scalar(2)];
    let handle = runtime.prepare(&program, &reads(&first), &[engine.target()]).unwrap();
    assert_eq!(handle.commands().collect::<Vec<_>>(), ["exp", "neg", "sin"]);
    assert!(handle.specialization().size(tenferro_core::shape::SizeId(0)).is_some(), "the extent that `exp` wants");
    assert_eq!(preparations(), 1, "`exp` alone");
    let mut expected = 1;
    for (k, new) in [(2, true), (2, false), (0, true), (6, true), (2, false), (0, false), (6, false)] {
        let inputs = [counting(&[6]), scalar(k)];
        let outputs = runtime.run(&mut [&mut engine], &handle, &reads(&inputs)).unwrap();
        let sine: Vec<f64> = (1..=k).map(|x| (-(x as f64)).sin()).collect();
        assert_eq!(values(&outputs[0]), sine);
        expected += if new { 2 } else { 0 };
        assert_eq!(preparations(), expected, "k = {k}");
    }
    // Strides of inputs count too: this binding is another.
    let x = counting(&[6]);
    let backwards = x.view().reverse(&[0]).unwrap();
    let count = scalar(2);
    let inputs = [backwards.into(), (&count).into()];
    assert!(runtime.run(&mut [&mut engine], &handle, &inputs).unwrap_err().to_string().contains("prepared for"));
}

#[test]
fn a_size_is_read_once_a_run_and_waited_for() {
    let (runtime, _) = watched();
    let mut engine = Watching::default();
    let program = head();
    let inputs = [counting(&[6]), scalar(2)];
    let handle = runtime.prepare(&program, &reads(&inputs), &[engine.target()]).unwrap();
    for run in 1..4 {
        runtime.run(&mut [&mut engine], &handle, &reads(&inputs)).unwrap();
        assert_eq!((engine.copies, engine.waits), (run, run));
    }
}

#[test]
fn programs_without_such_sizes_neither_copy_nor_wait() {
    let (runtime, _) = watched();
    let mut engine = Watching::default();
    let inputs = [counting(&[6])];
    let handle = runtime.prepare(sum_of_squares(), &reads(&inputs), &[engine.target()]).unwrap();
    runtime.run(&mut [&mut engine], &handle, &reads(&inputs)).unwrap();
    assert_eq!((engine.copies, engine.waits), (0, 0));
}

#[test]
fn what_a_size_is_read_off_lives_until_then_and_no_longer() {
    let (runtime, _) = watched();
    let mut engine = Watching::default();
    // The count is not used but as a size; the last step comes before it is read.
    let mut b = ProgramBuilder::new("count");
    let n = b.size("n");
    let x = b.input("x", DType::I64, std::slice::from_ref(&n)).unwrap();
    let total = b.sum(x, &[0]).unwrap();
    let head = b.dynamic_truncate(x, total, 0).unwrap();
    let program = Arc::new(b.finish(&[(None, head)]).unwrap());
    let data = [Tensor::from_vec_col_major([3], vec![1i64, 0, 1]).unwrap()];
    let handle = runtime.prepare(&program, &reads(&data), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &handle, &reads(&data)).unwrap();
    assert_eq!(outputs[0].view().to_vec_col_major::<i64>().unwrap(), [1, 0]);
    assert_eq!(engine.live, 0, "the count was given back");

    // Used after, too, and an output.
    let mut b = ProgramBuilder::new("count");
    let n = b.size("n");
    let x = b.input("x", DType::I64, std::slice::from_ref(&n)).unwrap();
    let total = b.sum(x, &[0]).unwrap();
    let head = b.dynamic_truncate(x, total, 0).unwrap();
    let negative = b.neg(head).unwrap();
    let sum = b.sum(negative, &[0]).unwrap();
    let both = b.add(sum, total).unwrap();
    let program = Arc::new(b.finish(&[(None, both), (None, total)]).unwrap());
    let handle = runtime.prepare(&program, &reads(&data), &[engine.target()]).unwrap();
    let outputs = runtime.run(&mut [&mut engine], &handle, &reads(&data)).unwrap();
    let ints = |i: usize| outputs[i].view().to_vec_col_major::<i64>().unwrap();
    assert_eq!((ints(0), ints(1)), (vec![1], vec![2]));
    assert_eq!(engine.live, 2, "but the outputs");
}

#[test]
fn results_of_the_last_stage_are_computed_in_place() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = head();
    let inputs = [counting(&[6]), scalar(2)];
    let handle = runtime.prepare(&program, &reads(&inputs), &[engine.target()]).unwrap();
    let (mut sine, mut whole) = (vector(&[0.0; 2]), vector(&[0.0; 6]));
    let before = sine.as_slice::<f64>().unwrap().as_ptr();
    runtime.run_into(&mut [&mut engine], &handle, &reads(&inputs), &mut [&mut sine, &mut whole]).unwrap();
    assert_eq!(sine.as_slice::<f64>().unwrap(), [(-1f64).sin(), (-2f64).sin()]);
    assert_eq!(sine.as_slice::<f64>().unwrap().as_ptr(), before);
    assert_eq!(whole.as_slice::<f64>().unwrap()[5], 6f64.exp());
    // A tensor of another shape is refused and left as it is.
    let (mut sine, mut whole) = (vector(&[7.0; 3]), vector(&[7.0; 6]));
    let error = runtime.run_into(&mut [&mut engine], &handle, &reads(&inputs), &mut [&mut sine, &mut whole]);
    assert!(error.unwrap_err().to_string().contains("expected f64[2] (declared f64[k]), got f64[3]"));
    assert_eq!((sine.as_slice::<f64>().unwrap(), whole.as_slice::<f64>().unwrap()), (&[7.0; 3][..], &[7.0; 6][..]));
}

#[test]
fn programs_are_prepared_for_shapes_without_data() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = head();
    let shapes: [(DType, &[usize]); 2] = [(DType::F64, &[6]), (DType::I64, &[])];
    let handle = runtime.prepare_for_shapes(&program, &shapes, &[engine.target()]).unwrap();
    for k in [6, 1] {
        let inputs = [counting(&[6]), scalar(k)];
        runtime.warm_up(&mut [&mut engine], &handle, &reads(&inputs)).unwrap();
        let outputs = runtime.run(&mut [&mut engine], &handle, &reads(&inputs)).unwrap();
        assert_eq!(outputs[0].shape(), [k as usize]);
    }
    let inputs = [counting(&[6]), scalar(7)];
    let error = runtime.warm_up(&mut [&mut engine], &handle, &reads(&inputs)).unwrap_err();
    assert_eq!(error.to_string(), "head: size `k` is 7 (the value of count), but at most n = 6");
}

#[test]
fn each_program_speaks_in_its_own_names() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let named = |[program, size, input, count]: [&str; 4], taken: &str| {
        let mut b = ProgramBuilder::new(program.to_owned());
        let n = b.size(size.to_owned());
        let x = b.input(input.to_owned(), DType::F64, &[n]).unwrap();
        let count = b.input(count.to_owned(), DType::I64, &[]).unwrap();
        // What the passes drop makes the program lowered another than each of these.
        b.exp(x).unwrap();
        let twice = b.add(x, x).unwrap();
        let head = b.dynamic_truncate(twice, count, 0).unwrap();
        let mut program = b.finish(&[(None, head)]).unwrap();
        program.sizes.to_mut()[1].name = taken.to_owned().into();
        Arc::new(program)
    };
    let inputs = [counting(&[6]), scalar(7)];
    let mut said = |names, taken| {
        let handle = runtime.prepare(named(names, taken), &reads(&inputs), &[engine.target()]).unwrap();
        let error = runtime.run(&mut [&mut engine], &handle, &reads(&inputs)).unwrap_err();
        (error.to_string(), handle.explain().to_string())
    };
    for (names, taken) in [(["head", "n", "x", "count"], "k"), (["start", "rows", "table", "wanted"], "kept")] {
        let (error, text) = said(names, taken);
        let [program, size, input, count] = names;
        assert_eq!(error, format!("{program}: size `{taken}` is 7 (the value of {count}), but at most {size} = 6"));
        assert!(text.contains(&format!("reads a size off {count}: i64; it is `{taken}`")), "{text}");
        assert!(text.contains(&format!("{input}: f64[{size}]")), "{text}");
    }
    // To find what is to be known, and with that.
    assert_eq!(runtime.prepared_cache_stats().preparations, 2);
}

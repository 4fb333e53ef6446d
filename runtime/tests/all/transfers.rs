//! Programs over engines of different memories, on an engine that refuses what is not in its own.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tenferro_core::ops::CoreOp;
use tenferro_core::program::{ProgramBuilder, SemanticProgram};
use tenferro_core::{DType, Layout, Tensor, TensorRead, TensorView, with_dtype};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{
    AllocationDomain, Command, ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error,
    ExtensionCacheStore, Placement, Preference, Preparation, PrepareRequest, Provider, Result, Runtime, Transfer,
};

use super::support::*;

const FAR: EngineId = EngineId::from_static("demo.far.v1");
const THERE: Option<AllocationDomain> = Some(AllocationDomain(7));

/// The id of another engine in the same memory.
const ALSO_FAR: EngineId = EngineId::from_static("demo.far.v2");

/// The reference engine in a memory of its own: it works on tensors allocated there and on no others, and must be waited
/// for before anybody else reads what it wrote or writes what it read.
struct Far {
    id: EngineId,
    inner: ReferenceEngine,
    own: HashSet<usize>,
    memory: Arc<Mutex<FarMemory>>,
}

/// The memory of one engine, or of two.
#[derive(Default)]
struct FarMemory {
    tensors: HashSet<usize>,
    /// By address: who may not be done with it, and whether it is written.
    pending: Vec<(EngineId, usize, bool)>,
}

impl Default for Far {
    fn default() -> Self {
        Self::new(FAR, &Arc::default())
    }
}

fn address(view: &TensorView<'_>) -> usize {
    with_dtype!(view.dtype(), T => view.buffer::<T>().unwrap().as_ptr().addr())
}

impl Far {
    fn new(id: EngineId, memory: &Arc<Mutex<FarMemory>>) -> Self {
        Self { id, inner: ReferenceEngine::new(), own: HashSet::new(), memory: Arc::clone(memory) }
    }

    /// Notes that this engine reads or writes a tensor from now until it is waited for.
    fn touch(&self, view: &TensorView<'_>, writes: bool) {
        self.check(view, writes);
        self.memory.lock().unwrap().pending.push((self.id.clone(), address(view), writes));
    }

    /// Fails where a tensor is elsewhere, or another engine is not done with it.
    fn check(&self, view: &TensorView<'_>, writes: bool) {
        let memory = self.memory.lock().unwrap();
        assert!(memory.tensors.contains(&address(view)), "a tensor of other memory: {:?}", view.shape());
        for (engine, at, written) in &memory.pending {
            let is_race = *at == address(view) && *engine != self.id && (writes || *written);
            assert!(!is_race, "{} is not done with what {} uses", engine, self.id);
        }
    }
}

impl Engine for Far {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: self.id.clone(), context: ContextIdentity::of::<Self>(), allocation_domain: THERE }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        let tensor = self.inner.allocate(dtype, shape)?;
        self.own.insert(address(&tensor.view()));
        self.memory.lock().unwrap().tensors.insert(address(&tensor.view()));
        Ok(tensor)
    }
    fn recycle(&mut self, tensor: Tensor) {
        self.check(&tensor.view(), true);
        assert!(self.own.remove(&address(&tensor.view())), "a tensor of another engine");
        let mut memory = self.memory.lock().unwrap();
        memory.tensors.remove(&address(&tensor.view()));
        // The address may come again, for a tensor of the other engine.
        memory.pending.retain(|(_, at, _)| *at != address(&tensor.view()));
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        self.touch(source, false);
        self.touch(&destination.view(), true);
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        panic!("no operation family runs here");
    }
    fn synchronize(&mut self) -> Result<()> {
        let mut memory = self.memory.lock().unwrap();
        memory.pending.retain(|(engine, ..)| *engine != self.id);
        Ok(())
    }
}

/// The reference engine's command on tensors of the other.
#[derive(Debug)]
struct There(Arc<dyn Command>);

impl Command for There {
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        let far = engine.downcast_mut::<Far>().unwrap();
        inputs.iter().for_each(|input| far.touch(input, false));
        outputs.iter().for_each(|output| far.touch(&output.view(), true));
        self.0.execute(&mut far.inner, inputs, outputs)
    }
    fn name(&self) -> &str {
        self.0.name()
    }
}

struct Provided;

impl Provider for Provided {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(match reference::registration().provider().prepare(request)? {
            Preparation::Command(command) => Preparation::command(There(command)),
            other => other,
        })
    }
}

/// Counts what it brings.
#[derive(Clone, Default)]
struct Bridge(Arc<AtomicUsize>);

impl Transfer for Bridge {
    fn transfer(
        &self,
        from: Option<&mut dyn Engine>,
        source: &TensorView<'_>,
        to: Option<&mut dyn Engine>,
        destination: &mut Tensor,
    ) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert_eq!((source.dtype(), source.shape()), (destination.dtype(), destination.shape()));
        let mut ends = 0;
        for (engine, view, writes) in [(from, source.clone(), false), (to, destination.view(), true)] {
            let Some(far) = engine.and_then(|engine| engine.downcast_mut::<Far>()) else { continue };
            far.synchronize()?;
            far.check(&view, writes);
            ends += 1;
        }
        assert_eq!(ends, 1);
        with_dtype!(source.dtype(), T => {
            let entries = source.iter::<T>()?;
            destination.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
        });
        Ok(())
    }
}

struct Two {
    runtime: Runtime,
    out: Bridge,
    back: Bridge,
}

impl Two {
    fn new(placement: Placement) -> Self {
        let (out, back) = (Bridge::default(), Bridge::default());
        let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
        let far = EngineRegistration::new::<Far>(FAR, Arc::new(Provided)).in_domain(AllocationDomain(7));
        let builder = builder.register_engine(far).unwrap().with_placement(placement);
        let builder = builder.register_transfer(None, THERE, Arc::new(out.clone())).unwrap();
        let builder = builder.register_transfer(THERE, None, Arc::new(back.clone())).unwrap();
        Self { runtime: builder.build().unwrap(), out, back }
    }

    /// How many transfers a run took to the other memory and back, and its results.
    fn run(&self, program: &Arc<SemanticProgram>, inputs: &[TensorRead<'_>]) -> ((usize, usize), Vec<Tensor>) {
        let (mut near, mut far) = (ReferenceEngine::new(), Far::default());
        let prepared = self.runtime.prepare(program, inputs, &[near.target(), far.target()]).unwrap();
        let mut engines: [&mut dyn Engine; 2] = [&mut near, &mut far];
        self.taken();
        let outputs = self.runtime.run(&mut engines, &prepared, inputs).unwrap();
        let taken = self.taken();
        let outputs: Vec<Tensor> =
            outputs.into_iter().map(|output| output.into_tensor(&mut *engines[1]).unwrap()).collect();
        // The same into tensors that are given, and on the other engine alone.
        let mut given: Vec<Tensor> =
            outputs.iter().map(|output| Tensor::zeros(output.dtype(), output.shape()).unwrap()).collect();
        let mut into: Vec<&mut Tensor> = given.iter_mut().collect();
        self.runtime.run_into(&mut engines, &prepared, inputs, &mut into).unwrap();
        assert_eq!(given, outputs);
        assert!(far.own.is_empty(), "{} tensors were not given back", far.own.len());
        (taken, outputs)
    }

    fn taken(&self) -> (usize, usize) {
        (self.out.0.swap(0, Ordering::Relaxed), self.back.0.swap(0, Ordering::Relaxed))
    }
}

fn pinned(ops: &[&'static str]) -> Placement {
    ops.iter().fold(Placement::default(), |placement, &op| placement.pin(op, FAR))
}

#[test]
fn values_are_brought_where_they_are_needed_and_once() {
    let x = [vector(&[0.5, -1.0])];
    let chain = program(&[("x", &["n"])], |b, v, _| {
        let e = b.exp(v[0]).unwrap();
        let s = b.sin(e).unwrap();
        let c = b.cos(e).unwrap();
        vec![b.add(s, c).unwrap()]
    });
    let expected = run(&chain, &reads(&x)).remove(0).into_tensor(&mut ReferenceEngine::new()).unwrap();
    for (ops, transfers) in [
        (&[][..], (0, 0)),
        // The input there, the result back once for two readers.
        (&["exp"], (1, 1)),
        // The result of `exp` there once for two readers, both results back.
        (&["sin", "cos"], (1, 2)),
        (&["exp", "sin"], (1, 2)),
        (&["exp", "sin", "cos"], (1, 2)),
        (&["exp", "sin", "cos", "add"], (1, 1)),
        (&["add"], (2, 1)),
    ] {
        let (taken, outputs) = Two::new(pinned(ops)).run(&chain, &reads(&x));
        assert_eq!(outputs, std::slice::from_ref(&expected), "{ops:?}");
        assert_eq!(taken, transfers, "{ops:?}");
    }
}

#[test]
fn a_broadcast_is_brought_before_it_repeats() {
    let spread = program(&[("x", &["n", "n"]), ("s", &[])], |b, v, sizes| {
        let everywhere = b.broadcast_in_dim(v[1], &[sizes[0].clone(), sizes[0].clone()], &[]).unwrap();
        vec![b.mul(v[0], everywhere).unwrap(), everywhere]
    });
    let two = Two::new(pinned(&["mul"]));
    let inputs = [counting(&[3, 3]), Tensor::scalar(2.0)];
    let ((out, back), outputs) = two.run(&spread, &reads(&inputs));
    assert_eq!((out, back), (2, 1));
    assert_eq!(outputs[0].to_vec_col_major::<f64>().unwrap(), (1..=9).map(|i| 2.0 * i as f64).collect::<Vec<_>>());
    let targets = [target(), Far::default().target()];
    let text = two.runtime.prepare(&spread, &reads(&inputs), &targets).unwrap().explain().to_string();
    assert!(text.contains("transfer(s: f64) -> s'"), "{text}");
}

/// Inputs, constants, sizes and results as operands of views of every kind, whose readers are named.
fn everything() -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("everything");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let half = b.constant(0.5.into()).unwrap();
    let size = b.op(CoreOp::SizeValue { dim: n.clone(), dtype: DType::F64 }, &[]).unwrap();
    let scale = b.mul(half, size).unwrap();
    let turned = b.transpose(x, &[1, 0]).unwrap();
    let flat = b.reshape(turned, &[n.clone() * m.clone()]).unwrap();
    let exp = b.exp(flat).unwrap();
    let scales = b.broadcast_in_dim(scale, &[n.clone() * m.clone()], &[]).unwrap();
    let scaled = b.mul(exp, scales).unwrap();
    let back = b.reshape(scaled, &[m, n]).unwrap();
    let across = b.transpose(back, &[1, 0]).unwrap();
    let sin = b.sin(across).unwrap();
    let flatter = b.reshape(across, &[b.meta(flat).shape[0].clone()]).unwrap();
    let sum = b.sum(flatter, &[0]).unwrap();
    let both = b.add(sin, x).unwrap();
    let outputs = [both, sum, across, sum, x, turned, half, scales, flat].map(|value| (None, value));
    Arc::new(b.finish(&outputs).unwrap())
}

#[test]
fn results_do_not_depend_on_placement() {
    let x = counting(&[2, 3]);
    let tensors = [x.clone(), x.view().transpose(&[1, 0]).unwrap().to_tensor().unwrap(), counting(&[0, 2])];
    let program = everything();
    let ops = ["mul", "exp", "sin", "sum", "add"];
    let near = |outputs: Vec<tenferro_runtime::Output<'_>>| -> Vec<Tensor> {
        outputs.into_iter().map(|output| output.into_tensor(&mut ReferenceEngine::new()).unwrap()).collect()
    };
    for input in tensors.iter().map(TensorRead::from).chain([TensorRead::from(x.view().transpose(&[1, 0]).unwrap())]) {
        let inputs = [input];
        let expected = near(run(&program, &inputs));
        for subset in 0..1_u32 << ops.len() {
            let chosen: Vec<&'static str> = (0..ops.len()).filter(|i| subset & 1 << i != 0).map(|i| ops[i]).collect();
            let (_, outputs) = Two::new(pinned(&chosen)).run(&program, &inputs);
            assert_eq!(outputs, expected, "{chosen:?}");
        }
        // Without any engine in host memory.
        let (two, mut far) = (Two::new(Placement::default()), Far::default());
        let prepared = two.runtime.prepare(&program, &inputs, &[far.target()]).unwrap();
        let outputs = near(two.runtime.run(&mut [&mut far], &prepared, &inputs).unwrap());
        assert_eq!(outputs, expected);
        let mut given: Vec<Tensor> = outputs.iter().map(|o| Tensor::zeros(o.dtype(), o.shape()).unwrap()).collect();
        let mut into: Vec<&mut Tensor> = given.iter_mut().collect();
        two.runtime.run_into(&mut [&mut far], &prepared, &inputs, &mut into).unwrap();
        assert_eq!(given, expected);
        assert!(far.own.is_empty());
    }
}

#[test]
fn engines_of_one_memory_wait_for_each_other() {
    let x = counting(&[2, 3]);
    let inputs = [TensorRead::from(&x)];
    let program = everything();
    let near = |outputs: Vec<tenferro_runtime::Output<'_>>| -> Vec<Tensor> {
        outputs.into_iter().map(|output| output.into_tensor(&mut ReferenceEngine::new()).unwrap()).collect()
    };
    let expected = near(run(&program, &inputs));
    let ops = ["mul", "exp", "sin", "sum", "add"];
    for subset in 0..1_u32 << ops.len() {
        let engine = |i: usize| if subset & 1 << i != 0 { ALSO_FAR } else { FAR };
        let placement = (0..ops.len()).fold(Placement::default(), |placement, i| placement.pin(ops[i], engine(i)));
        let mut builder = Runtime::builder().with_placement(placement);
        for id in [FAR, ALSO_FAR] {
            let registration = EngineRegistration::new::<Far>(id, Arc::new(Provided)).in_domain(AllocationDomain(7));
            builder = builder.register_engine(registration).unwrap();
        }
        let builder = builder.register_transfer(None, THERE, Arc::new(Bridge::default())).unwrap();
        let builder = builder.register_transfer(THERE, None, Arc::new(Bridge::default())).unwrap();
        let runtime = builder.build().unwrap();
        let memory = Arc::default();
        let (mut one, mut other) = (Far::new(FAR, &memory), Far::new(ALSO_FAR, &memory));
        let prepared = runtime.prepare(&program, &inputs, &[one.target(), other.target()]).unwrap();
        for _ in 0..2 {
            let outputs = near(runtime.run(&mut [&mut one, &mut other], &prepared, &inputs).unwrap());
            assert_eq!(outputs, expected, "{subset:b}");
            assert!(one.own.is_empty() && other.own.is_empty());
        }
    }
}

#[test]
fn outputs_have_arrived_when_a_run_ends() {
    /// In host memory; counts how often it is waited for.
    #[derive(Default)]
    struct Near(ReferenceEngine, usize);
    const NEAR: EngineId = EngineId::from_static("demo.near.v1");
    impl Engine for Near {
        fn target(&self) -> EngineTarget {
            EngineTarget { engine_id: NEAR, context: ContextIdentity::of::<Self>(), allocation_domain: None }
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
        fn synchronize(&mut self) -> Result<()> {
            self.1 += 1;
            Ok(())
        }
    }
    let exp = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let two = Two::new(pinned(&["exp"]));
    let registration = EngineRegistration::new::<Near>(NEAR, Arc::new(Provided));
    two.runtime.reconfigure(|builder| builder.register_engine(registration)).unwrap();
    let (mut near, mut far) = (Near::default(), Far::default());
    let x = [vector(&[0.5])];
    let prepared = two.runtime.prepare(&exp, &reads(&x), &[near.target(), far.target()]).unwrap();
    two.runtime.run(&mut [&mut near, &mut far], &prepared, &reads(&x)).unwrap();
    assert_eq!(near.1, 1);
    let mut y = vector(&[0.0]);
    two.runtime.run_into(&mut [&mut near, &mut far], &prepared, &reads(&x), &mut [&mut y]).unwrap();
    assert_eq!((near.1, y.as_slice::<f64>().unwrap()), (2, &[0.5_f64.exp()][..]));
}

#[test]
fn operations_stay_where_their_operands_are() {
    let x = [vector(&[0.5, -1.0])];
    let chain = program(&[("x", &["n"])], |b, v, _| {
        let e = b.exp(v[0]).unwrap();
        let s = b.sin(e).unwrap();
        let c = b.cos(s).unwrap();
        vec![b.add(s, c).unwrap()]
    });
    let expected = Two::new(Placement::default()).run(&chain, &reads(&x)).1;
    let stays = Placement::new(Preference::Operands).pin("exp", FAR);
    let (taken, outputs) = Two::new(stays).run(&chain, &reads(&x));
    assert_eq!((taken, &outputs), ((1, 1), &expected));
    let (taken, outputs) = Two::new(Placement::default().pin("exp", FAR)).run(&chain, &reads(&x));
    assert_eq!((taken, &outputs), ((1, 1), &expected));
    // Inputs are the host's, so nothing goes anywhere unasked.
    let (taken, _) = Two::new(Placement::new(Preference::Operands)).run(&chain, &reads(&x));
    assert_eq!(taken, (0, 0));
}

#[test]
fn a_size_is_read_in_host_memory() {
    let mut b = ProgramBuilder::new("first");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let twice = b.add(count, count).unwrap();
    let rows = b.dynamic_truncate(x, twice, 0).unwrap();
    let y = b.exp(rows).unwrap();
    let program = Arc::new(b.finish(&[(None, y)]).unwrap());
    let inputs = [counting(&[6]), Tensor::scalar(2_i64)];
    let expected: Vec<f64> = (1..=4).map(|i| f64::from(i).exp()).collect();
    for ops in [&["add"][..], &["exp"], &["add", "exp"]] {
        let (_, outputs) = Two::new(pinned(ops)).run(&program, &reads(&inputs));
        assert_eq!(outputs[0].to_vec_col_major::<f64>().unwrap(), expected, "{ops:?}");
    }
}

#[test]
fn a_way_that_is_missing_is_named() {
    let far = || EngineRegistration::new::<Far>(FAR, Arc::new(Provided)).in_domain(AllocationDomain(7));
    let with = |routes: &[(Option<AllocationDomain>, Option<AllocationDomain>)]| {
        let mut builder = Runtime::builder().register_engine(far()).unwrap();
        for &(from, to) in routes {
            builder = builder.register_transfer(from, to, Arc::new(Bridge::default())).unwrap();
        }
        builder.build().unwrap()
    };
    let exp = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let refused =
        |runtime: Runtime| runtime.prepare(&exp, &reads(&[vector(&[0.5])]), &[Far::default().target()]).unwrap_err();
    let error = refused(with(&[]));
    assert!(matches!(error, Error::NoTransfer { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: `exp` on engine \"demo.far.v1\" is in memory 7, but needs a value that is in host memory; \
         register a transfer with `RuntimeBuilder::register_transfer`"
    );
    let error = refused(with(&[(None, THERE)]));
    assert!(matches!(error, Error::NoTransfer { .. }));
    assert_eq!(
        error.to_string(),
        "Runtime::prepare: output 0 (all are) is in host memory, but needs a value that is in memory 7; \
         register a transfer with `RuntimeBuilder::register_transfer`"
    );
}

#[test]
fn a_way_has_one_transfer() {
    struct Other;
    impl Transfer for Other {
        fn transfer(
            &self,
            _: Option<&mut dyn Engine>,
            _: &TensorView<'_>,
            _: Option<&mut dyn Engine>,
            _: &mut Tensor,
        ) -> Result<()> {
            Err(Error::Execution { op: "transfer".to_owned(), message: "the line is down".to_owned() })
        }
    }
    let add = |transfer: Arc<dyn Transfer>| {
        let builder = Runtime::builder().register_transfer(None, THERE, Arc::new(Other)).unwrap();
        builder.register_transfer(None, THERE, transfer).err()
    };
    assert!(add(Arc::new(Other)).is_none());
    let error = add(Arc::new(Bridge::default())).unwrap();
    assert!(matches!(error, Error::DuplicateTransfer { .. }));
    assert_eq!(
        error.to_string(),
        "RuntimeBuilder::register_transfer: from host memory to memory 7 there is another transfer already"
    );
    let error = Runtime::builder().register_transfer(THERE, THERE, Arc::new(Other)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "RuntimeBuilder::register_transfer: argument `to`: what is in memory 7 needs no transfer to it"
    );
    // A failure is the run's, and leaves nothing behind.
    let builder = Runtime::builder().register_transfer(None, THERE, Arc::new(Other)).unwrap();
    let builder = builder.register_transfer(THERE, None, Arc::new(Bridge::default())).unwrap();
    let registration = EngineRegistration::new::<Far>(FAR, Arc::new(Provided)).in_domain(AllocationDomain(7));
    let runtime = builder.register_engine(registration).unwrap().build().unwrap();
    let exp = program(&[("x", &["n"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let (x, mut far) = ([vector(&[0.5])], Far::default());
    let prepared = runtime.prepare(&exp, &reads(&x), &[far.target()]).unwrap();
    let error = runtime.run(&mut [&mut far], &prepared, &reads(&x)).unwrap_err();
    assert_eq!(error.to_string(), "`transfer`: the line is down");
    assert!(far.own.is_empty());
}

#[test]
fn layouts_of_what_is_brought_are_compact() {
    // A kernel that is chosen by layouts may not be chosen by those of the input.
    let x = counting(&[2, 3]);
    let turned = TensorRead::from(x.view().transpose(&[1, 0]).unwrap());
    assert!(!Layout::is_contiguous(turned.layout()));
    let exp = program(&[("x", &["n", "m"])], |b, v, _| vec![b.exp(v[0]).unwrap()]);
    let (taken, outputs) = Two::new(pinned(&["exp"])).run(&exp, std::slice::from_ref(&turned));
    assert_eq!(taken, (1, 1));
    assert_eq!(outputs[0].to_vec_col_major::<f64>().unwrap(), values(&run(&exp, &[turned])[0]));
}

//! Sessions on engines of a memory of their own, and on runtimes that are reconfigured while they are used.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tenferro::einsum::ConcreteEinsum;
use tenferro::extension::{Command, Preparation, PrepareRequest};
use tenferro::prelude::*;
use tenferro::runtime::reference::{self, ReferenceEngine};
use tenferro::runtime::{
    AllocationDomain, ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, Error, ExtensionCacheStore,
    Provider, Result, Runtime, Transfer,
};
use tenferro::tensor::{TensorRead, TensorView};
use tenferro_core::with_dtype;

tenferro! {
    fn spread(x: f64[n]) -> (mean: f64, centred: f64[n]) {
        let m = mean(x);
        (m, x - m)
    }
}

const FAR: EngineId = EngineId::from_static("demo.far.v1");
const DOMAIN: AllocationDomain = AllocationDomain(3);

/// The reference engine in a memory of its own, which takes back what it allocated and nothing else.
#[derive(Default)]
struct Far {
    inner: ReferenceEngine,
    own: HashSet<usize>,
}

fn address(view: &TensorView<'_>) -> usize {
    with_dtype!(view.dtype(), T => view.buffer::<T>().unwrap().as_ptr().addr())
}

impl Engine for Far {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: FAR, context: ContextIdentity::of::<Self>(), allocation_domain: Some(DOMAIN) }
    }
    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        let tensor = self.inner.allocate(dtype, shape)?;
        self.own.insert(address(&tensor.view()));
        Ok(tensor)
    }
    fn recycle(&mut self, tensor: Tensor) {
        assert!(self.own.remove(&address(&tensor.view())), "a tensor of other memory");
    }
    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        assert!(self.own.contains(&address(source)), "a tensor of other memory");
        self.inner.copy(source, destination)
    }
    fn caches(&mut self) -> &mut ExtensionCacheStore {
        self.inner.caches()
    }
}

#[derive(Debug)]
struct There(Arc<dyn Command>);

impl Command for There {
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        self.0.execute(&mut engine.downcast_mut::<Far>().unwrap().inner, inputs, outputs)
    }
    fn name(&self) -> &str {
        self.0.name()
    }
}

struct Provided;

impl Provider for Provided {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(match reference::registration().provider().prepare(request)? {
            Preparation::Command(command) => Preparation::Command(Arc::new(There(command))),
            other => other,
        })
    }
}

struct Bridge;

impl Transfer for Bridge {
    fn transfer(
        &self,
        _: Option<&mut dyn Engine>,
        source: &TensorView<'_>,
        _: Option<&mut dyn Engine>,
        destination: &mut Tensor,
    ) -> Result<()> {
        with_dtype!(source.dtype(), T => {
            let entries = source.iter::<T>()?;
            destination.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(to, from)| *to = from);
        });
        Ok(())
    }
}

#[test]
fn results_of_an_engine_of_other_memory() {
    let registration = EngineRegistration::new::<Far>(FAR, Arc::new(Provided)).in_domain(DOMAIN);
    let mut session = Session::with_engine(Far::default(), registration, []).unwrap();
    let (here, there) = (None, Some(DOMAIN));
    let both = |builder: tenferro::runtime::RuntimeBuilder| {
        let builder = builder.register_transfer(here, there, Arc::new(Bridge))?;
        builder.register_transfer(there, here, Arc::new(Bridge))
    };
    session.runtime().reconfigure(both).unwrap();
    let x = TypedTensor::from_vec_col_major([3], vec![1.0, 2.0, 6.0]).unwrap();
    let SpreadOutput { mean, centred } = spread.run(&mut session, &x).unwrap();
    assert_eq!((mean, centred.to_vec_col_major()), (3.0, vec![-2.0, -1.0, 3.0]));
    let (mut mean, mut centred) = (0.0, TypedTensor::zeros([3]).unwrap());
    spread.run_into(&mut session, &x, &mut mean, &mut centred).unwrap();
    assert_eq!((mean, centred.to_vec_col_major()), (3.0, vec![-2.0, -1.0, 3.0]));
    assert!(session.engine().downcast_mut::<Far>().unwrap().own.is_empty());
}

/// Reconfigures the runtime while it prepares for it, so that what is prepared is outdated at once: so many times.
struct Unsteady {
    runtime: Arc<OnceLock<Runtime>>,
    left: Arc<AtomicUsize>,
}

impl Provider for Unsteady {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let fewer = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok() {
            self.runtime.get().unwrap().reconfigure(Ok)?;
        }
        reference::registration().provider().prepare(request)
    }
}

#[test]
fn calls_outlast_reconfigurations() {
    let (cell, left) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
    let provider = Unsteady { runtime: Arc::clone(&cell), left: Arc::clone(&left) };
    let registration = EngineRegistration::new::<ReferenceEngine>(reference::ENGINE_ID, Arc::new(provider));
    let mut session = Session::with_engine(ReferenceEngine::new(), registration, [reference::module()]).unwrap();
    assert!(cell.set(session.runtime().clone()).is_ok());
    let x = TypedTensor::from_vec_col_major([3], vec![1.0, 2.0, 6.0]).unwrap();
    let einsum = ConcreteEinsum::new("i,->i").unwrap().with_conjugated(&[0]).unwrap();
    let unsteady = |session: &Session, times| {
        session.runtime().reconfigure(Ok).unwrap();
        left.store(times, Ordering::Relaxed);
    };
    // At first nothing is prepared; then what was is outdated too.
    for _ in 0..2 {
        unsteady(&session, 3);
        assert_eq!(spread.run(&mut session, &x).unwrap().mean, 3.0);
        assert_eq!(left.load(Ordering::Relaxed), 0);
    }
    unsteady(&session, 3);
    let outputs = session.run(spread.program(), &[TensorRead::from(&x)]).unwrap();
    assert_eq!(outputs[0].item::<f64>().unwrap(), 3.0);
    unsteady(&session, usize::MAX);
    let error = spread.run(&mut session, &x).err().unwrap();
    assert!(matches!(error, Error::StaleEpoch { .. }), "{error}");
    unsteady(&session, 0);
    // An einsum alone asks no provider: the conjugate does.
    let (z, two) = (Tensor::from_vec_col_major([1], vec![3.0]).unwrap(), Tensor::scalar(2.0));
    for times in [0, 3, 0] {
        unsteady(&session, times);
        let result = einsum.run(&mut session, &[&z, &two]).unwrap();
        assert_eq!(result.as_slice::<f64>().unwrap(), [6.0]);
    }
    einsum.run(&mut session, &[&z, &two]).unwrap();
    let stats = einsum.stats();
    assert_eq!((stats.entries, stats.hits, stats.misses), (1, 1, 3));
}

//! [`ConcreteEinsum`]: an einsum of tensors at hand, read once and run often.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use super::equation::{Equation, Source};
use crate::dtype::ScalarValue;
use crate::einsum::{EinsumOp, EinsumOptimize, Goal};
use crate::program::{ProgramBuilder, SemanticProgram, ValueId};
use crate::recent::{Recent, until_current};
use crate::runtime::{Engine, Error, Prepared, Runtime};
use crate::tensor::{Tensor, TensorRead};
use crate::{Result, Session};

/// An einsum that is read once and run on any session, with operands of any one numeric dtype and of any shapes that
/// fit. Axes of extent 1 stretch to the extent their label has elsewhere.
///
/// It keeps what was prepared for the last 16 shapes of each of 8 sessions, so that a run with shapes seen before plans nothing. Threads may
/// share it, each with a session of its own.
///
/// ```
/// use tenferro::einsum::{ConcreteEinsum, EinsumOptimize};
/// use tenferro::prelude::*;
///
/// let mut session = Session::cpu();
/// let chain = ConcreteEinsum::new("ij,jk,k->i")?.with_plan(EinsumOptimize::Optimal)?;
/// let a = Tensor::from_vec_row_major([2, 2], vec![1, 2, 3, 4])?;
/// let x = Tensor::from_vec_col_major([2], vec![1, 1])?;
/// for _ in 0..3 {
///     let y = chain.run(&mut session, &[&a, &a, &x])?;
///     assert_eq!(y.as_slice::<i32>()?, [17, 37]);
/// }
/// let stats = chain.stats();
/// assert_eq!((stats.entries, stats.hits, stats.misses), (1, 2, 1));
/// # Ok::<(), tenferro::Error>(())
/// ```
pub struct ConcreteEinsum {
    source: Source,
    plan: EinsumOptimize,
    goal: Goal,
    /// The operands to be conjugated.
    conjugated: SmallVec<[usize; 2]>,
    cache: Mutex<Cache>,
}

/// What the cache of a [`ConcreteEinsum`] holds and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConcreteEinsumStats {
    /// What is prepared: one entry for a session, a dtype and shapes.
    pub entries: usize,
    /// Runs that found their entry.
    pub hits: u64,
    /// Runs that had to plan.
    pub misses: u64,
}

#[derive(Default)]
struct Cache {
    /// By session, the last one used in front.
    sessions: SmallVec<[(u64, Recent); 1]>,
    hits: u64,
    misses: u64,
}

impl Cache {
    const SESSIONS: usize = 8;
    const SHAPES: usize = 16;

    fn of_session(&mut self, id: u64) -> &mut Recent {
        match self.sessions.iter().position(|(own, _)| *own == id) {
            Some(0) => {}
            Some(position) => self.sessions[..=position].rotate_right(1),
            None => {
                self.sessions.truncate(Self::SESSIONS - 1);
                self.sessions.insert(0, (id, Recent::keeping(Self::SHAPES)));
            }
        }
        &mut self.sessions[0].1
    }
}

impl ConcreteEinsum {
    /// The einsum of text, of a notation or of integer labels, planned by [`EinsumOptimize::Auto`].
    ///
    /// # Errors
    /// Text that is no notation, with the place.
    pub fn new<'e>(equation: impl Into<Equation<'e>>) -> Result<Self> {
        let source = Source::new(equation.into())?;
        Ok(Self {
            source,
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
            conjugated: SmallVec::new(),
            cache: Mutex::default(),
        })
    }

    /// The same einsum, its order of contraction found in another way.
    ///
    /// # Errors
    /// Where parentheses fix the order already; a plan that does not fit the number of operands. Whether there are the
    /// labels that it slices, a run says: it depends on the ranks.
    pub fn with_plan(mut self, plan: EinsumOptimize) -> Result<Self> {
        if let Source::Text(notation) | Source::Notation(notation) = &self.source
            && notation.fixes_order()
        {
            return Err(self.refuse("optimize", "is given, but parentheses in the notation fix the order already"));
        }
        plan.check(self.operand_count())?;
        self.plan = plan;
        self.clear();
        Ok(self)
    }

    /// The same einsum with another goal for its plan: what is made small, and in how much memory.
    ///
    /// # Errors
    /// A memory limit of 0, or weights that are all 0.
    pub fn with_goal(mut self, goal: Goal) -> Result<Self> {
        goal.check()?;
        self.goal = goal;
        self.clear();
        Ok(self)
    }

    /// The same einsum with the complex conjugate of these operands, named once or more; real ones are their own.
    ///
    /// # Errors
    /// An operand that does not exist.
    ///
    /// ```
    /// use tenferro::dtype::Complex64;
    /// use tenferro::einsum::ConcreteEinsum;
    /// use tenferro::prelude::*;
    ///
    /// let z = Tensor::from_vec_col_major([1], vec![Complex64::new(3.0, 4.0)])?;
    /// let norm2 = ConcreteEinsum::new("i,i->")?.with_conjugated(&[0])?;
    /// assert_eq!(norm2.run(&mut Session::cpu(), &[&z, &z])?.item::<Complex64>()?, Complex64::new(25.0, 0.0));
    /// # Ok::<(), tenferro::Error>(())
    /// ```
    pub fn with_conjugated(mut self, operands: &[usize]) -> Result<Self> {
        let count = self.operand_count();
        if let Some(operand) = operands.iter().find(|&&operand| operand >= count) {
            return Err(self.refuse("conjugated", format!("names operand {operand}, but there are {count}")));
        }
        self.conjugated = operands.into();
        self.conjugated.sort_unstable();
        self.conjugated.dedup();
        self.clear();
        Ok(self)
    }

    /// The number of operands.
    pub fn operand_count(&self) -> usize {
        match &self.source {
            Source::Text(notation) | Source::Notation(notation) => notation.operand_count(),
            Source::Labels(labels) => labels.inputs.len(),
        }
    }

    /// The operation for operands of these shapes.
    ///
    /// # Errors
    /// Shapes that do not fit the equation or each other, with the place.
    pub fn op(&self, shapes: &[&[usize]]) -> Result<EinsumOp> {
        let op = match &self.source {
            Source::Text(notation) | Source::Notation(notation) => {
                EinsumOp::concrete(notation, shapes).map_err(tenferro_core::Error::from)?
            }
            Source::Labels(labels) => EinsumOp::concrete_labels(labels, shapes)?,
        };
        let op = op.with_goal(self.goal)?;
        Ok(match &self.plan {
            EinsumOptimize::Auto => op,
            plan => op.with_plan(plan.clone())?,
        })
    }

    /// Computes the einsum.
    ///
    /// # Errors
    /// Operands whose number, dtypes or shapes do not fit; and those of the engine.
    pub fn run<'a, O>(&self, session: &mut Session, operands: &[O]) -> Result<Tensor>
    where
        O: Clone + Into<TensorRead<'a>>,
    {
        self.compute(session, &reads(operands), &[])
    }

    /// Computes `alpha * einsum + beta * out` into `out`. Where `beta` is 0 the old value is not looked at: not even
    /// `NaN` in it matters; the operands are read even where `alpha` is 0, and their `NaN` stays. Integers wrap.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); an `out` whose dtype or shape is not the result's; an `alpha` or `beta` of another
    /// dtype. After an error `out` is as it was, unless it is the engine's.
    pub fn run_into<'a, O>(
        &self,
        session: &mut Session,
        operands: &[O],
        alpha: impl Into<ScalarValue>,
        beta: impl Into<ScalarValue>,
        out: &mut Tensor,
    ) -> Result<()>
    where
        O: Clone + Into<TensorRead<'a>>,
    {
        let inputs = reads(operands);
        let (alpha, beta) = (alpha.into(), beta.into());
        let dtype = out.dtype();
        for (argument, scalar) in [("alpha", alpha), ("beta", beta)] {
            if scalar.dtype() != dtype {
                return Err(tenferro_core::Error::DType {
                    op: self.name().into(),
                    argument: argument.into(),
                    expected: format!("{dtype} as `out`").into(),
                    actual: scalar.dtype(),
                }
                .into());
            }
        }
        match (alpha == ScalarValue::one(dtype), beta.is_zero()) {
            (true, true) => self.compute_into(session, &inputs, &[], out),
            (false, true) => self.compute_into(session, &inputs, &[&Tensor::scalar(alpha)], out),
            (_, false) => {
                // The old value is an operand, so the result is another tensor.
                let scalars = [alpha, beta].map(Tensor::scalar);
                let new = self.compute(session, &inputs, &[&scalars[0], &scalars[1], out])?;
                session.engine().recycle(mem::replace(out, new));
                Ok(())
            }
        }
    }

    /// What the cache holds and did.
    pub fn stats(&self) -> ConcreteEinsumStats {
        let cache = self.lock();
        let entries = cache.sessions.iter().map(|(_, recent)| recent.len()).sum();
        ConcreteEinsumStats { entries, hits: cache.hits, misses: cache.misses }
    }

    /// Forgets what was prepared.
    pub fn clear(&self) {
        self.lock().sessions.clear();
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn conjugates_first(&self) -> bool {
        self.conjugated[..] == [0]
    }

    pub(super) fn compute(
        &self,
        session: &mut Session,
        operands: &[TensorRead<'_>],
        scaling: &[&Tensor],
    ) -> Result<Tensor> {
        let inputs = self.inputs(operands, scaling)?;
        let mut outputs = self.with_prepared(session, &inputs, operands.len(), |runtime, engine, prepared| {
            let outputs = runtime.run(&mut [&mut *engine], prepared, &inputs)?;
            outputs.into_iter().map(|output| output.into_tensor(engine)).collect::<Result<Vec<_>>>()
        })?;
        match outputs.pop() {
            Some(output) => Ok(output),
            None => unreachable!("the program has one output"),
        }
    }

    fn compute_into(
        &self,
        session: &mut Session,
        operands: &[TensorRead<'_>],
        scaling: &[&Tensor],
        out: &mut Tensor,
    ) -> Result<()> {
        let inputs = self.inputs(operands, scaling)?;
        self.with_prepared(session, &inputs, operands.len(), |runtime, engine, prepared| {
            runtime.run_into(&mut [engine], prepared, &inputs, &mut [out])
        })
    }

    /// Operands and what scales them as the inputs of one program.
    fn inputs<'a>(&self, operands: &[TensorRead<'a>], scaling: &[&'a Tensor]) -> Result<Inputs<'a>> {
        if operands.len() != self.operand_count() {
            let shapes: SmallVec<[&[usize]; 4]> = operands.iter().map(TensorRead::shape).collect();
            // What the equation itself says of so many operands, with the place.
            return match self.op(&shapes) {
                Err(error) => Err(error),
                Ok(_) => Err(self.refuse("operands", "are not as many as the terms of the equation")),
            };
        }
        let scaling = scaling.iter().map(|&tensor| TensorRead::from(tensor));
        Ok(operands.iter().cloned().chain(scaling).collect())
    }

    /// Runs what was prepared for these inputs, of which so many are operands.
    fn with_prepared<R>(
        &self,
        session: &mut Session,
        inputs: &[TensorRead<'_>],
        operands: usize,
        mut run: impl FnMut(&Runtime, &mut dyn Engine, &Prepared) -> Result<R>,
    ) -> Result<R> {
        let id = session.id();
        let (runtime, engine, targets) = session.parts();
        let mut is_hit = false;
        until_current(|is_another| {
            let known = {
                let mut guard = self.lock();
                let cache = &mut *guard;
                let recent = cache.of_session(id);
                let position = recent.position(inputs);
                if !is_another {
                    let known = position.map(|position| recent.prepared(position).clone());
                    is_hit = known.is_some();
                    *if is_hit { &mut cache.hits } else { &mut cache.misses } += 1;
                    known
                } else {
                    if let Some(position) = position {
                        recent.forget(position);
                    }
                    // It was one only if what it found ran.
                    if mem::take(&mut is_hit) {
                        cache.hits -= 1;
                        cache.misses += 1;
                    }
                    None
                }
            };
            let prepared = match known {
                Some(prepared) => prepared,
                None => {
                    let program = Arc::new(self.program(inputs, operands)?);
                    let prepared = runtime.prepare(program, inputs, targets)?;
                    self.lock().of_session(id).remember(inputs, prepared.clone());
                    prepared
                }
            };
            run(runtime, engine, &prepared)
        })
    }

    /// The einsum of the first inputs as a program of one node; scaled by those behind them, if there are any.
    fn program(&self, inputs: &[TensorRead<'_>], operands: usize) -> Result<SemanticProgram> {
        let shapes: SmallVec<[&[usize]; 4]> = inputs[..operands].iter().map(TensorRead::shape).collect();
        let op = self.op(&shapes)?;
        let mut b = ProgramBuilder::new(self.name());
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        for (i, input) in inputs.iter().enumerate() {
            let name = match i.checked_sub(operands) {
                None => format!("operand{i}"),
                Some(i) => ["alpha", "beta", "out"][i].to_owned(),
            };
            let shape: Vec<_> = input.shape().iter().map(|&extent| extent.into()).collect();
            values.push(b.input(name, input.dtype(), &shape)?);
        }
        let (operands, scaling) = values.split_at_mut(operands);
        for &operand in &self.conjugated {
            operands[operand] = b.conj(operands[operand])?;
        }
        let mut result = b.extension(op, operands)?[0];
        let shape = b.meta(result).shape.to_vec();
        let scaled = |b: &mut ProgramBuilder, value: ValueId, by: ValueId| {
            let by = b.broadcast_in_dim(by, &shape, &[])?;
            b.mul(by, value)
        };
        if let Some(&alpha) = scaling.first() {
            result = scaled(&mut b, result, alpha)?;
        }
        if let [_, beta, old] = *scaling {
            if b.meta(old) != b.meta(result) {
                let (expected, actual) = (b.meta(result), b.meta(old));
                return Err(Error::Output {
                    call: "einsum_into",
                    output: format!("`out` of {}", self.name()),
                    expected: b.size_names().meta(expected),
                    actual: b.size_names().meta(actual),
                });
            }
            let old = scaled(&mut b, old, beta)?;
            result = b.add(result, old)?;
        }
        Ok(b.finish(&[(None, result)])?)
    }

    /// The equation, for messages.
    fn name(&self) -> String {
        match &self.source {
            Source::Text(notation) | Source::Notation(notation) => format!("einsum \"{notation}\""),
            Source::Labels(labels) => format!("einsum \"{labels}\""),
        }
    }

    fn refuse(&self, argument: &'static str, message: impl Into<String>) -> Error {
        tenferro_core::Error::argument(self.name(), argument, message).into()
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        // Whatever a panic leaves of the cache is whole.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Inputs<'a> = SmallVec<[TensorRead<'a>; 4]>;

/// The operands as the runtime reads them.
pub(super) fn reads<'a, O: Clone + Into<TensorRead<'a>>>(operands: &[O]) -> Inputs<'a> {
    operands.iter().cloned().map(Into::into).collect()
}

impl Clone for ConcreteEinsum {
    /// The same einsum, with an empty cache.
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            plan: self.plan.clone(),
            goal: self.goal,
            conjugated: self.conjugated.clone(),
            cache: Mutex::default(),
        }
    }
}

impl fmt::Debug for ConcreteEinsum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcreteEinsum")
            .field("source", &self.source)
            .field("plan", &self.plan)
            .field("goal", &self.goal)
            .field("conjugated", &self.conjugated)
            .field("stats", &self.stats())
            .finish()
    }
}

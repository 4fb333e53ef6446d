//! Einsum: the steps of a contraction tree, planned when the program is prepared.

mod order;
mod slices;

use std::mem;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::extension::ExtensionOp;
use tenferro_core::{DType, Layout, Tensor, TensorView};
use tenferro_einsum::{Access, ContractionTree, EinsumOp, FAMILY_ID, Step, StepOperand};
use tenferro_runtime::reference::scalar::Arithmetic;
use tenferro_runtime::{Error, ExtensionModule, FamilyExecutor, Preparation, PrepareRequest, Registrar, Result};

use crate::command::counted;
use crate::contraction::{Contraction, Strided};
use crate::dtypes::numeric;
use crate::engine::{CpuEngine, ENGINE_ID};
use crate::memory::BufferPool;
use crate::movement::{CopyAxes, copy};
use crate::nest::{Axes, Axis};
use crate::reduce::{self, Reduction};
use crate::region::Element;
use crate::workers::Workers;

use order::arranged;
use slices::Slices;

/// The module that brings einsum to CPU engines, for
/// [`install_extension_module`](tenferro_runtime::RuntimeBuilder::install_extension_module).
pub fn module() -> Arc<dyn ExtensionModule> {
    Arc::new(EinsumModule)
}

struct EinsumModule;

impl ExtensionModule for EinsumModule {
    fn configure(&self, registrar: &mut Registrar) -> Result<()> {
        registrar.register_executor(ENGINE_ID, Arc::new(EinsumExecutor))
    }
}

struct EinsumExecutor;

impl FamilyExecutor for EinsumExecutor {
    fn family_id(&self) -> &'static str {
        FAMILY_ID
    }

    fn prepare(&self, op: &dyn ExtensionOp, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let Some(op) = op.as_any().downcast_ref::<EinsumOp>() else {
            let message = format!("a payload of this family is no einsum: {op:?}");
            return Err(Error::Execution { op: FAMILY_ID.to_owned(), message });
        };
        request.with(request.extents(), || {
            let shapes: Option<Vec<_>> = (0..request.inputs().len()).map(|i| request.input_shape(i)).collect();
            let (Some(operand), Some(shapes), Some(output)) =
                (request.inputs().first(), shapes, request.output_shape(0))
            else {
                return Ok(Preparation::Unsupported);
            };
            let output = Layout::col_major(&output)?;
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| shape.as_slice()).collect();
            let tree = op.tree(&shapes)?;
            tree.check_sizes()?;
            let dtype = operand.dtype;
            // A product and an addition for each step of the loops.
            let flops = 2.0 * tree.cost();
            let prepared = numeric!(dtype, T => counted("einsum", flops, move |layouts| {
                let plan = Plan::new(dtype, &tree, layouts, &output);
                Ok(move |engine: &mut CpuEngine, inputs: &[TensorView<'_>], output: &mut Tensor| {
                    plan.run::<T>(engine, inputs, output)
                })
            }));
            Ok(prepared.unwrap_or(Preparation::Unsupported))
        })
    }
}

/// The steps of a contraction tree for operands of known layouts, each with its method.
struct Plan {
    dtype: DType,
    steps: Vec<PlannedStep>,
    /// Where labels are repeated in the output: how to write it from a result without repetition.
    embed: Option<CopyAxes>,
    /// Where labels are sliced.
    slices: Option<Slices>,
}

/// What the steps of one thread work with.
pub(crate) struct Lane {
    pub pool: BufferPool,
    /// Memory for the results of the steps; empty between runs.
    results: Vec<Option<Tensor>>,
}

impl Lane {
    /// With a pool that keeps at most so many bytes.
    pub fn new(limit: usize) -> Self {
        Self { pool: BufferPool::new(limit), results: Vec::new() }
    }
}

struct PlannedStep {
    operands: SmallVec<[Source; 2]>,
    method: Method,
    /// Elements of its result.
    len: usize,
}

/// What a step reads.
enum Source {
    /// An input, from this position on.
    Input(usize, usize),
    /// The result of a step, which nothing else reads.
    Result(usize),
}

enum Method {
    Product(Contraction),
    Sum(Reduction),
    Copy(CopyAxes),
}

impl Plan {
    fn new(dtype: DType, tree: &ContractionTree, layouts: &[&Layout], output: &Layout) -> Self {
        let source = |operand: &StepOperand| match operand.slot.checked_sub(layouts.len()) {
            None => Source::Input(operand.slot, layouts[operand.slot].offset()),
            Some(step) => Source::Result(step),
        };
        let step = |step: &Step| PlannedStep {
            operands: step.operands.iter().map(source).collect(),
            method: match &step.operands[..] {
                [left, right] => {
                    let operands = [left, right].map(|operand| strided(tree, operand, layouts));
                    Method::Product(contraction(dtype, tree, &operands, step))
                }
                operands => Method::of_one(tree, &strided(tree, &operands[0], layouts), step),
            },
            len: size(tree, &step.labels),
        };
        let slices = (!tree.slices().is_empty()).then(|| Slices::new(dtype, tree, layouts, output));
        let embed = (slices.is_none() && tree.output().is_diagonal()).then(|| embedding(tree, output));
        Self { dtype, steps: arranged(tree, layouts).iter().map(step).collect(), embed, slices }
    }

    fn run<T: Element + Arithmetic>(
        &self,
        engine: &mut CpuEngine,
        inputs: &[TensorView<'_>],
        output: &mut Tensor,
    ) -> Result<()> {
        let CpuEngine { workers, lane, .. } = engine;
        if let Some(slices) = &self.slices {
            return slices.run::<T>(self, engine, inputs, output);
        }
        let source = |input: usize, start: usize| Ok((inputs[input].buffer::<T>()?, start));
        let Some(axes) = &self.embed else {
            return self.contract(workers, lane, source, output.as_mut_slice::<T>()?);
        };
        // What is repeated in the output is written through a copy without repetition.
        let mut distinct = lane.pool.allocate(self.dtype, &[self.len()])?;
        self.contract(workers, lane, source, distinct.as_mut_slice::<T>()?)?;
        let output = output.as_mut_slice::<T>()?;
        output.fill(T::ZERO);
        copy(workers, axes.iter().copied(), (output, 0), (distinct.as_slice::<T>()?, 0));
        lane.pool.recycle(distinct);
        Ok(())
    }

    /// Elements of the last result.
    fn len(&self) -> usize {
        self.steps.last().map_or(0, |step| step.len)
    }

    /// Does all steps, the last one into `output`. `input` gives the entries of an input and the first position, which
    /// the plan knows for a tensor that is read whole.
    fn contract<'v, T: Element + Arithmetic>(
        &self,
        workers: &Workers,
        lane: &mut Lane,
        input: impl Fn(usize, usize) -> Result<(&'v [T], usize)>,
        output: &mut [T],
    ) -> Result<()> {
        let mut results = mem::take(&mut lane.results);
        results.clear();
        for (index, step) in self.steps.iter().enumerate() {
            let is_last = index + 1 == self.steps.len();
            let mut fresh = if is_last { None } else { Some(lane.pool.allocate(self.dtype, &[step.len])?) };
            let result = match &mut fresh {
                Some(tensor) => tensor.as_mut_slice::<T>()?,
                None => &mut *output,
            };
            let source = |source: &Source| -> Result<(&[T], usize)> {
                match *source {
                    Source::Input(number, start) => input(number, start),
                    Source::Result(step) => match &results[step] {
                        Some(tensor) => Ok((tensor.as_slice::<T>()?, 0)),
                        None => unreachable!("a result is read once, after the step that makes it"),
                    },
                }
            };
            let first = source(&step.operands[0])?;
            match &step.method {
                Method::Product(contraction) => {
                    let second = source(&step.operands[1])?;
                    contraction.run(workers, &mut lane.pool, first, second, result)?;
                }
                Method::Sum(reduction) => {
                    reduction.run(workers, reduce::sum(), (first.0, first.1 as isize), result);
                }
                Method::Copy(axes) => copy(workers, axes.iter().copied(), (result, 0), (first.0, first.1 as isize)),
            }
            for operand in &step.operands {
                if let Source::Result(step) = operand
                    && let Some(tensor) = results[*step].take()
                {
                    lane.pool.recycle(tensor);
                }
            }
            results.push(fresh);
        }
        lane.results = results;
        Ok(())
    }
}

impl Method {
    /// That of a step of one operand: it is summed over the labels that its result lacks, or only permuted.
    fn of_one(tree: &ContractionTree, operand: &Strided, step: &Step) -> Self {
        let axis = |(label, stride): (u32, isize)| Axis { extent: tree.extents()[label as usize], strides: [stride] };
        let labels = || operand.labels.iter().copied().zip(operand.strides.iter().copied());
        let kept = step.labels.iter().filter_map(|&label| labels().find(|&(other, _)| other == label)).map(axis);
        let summed: Axes<1> = labels().filter(|(label, _)| !step.labels.contains(label)).map(axis).collect();
        if !summed.is_empty() {
            return Self::Sum(Reduction::new(kept.collect(), summed));
        }
        let mut stride = 1;
        let copied = kept.map(|axis| {
            let strides = [stride, axis.strides[0]];
            stride *= axis.extent as isize;
            Axis { extent: axis.extent, strides }
        });
        Self::Copy(copied.collect())
    }
}

/// The axes of the output's diagonals, and those of the compact result that goes there.
fn embedding(tree: &ContractionTree, output: &Layout) -> CopyAxes {
    let access = tree.output();
    let (to, from) = (access.strides(output.strides()), compact(tree, access.labels()));
    let axes = access.labels().iter().zip(to).zip(from);
    axes.map(|((&label, to), from)| Axis { extent: tree.extents()[label as usize], strides: [to, from] }).collect()
}

/// The strides of an operand by label; inputs are read through their access, results of steps are compact.
fn strided(tree: &ContractionTree, operand: &StepOperand, inputs: &[&Layout]) -> Strided {
    match inputs.get(operand.slot) {
        Some(layout) => {
            let access: &Access = &tree.operands()[operand.slot];
            Strided { labels: access.labels().into(), strides: access.strides(layout.strides()) }
        }
        None => Strided { labels: operand.labels.clone(), strides: compact(tree, &operand.labels) },
    }
}

fn contraction(dtype: DType, tree: &ContractionTree, [a, b]: &[Strided; 2], step: &Step) -> Contraction {
    let c = Strided { labels: step.labels.clone(), strides: compact(tree, &step.labels) };
    Contraction::plan(dtype, tree.extents(), a, b, &c)
}

/// The strides of a compact tensor with these labels.
fn compact(tree: &ContractionTree, labels: &[u32]) -> SmallVec<[isize; 6]> {
    let mut stride = 1;
    let axis = |&label: &u32| {
        let current = stride;
        stride *= tree.extents()[label as usize].max(1) as isize;
        current
    };
    labels.iter().map(axis).collect()
}

fn size(tree: &ContractionTree, labels: &[u32]) -> usize {
    labels.iter().map(|&label| tree.extents()[label as usize]).product()
}

//! Einsum: the steps of a contraction tree, planned when the program is prepared.

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::extension::ExtensionOp;
use tenferro_core::{DType, Layout, Tensor, TensorView};
use tenferro_einsum::{Access, ContractionTree, EinsumOp, FAMILY_ID, Step, StepOperand};
use tenferro_runtime::reference::scalar::Arithmetic;
use tenferro_runtime::{Error, ExtensionModule, FamilyExecutor, Preparation, PrepareRequest, Registrar, Result};

use crate::command::command;
use crate::contraction::{Contraction, Strided};
use crate::dtypes::numeric;
use crate::engine::{CpuEngine, ENGINE_ID};
use crate::movement::copy;
use crate::nest::{Axes, Axis};
use crate::reduce;
use crate::region::Element;
use crate::workers::Workers;

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
            let (Some(operand), Some(shapes)) = (request.inputs().first(), shapes) else {
                return Ok(Preparation::Unsupported);
            };
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| shape.as_slice()).collect();
            let tree = op.tree(&shapes)?;
            tree.check_sizes()?;
            if !tree.slices().is_empty() {
                let message = "this engine does no sliced contraction: give the plan no memory limit and no slices";
                return Err(Error::Execution { op: format!("einsum {op}"), message: message.to_owned() });
            }
            let plan = Plan::new(operand.dtype, tree, &shapes)?;
            let prepared = numeric!(operand.dtype, T => command("einsum", move |engine, inputs, output| {
                plan.run::<T>(engine, inputs, output)
            }));
            Ok(prepared.unwrap_or(Preparation::Unsupported))
        })
    }
}

/// A contraction tree with a method for each step.
struct Plan {
    dtype: DType,
    tree: ContractionTree,
    /// By step; none for a step of one operand, which needs no planning.
    products: Vec<Option<Product>>,
}

/// How a step of two operands is done, for operands of these strides. Those of intermediates are known; those of inputs
/// are assumed compact, and where they are not when the program is run, the step is planned again.
struct Product {
    operands: [Strided; 2],
    contraction: Contraction,
}

impl Plan {
    fn new(dtype: DType, tree: ContractionTree, shapes: &[&[usize]]) -> Result<Self> {
        let mut inputs = Vec::with_capacity(shapes.len());
        for shape in shapes {
            inputs.push(Layout::col_major(shape)?);
        }
        let inputs: Vec<&Layout> = inputs.iter().collect();
        let product = |step: &Step| match &step.operands[..] {
            [left, right] => {
                let operands = [left, right].map(|operand| strided(&tree, operand, &inputs));
                let contraction = contraction(dtype, &tree, &operands, step);
                Some(Product { operands, contraction })
            }
            _ => None,
        };
        let products = tree.steps().iter().map(product).collect();
        Ok(Self { dtype, tree, products })
    }

    fn run<T: Element + Arithmetic>(
        &self,
        engine: &mut CpuEngine,
        inputs: &[TensorView<'_>],
        output: &mut Tensor,
    ) -> Result<()> {
        let layouts: SmallVec<[&Layout; 4]> = inputs.iter().map(|view| view.layout()).collect();
        // What is repeated in the output is written through a copy without repetition.
        let embeds = self.tree.output().is_diagonal();
        let mut results: SmallVec<[Option<Tensor>; 4]> = SmallVec::new();
        for (index, (step, product)) in self.tree.steps().iter().zip(&self.products).enumerate() {
            let is_last = index + 1 == self.products.len();
            let mut fresh = if is_last && !embeds {
                None
            } else {
                Some(engine.pool.allocate(self.dtype, &[size(&self.tree, &step.labels)])?)
            };
            let result = fresh.as_mut().unwrap_or(output).as_mut_slice::<T>()?;
            let source = |operand: &StepOperand| -> Result<(&[T], usize)> {
                match operand.slot.checked_sub(inputs.len()) {
                    None => Ok((inputs[operand.slot].buffer::<T>()?, layouts[operand.slot].offset())),
                    Some(step) => match &results[step] {
                        Some(tensor) => Ok((tensor.as_slice::<T>()?, 0)),
                        None => unreachable!("a result is read once, after the step that makes it"),
                    },
                }
            };
            match (product, &step.operands[..]) {
                (Some(planned), [left, right]) => {
                    let (a, b) = (source(left)?, source(right)?);
                    let actual = [left, right].map(|operand| strided(&self.tree, operand, &layouts));
                    let (workers, pool) = (&engine.workers, &mut engine.pool);
                    if actual == planned.operands {
                        planned.contraction.run(workers, pool, a, b, result)?;
                    } else {
                        contraction(self.dtype, &self.tree, &actual, step).run(workers, pool, a, b, result)?;
                    }
                }
                _ => {
                    let operand = &step.operands[0];
                    let axes = self.split_axes(&strided(&self.tree, operand, &layouts), step);
                    sum(&engine.workers, axes, source(operand)?, result);
                }
            }
            for operand in &step.operands {
                let made = operand.slot.checked_sub(inputs.len()).and_then(|step| results[step].take());
                made.into_iter().for_each(|tensor| engine.pool.recycle(tensor));
            }
            results.push(fresh);
        }
        if let Some(Some(distinct)) = results.pop() {
            self.embed::<T>(engine, &distinct, output)?;
            engine.pool.recycle(distinct);
        }
        Ok(())
    }

    /// The axes that a step of one operand keeps, in the order of its result, and those it sums.
    fn split_axes(&self, operand: &Strided, step: &Step) -> (Axes<1>, Axes<1>) {
        let axis = |label: u32, stride: isize| Axis { extent: self.tree.extents()[label as usize], strides: [stride] };
        let labels = || operand.labels.iter().copied().zip(operand.strides.iter().copied());
        let kept = step.labels.iter().filter_map(|&label| labels().find(|&(other, _)| other == label));
        let summed = labels().filter(|(label, _)| !step.labels.contains(label));
        (kept.map(|(l, s)| axis(l, s)).collect(), summed.map(|(l, s)| axis(l, s)).collect())
    }

    /// Writes a result on the diagonals of the output, which is zero elsewhere.
    fn embed<T: Element>(&self, engine: &CpuEngine, distinct: &Tensor, output: &mut Tensor) -> Result<()> {
        let access = self.tree.output();
        let to = access.strides(output.layout().strides());
        let compact = compact(&self.tree, access.labels());
        let axes: Axes<2> = access
            .labels()
            .iter()
            .zip(to)
            .zip(compact)
            .map(|((&label, to), from)| Axis { extent: self.tree.extents()[label as usize], strides: [to, from] })
            .collect();
        let output = output.as_mut_slice::<T>()?;
        output.fill(T::ZERO);
        copy(&engine.workers, axes, (output, 0), (distinct.as_slice::<T>()?, 0));
        Ok(())
    }
}

/// Sums one operand over some axes, or only permutes the others.
fn sum<T: Element + Arithmetic>(
    workers: &Workers,
    (kept, summed): (Axes<1>, Axes<1>),
    (data, start): (&[T], usize),
    result: &mut [T],
) {
    let start = start as isize;
    if !summed.is_empty() {
        return reduce::reduce(workers, reduce::sum(), (kept, summed), (data, start), result);
    }
    let mut stride = 1;
    let axes = kept.into_iter().map(|axis| {
        let strides = [stride, axis.strides[0]];
        stride *= axis.extent as isize;
        Axis { extent: axis.extent, strides }
    });
    copy(workers, axes, (result, 0), (data, start));
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

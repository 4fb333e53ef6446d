//! The contraction tree: what an executor does, step by step, for known extents.

use std::borrow::Cow;

use smallvec::SmallVec;
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result};

use crate::cost::{self, Holders, Network};
use crate::objective::StepCost;
use crate::op::EinsumOp;
use crate::planning::{EinsumOptimize, Pair, Search, Watch};

/// The most slices of a contraction: more than are ever done, and few enough that no count of them or of their blocks
/// overflows.
const MOST_SLICES: f64 = (usize::MAX >> 16) as f64;

/// A short list of labels, one per axis.
pub type Labels = SmallVec<[u32; 6]>;

/// How the axes of a tensor carry distinct labels.
///
/// Walking along label `k` moves along all of `axes[k]` at once: a label on several axes walks their diagonal. An axis
/// that is in no list has extent 1, or stretches, and stays at index 0; or its label is sliced, and it stays at the index
/// of the slice, see [`offset`](Self::offset).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    labels: Labels,
    axes: SmallVec<[SmallVec<[usize; 2]>; 4]>,
    /// Pairs of the number of a slice in [`ContractionTree::slices`] and an axis.
    sliced: SmallVec<[(usize, usize); 1]>,
}

/// A label that is fixed at each of its values in turn, while everything else is done for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The label.
    pub label: u32,
    /// How many values it has.
    pub extent: usize,
    /// Whether the output has it: then a slice writes its own part of the output; otherwise the slices are added.
    pub is_open: bool,
}

/// A tensor taking part in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOperand {
    /// `0..n` is an operand of the einsum, read through its [`Access`]; `n + s` the result of step `s`.
    pub slot: usize,
    /// The labels of its axes, all different.
    pub labels: Labels,
}

/// One step: the product of its operands, summed over the labels that `labels` lacks.
///
/// Of two operands, every label of `labels` is on at least one, and every summed label is on both: a label is a batch,
/// contracted, left free or right free one. A step of one operand sums and permutes.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// One or two operands.
    pub operands: SmallVec<[StepOperand; 2]>,
    /// The labels of the result's axes, all different.
    pub labels: Labels,
    /// The product of all extents that take part, in one slice.
    pub cost: f64,
    /// The number of elements of the result.
    pub size: f64,
}

/// An einsum over known extents as a list of steps, each with one or two operands.
///
/// The last step makes the distinct labels of the output in order of first occurrence; where the output repeats labels
/// they are written through [`output`](Self::output) into zeros.
///
/// Where the goal has a memory limit, labels may be *sliced*, see [`slices`](Self::slices): all steps are done for each
/// combination of their values, with operands and output restricted there. No step has a sliced label.
///
/// ```
/// use tenferro_einsum::{EinsumNotation, EinsumOp};
/// let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,k->i")?, &[&[2, 3], &[3, 4], &[4]])?;
/// let tree = op.tree(&[&[2, 3], &[3, 4], &[4]])?;
/// assert_eq!(tree.steps().len(), 2);
/// assert_eq!(tree.cost(), 18.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContractionTree {
    op: EinsumOp,
    extents: Vec<usize>,
    pairs: Vec<Pair>,
    slices: Vec<Slice>,
    operands: Vec<Access>,
    steps: Vec<Step>,
    output: Access,
}

impl Access {
    /// Groups the axes by label, leaving out those that stretch.
    fn new(axes: &[u32], stretches: impl Fn(usize) -> bool) -> Self {
        let mut access = Self { labels: Labels::new(), axes: SmallVec::new(), sliced: SmallVec::new() };
        for (axis, &label) in axes.iter().enumerate().filter(|&(axis, _)| !stretches(axis)) {
            match access.labels.iter().position(|&other| other == label) {
                Some(place) => access.axes[place].push(axis),
                None => {
                    access.labels.push(label);
                    access.axes.push(SmallVec::from_slice(&[axis]));
                }
            }
        }
        access
    }

    /// Fixes the axes of the sliced labels.
    fn slice(&mut self, slices: &[Slice]) {
        for (number, slice) in slices.iter().enumerate() {
            if let Some(place) = self.labels.iter().position(|&label| label == slice.label) {
                self.labels.remove(place);
                self.sliced.extend(self.axes.remove(place).into_iter().map(|axis| (number, axis)));
            }
        }
    }

    /// The distinct labels.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Per label, the axes that carry it; never empty.
    pub fn axes(&self) -> &[SmallVec<[usize; 2]>] {
        &self.axes
    }

    /// Whether some label is on several axes.
    pub fn is_diagonal(&self) -> bool {
        self.axes.iter().any(|axes| axes.len() > 1)
    }

    /// The stride of each label in a tensor with these strides per axis.
    pub fn strides(&self, strides: &[isize]) -> SmallVec<[isize; 6]> {
        // wrapping: an axis of extent 1 may have any stride
        let sum = |axes: &SmallVec<[usize; 2]>| axes.iter().fold(0isize, |sum, &axis| sum.wrapping_add(strides[axis]));
        self.axes.iter().map(sum).collect()
    }

    /// The axes that are fixed in a slice: pairs of a number in [`ContractionTree::slices`] and an axis.
    pub fn sliced(&self) -> &[(usize, usize)] {
        &self.sliced
    }

    /// Where a slice starts in a tensor with these strides per axis; `values` has one for each sliced label.
    pub fn offset(&self, strides: &[isize], values: &[usize]) -> isize {
        self.sliced.iter().map(|&(slice, axis)| values[slice] as isize * strides[axis]).sum()
    }
}

impl ContractionTree {
    /// Plans `op` for these extents, one per label; see [`EinsumOp::extents`].
    pub fn new(op: &EinsumOp, extents: Vec<usize>, search: &Search<'_>) -> Self {
        let mut operands: Vec<Access> = op
            .inputs
            .iter()
            .enumerate()
            .map(|(operand, labels)| Access::new(labels, |axis| op.stretches(operand, axis)))
            .collect();
        let mut output = Access::new(&op.output, |_| false);
        let (pairs, sliced) = match (operands.len(), &op.plan) {
            (0 | 1, plan) => (Vec::new(), plan.slices().to_vec()),
            // A pair has one order, and no result but the last.
            (2, plan) if op.goal.memory_limit.is_none() && !matches!(plan, EinsumOptimize::Tree { .. }) => {
                (vec![(0, 1)], Vec::new())
            }
            (_, plan) => plan.plan(&network(&operands, &output, &extents), &op.goal, &Watch::new(search)),
        };
        let is_open = |label| op.output.contains(&label);
        let slice = |label: u32| Slice { label, extent: extents[label as usize], is_open: is_open(label) };
        let slices: Vec<Slice> = sliced.into_iter().map(slice).collect();
        if !slices.is_empty() {
            operands.iter_mut().chain([&mut output]).for_each(|access| access.slice(&slices));
        }
        let as_tensor = |(slot, access): (usize, &Access)| StepOperand { slot, labels: access.labels.clone() };
        let mut builder = Builder {
            extents: &extents,
            output: output.labels(),
            operand_count: operands.len(),
            holders: holders(&operands, &output, extents.len()),
            tensors: Vec::with_capacity(2 * operands.len()),
            steps: Vec::with_capacity(operands.len()),
        };
        builder.tensors.extend(operands.iter().enumerate().map(as_tensor));
        if operands.len() == 1 {
            builder.push(builder.tensors.iter().cloned().collect(), output.labels.clone());
        } else {
            (0..operands.len()).for_each(|operand| builder.sum_own_labels(operand));
            builder.contract(&pairs);
        }
        let steps = builder.steps;
        Self { op: op.clone(), operands, steps, output, extents, pairs, slices }
    }

    /// The einsum that is planned.
    pub fn op(&self) -> &EinsumOp {
        &self.op
    }

    /// The shapes of the operands that it is planned for.
    pub fn shapes(&self) -> Vec<Vec<usize>> {
        let extent = |operand, axis, label: u32| match self.op.stretches(operand, axis) {
            true => 1,
            false => self.extents[label as usize],
        };
        let shape = |(operand, labels): (usize, &Cow<'static, [u32]>)| {
            labels.iter().enumerate().map(|(axis, &label)| extent(operand, axis, label)).collect()
        };
        self.op.inputs.iter().enumerate().map(shape).collect()
    }

    /// The plan that gives this tree again without a search, for any extents.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumNotation, EinsumOp};
    /// let shapes: [&[usize]; 3] = [&[2, 3], &[3, 4], &[4]];
    /// let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,k->i")?, &shapes)?;
    /// let tree = op.tree(&shapes)?;
    /// let planned = op.with_plan(tree.plan())?;
    /// assert_eq!(planned.to_string(), "\"ij,jk,k->i\", tree = [(1, 2), (0, 3)]");
    /// assert_eq!(planned.tree(&shapes)?.steps(), tree.steps());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan(&self) -> EinsumOptimize {
        EinsumOptimize::Tree {
            pairs: self.pairs.iter().map(|&(left, right)| (left as u32, right as u32)).collect(),
            slices: self.slices.iter().map(|slice| slice.label).collect(),
        }
    }

    /// The sliced labels, in order; the result is the sum over those that are not open, for each value of those that
    /// are, of what the steps make of the operands and of the output restricted by [`Access::offset`].
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// How often the steps are done: the product of the extents of the slices.
    pub fn slice_count(&self) -> f64 {
        self.slices.iter().map(|slice| slice.extent as f64).product()
    }

    /// The extent of each label.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// How each operand of the einsum is read.
    pub fn operands(&self) -> &[Access] {
        &self.operands
    }

    /// The steps in order, at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How the output is written.
    pub fn output(&self) -> &Access {
        &self.output
    }

    /// The sum of the costs of the steps over all slices: multiplications, nearly. A step without a sliced label counts
    /// for every slice, as it is done.
    pub fn cost(&self) -> f64 {
        self.slice_count() * self.steps.iter().map(|step| step.cost).sum::<f64>()
    }

    /// The predicted nanoseconds on one core, by the model of [`Objective::Time`](crate::Objective::Time).
    pub fn predicted_time(&self) -> f64 {
        let size = |operand: Option<&StepOperand>| operand.map_or(0.0, |operand| self.elements(&operand.labels));
        let time = |step: &Step| {
            let (left, right) = (size(step.operands.first()), size(step.operands.get(1)));
            StepCost { flops: step.cost, left, right, result: step.size }.time()
        };
        self.slice_count() * self.steps.iter().map(time).sum::<f64>()
    }

    /// The cost for symbolic extents, one per label; sliced labels count like all others.
    ///
    /// # Panics
    /// When there are fewer extents than labels.
    ///
    /// ```
    /// use tenferro_core::shape::{SizeId, SymDim};
    /// use tenferro_einsum::{EinsumNotation, EinsumOp};
    /// let shapes: [&[usize]; 3] = [&[2, 2], &[2, 2], &[2]];
    /// let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,k->i")?, &shapes)?;
    /// let n = SymDim::size(SizeId(0));
    /// let cost = op.tree(&shapes)?.symbolic_cost(&[n.clone(), n.clone(), n.clone()]);
    /// assert_eq!(cost, SymDim::constant(2) * n.clone() * n);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn symbolic_cost(&self, extents: &[SymDim]) -> SymDim {
        let slices = self.slices.iter().map(|slice| slice.label);
        let step = |step: &Step| {
            let product = |product: SymDim, label: u32| product * extents[label as usize].clone();
            step.involved().into_iter().chain(slices.clone()).fold(SymDim::constant(1), product)
        };
        self.steps.iter().map(step).fold(SymDim::constant(0), |sum, cost| sum + cost)
    }

    pub(crate) fn elements(&self, labels: &[u32]) -> f64 {
        product(&self.extents, labels)
    }

    /// Refuses a tree with a result that memory cannot address, or with more slices than can be counted; its cost is a
    /// number all the same.
    ///
    /// # Errors
    /// [`Error::Overflow`] with the shape of the result; [`Error::Argument`] with the number of slices.
    pub fn check_sizes(&self) -> Result<()> {
        // Executors cut the slices into blocks: what they count is a small multiple. A label without values does not make
        // the others fewer, which are counted apart.
        let slices: f64 = self.slices.iter().map(|slice| slice.extent.max(1) as f64).product();
        if slices > MOST_SLICES {
            let (argument, limit) = match self.op.goal.memory_limit {
                Some(limit) => ("memory_limit", format!("of {limit} elements")),
                None => ("slices", "of the plan".to_owned()),
            };
            let message = format!(
                "{limit} makes {slices:.3e} slices of {} labels, but there may be at most {MOST_SLICES:.3e}",
                self.slices.len()
            );
            return Err(Error::argument(format!("einsum {}", self.op), argument, message));
        }
        for step in &self.steps {
            let shape: Vec<usize> = step.labels.iter().map(|&label| self.extents[label as usize]).collect();
            let size = shape.iter().filter(|&&extent| extent != 0).try_fold(1usize, |size, &n| size.checked_mul(n));
            if size.is_none_or(|size| isize::try_from(size).is_err()) {
                return Err(Error::Overflow { op: "einsum".into(), shape });
            }
        }
        Ok(())
    }

    /// The number of elements of the largest result of a step.
    pub fn peak(&self) -> f64 {
        self.steps.iter().map(|step| step.size).fold(0.0, f64::max)
    }
}

impl Step {
    /// The labels that take part, each once.
    pub fn involved(&self) -> Labels {
        let mut labels = Labels::new();
        for &label in self.operands.iter().flat_map(|operand| &operand.labels) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }
}

fn product(extents: &[usize], labels: &[u32]) -> f64 {
    cost::product(labels.iter().map(|&label| extents[label as usize] as f64))
}

fn holders(operands: &[Access], output: &Access, labels: usize) -> Holders {
    Holders::new(operands.iter().map(Access::labels), output.labels().iter().copied(), labels)
}

/// What is left to plan once every operand is summed over its own labels.
fn network(operands: &[Access], output: &Access, extents: &[usize]) -> Network {
    let holders = holders(operands, output, extents.len());
    let kept = |operand: &Access| -> Labels {
        let mut kept: Labels =
            operand.labels.iter().copied().filter(|&label| holders.wanted_beyond(label, 1)).collect();
        kept.sort_unstable();
        kept
    };
    let tensors: Vec<Labels> = operands.iter().map(kept).collect();
    let summed = tensors.iter().zip(operands).map(|(kept, operand)| kept.len() < operand.labels.len()).collect();
    let mut open = vec![false; extents.len()];
    output.labels().iter().for_each(|&label| open[label as usize] = true);
    Network { tensors, open, extents: extents.iter().map(|&extent| extent as f64).collect(), summed }
}

/// Turns pairs into steps, keeping track of which labels are still wanted.
struct Builder<'a> {
    extents: &'a [usize],
    output: &'a [u32],
    operand_count: usize,
    holders: Holders,
    /// By number: the operands, after the sums over labels of their own, then the result of each pair.
    tensors: Vec<StepOperand>,
    steps: Vec<Step>,
}

impl Builder<'_> {
    /// Sums the labels that nothing but this operand holds, so that steps of two operands need no one-sided sums.
    fn sum_own_labels(&mut self, number: usize) {
        let operand = &self.tensors[number];
        let kept: Labels =
            operand.labels.iter().copied().filter(|&label| self.holders.wanted_beyond(label, 1)).collect();
        if kept.len() < operand.labels.len() {
            self.tensors[number] = self.push([operand.clone()].into_iter().collect(), kept);
        }
    }

    fn contract(&mut self, pairs: &[Pair]) {
        for (index, &(left, right)) in pairs.iter().enumerate() {
            let (left, right) = (self.tensors[left].clone(), self.tensors[right].clone());
            let labels = if index + 1 == pairs.len() {
                self.output.iter().copied().collect()
            } else {
                self.kept(&left.labels, &right.labels)
            };
            let result = self.push([left, right].into_iter().collect(), labels);
            self.tensors.push(result);
        }
    }

    /// The labels that outlive a product: left free, right free, batch, the order in which a matrix product makes them.
    fn kept(&self, left: &[u32], right: &[u32]) -> Labels {
        let only = |label: &u32, other: &[u32]| !other.contains(label) && self.holders.wanted_beyond(*label, 1);
        let left_free = left.iter().filter(|label| only(label, right));
        let right_free = right.iter().filter(|label| only(label, left));
        let batch = left.iter().filter(|label| right.contains(label) && self.holders.wanted_beyond(**label, 2));
        left_free.chain(right_free).chain(batch).copied().collect()
    }

    fn push(&mut self, operands: SmallVec<[StepOperand; 2]>, labels: Labels) -> StepOperand {
        let mut cost = product(self.extents, &operands[0].labels);
        if let [left, right] = &operands[..] {
            let fresh = right.labels.iter().filter(|label| !left.labels.contains(label));
            cost = fresh.fold(cost, |cost, &label| (cost * self.extents[label as usize] as f64).min(f64::MAX));
        }
        let step = Step { cost, size: product(self.extents, &labels), labels: labels.clone(), operands };
        self.holders.replace(step.operands.iter().map(|operand| operand.labels.as_slice()), &labels);
        self.steps.push(step);
        StepOperand { slot: self.operand_count + self.steps.len() - 1, labels }
    }
}

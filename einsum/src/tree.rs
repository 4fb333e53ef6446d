//! The contraction tree: what an executor does, step by step, for known extents.

use smallvec::SmallVec;
use tenferro_core::{Error, Result};

use crate::cost::{Holders, Network, product};
use crate::op::EinsumOp;
use crate::planning::Pair;
use crate::subscripts::distinct;

/// A short list of labels, one per axis.
pub type Labels = SmallVec<[u32; 6]>;

/// How the axes of a tensor carry distinct labels.
///
/// Walking along label `k` moves along all of `axes[k]` at once: a label on several axes walks their diagonal. An axis
/// that is in no list has extent 1, or stretches, and stays at index 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    labels: Labels,
    axes: Vec<SmallVec<[usize; 2]>>,
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
    /// The product of all extents that take part.
    pub cost: f64,
    /// The number of elements of the result.
    pub size: f64,
}

/// An einsum over known extents as a list of steps, each with one or two operands.
///
/// The last step makes the distinct labels of the output in order of first occurrence; where the output repeats labels
/// they are written through [`output`](Self::output) into zeros.
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
    extents: Vec<usize>,
    operands: Vec<Access>,
    steps: Vec<Step>,
    output: Access,
}

impl Access {
    /// Groups the axes by label, leaving out those that stretch.
    fn new(axes: &[u32], stretches: impl Fn(usize) -> bool) -> Self {
        let carried = || (0..axes.len()).filter(|&axis| !stretches(axis));
        let labels: Labels = distinct(carried().map(|axis| axes[axis])).into();
        let axes = labels.iter().map(|&label| carried().filter(|&axis| axes[axis] == label).collect()).collect();
        Self { labels, axes }
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
}

impl ContractionTree {
    /// Plans `op` for these extents, one per label; see [`EinsumOp::extents`].
    pub fn new(op: &EinsumOp, extents: Vec<usize>) -> Self {
        let operands: Vec<Access> = op
            .inputs
            .iter()
            .enumerate()
            .map(|(operand, labels)| Access::new(labels, |axis| op.stretches(operand, axis)))
            .collect();
        let output = Access::new(&op.output, |_| false);
        let as_tensor = |(slot, access): (usize, &Access)| StepOperand { slot, labels: access.labels.clone() };
        let mut builder = Builder {
            extents: &extents,
            output: output.labels(),
            operand_count: operands.len(),
            holders: Holders::new(operands.iter().map(Access::labels), output.labels(), extents.len()),
            tensors: operands.iter().enumerate().map(as_tensor).collect(),
            steps: Vec::new(),
        };
        if operands.len() == 1 {
            builder.push(builder.tensors.iter().cloned().collect(), output.labels.clone());
        } else {
            (0..operands.len()).for_each(|operand| builder.sum_own_labels(operand));
            let pairs = op.plan.pairs(&builder.network());
            builder.contract(&pairs);
        }
        let steps = builder.steps;
        Self { operands, steps, output, extents }
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

    /// The sum of the costs of the steps: multiplications, nearly.
    pub fn cost(&self) -> f64 {
        self.steps.iter().map(|step| step.cost).sum()
    }

    /// Refuses a tree with a result that memory cannot address; its cost is a number all the same.
    ///
    /// # Errors
    /// [`Error::Overflow`] with the shape of the result.
    pub fn check_sizes(&self) -> Result<()> {
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

    fn network(&self) -> Network {
        let sorted = |tensor: &StepOperand| {
            let mut labels = tensor.labels.to_vec();
            labels.sort_unstable();
            labels
        };
        let mut open = vec![false; self.extents.len()];
        self.output.iter().for_each(|&label| open[label as usize] = true);
        Network {
            tensors: self.tensors.iter().map(sorted).collect(),
            open,
            extents: self.extents.iter().map(|&extent| extent as f64).collect(),
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
        let involved = distinct(operands.iter().flat_map(|operand| operand.labels.iter().copied()));
        let size = |labels: &[u32]| product(labels.iter().map(|&label| self.extents[label as usize] as f64));
        let step = Step { cost: size(&involved), size: size(&labels), labels: labels.clone(), operands };
        self.holders.replace(step.operands.iter().map(|operand| operand.labels.as_slice()), &labels);
        self.steps.push(step);
        StepOperand { slot: self.operand_count + self.steps.len() - 1, labels }
    }
}

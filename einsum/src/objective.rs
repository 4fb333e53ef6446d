//! What a plan is judged by.

use std::cmp::Ordering;
use std::fmt;

use tenferro_core::{DType, Error, Result};

/// What the order of contraction makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// The predicted time: what the products take, what moving the elements takes, and what starting each step takes.
    #[default]
    Time,
    /// The sum over the steps of the product of all extents that take part.
    Flops,
    /// The number of elements of the largest result; among equals, the flops.
    Size,
    /// `flops` times the logarithm of the flops plus `size` times that of the largest result. That is no sum over the
    /// steps: every method, `Optimal` too, looks for it by a sum that is small where it is.
    Weighted {
        /// The weight of the flops.
        flops: u32,
        /// The weight of the largest result.
        size: u32,
    },
}

/// What a plan is to reach: part of the payload, beside the method.
///
/// ```
/// use tenferro_core::DType;
/// use tenferro_einsum::{Goal, Objective};
/// let goal = Goal { objective: Objective::Flops, ..Goal::DEFAULT }.within_bytes(1 << 20, DType::F64);
/// assert_eq!(goal.memory_limit, Some(1 << 17));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Goal {
    /// What is made small.
    pub objective: Objective,
    /// The most elements of a result other than the last one. Labels are sliced until all fit, see
    /// [`ContractionTree::slices`](crate::ContractionTree::slices). The limit is for each result: an executor holds
    /// those that are yet to be read, for each slice that it computes at a time, of which there may be some per thread.
    pub memory_limit: Option<u64>,
}

impl Goal {
    /// The least predicted time in any amount of memory.
    pub const DEFAULT: Goal = Goal { objective: Objective::Time, memory_limit: None };

    /// The same goal with no result, other than the last one, larger than this.
    #[must_use]
    pub fn within_bytes(self, bytes: u64, dtype: DType) -> Self {
        Self { memory_limit: Some((bytes / dtype.size() as u64).max(1)), ..self }
    }

    /// Refuses what no plan can be made for.
    ///
    /// # Errors
    /// A memory limit of 0, or weights that are all 0.
    pub fn check(&self) -> Result<()> {
        if self.memory_limit == Some(0) {
            return Err(Error::argument("einsum", "memory_limit", "is 0, but a result has at least one element"));
        }
        if self.objective == (Objective::Weighted { flops: 0, size: 0 }) {
            return Err(Error::argument("einsum", "objective", "is weighted, but both weights are 0"));
        }
        Ok(())
    }
}

impl fmt::Display for Goal {
    /// As the language writes it, `objective = flops, memory_limit = 1000`; nothing for what is the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Goal { objective, memory_limit } = self;
        if *objective != Objective::Time {
            write!(f, "objective = {objective}")?;
        }
        let comma = if *objective == Objective::Time { "" } else { ", " };
        memory_limit.map_or(Ok(()), |limit| write!(f, "{comma}memory_limit = {limit}"))
    }
}

impl fmt::Display for Objective {
    /// As the language writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Time => f.write_str("time"),
            Objective::Flops => f.write_str("flops"),
            Objective::Size => f.write_str("size"),
            Objective::Weighted { flops, size } => write!(f, "weighted(flops = {flops}, size = {size})"),
        }
    }
}

/// Nanoseconds of one multiplication and addition in a product of middling size.
///
/// The three constants are for doubles on one core with AVX-512 (Zen 5): about half of what its matrix product reaches,
/// 62 multiply-adds a nanosecond; its memory copy, 20 GB/s read and as much written; and what it takes to start a small
/// product. Plans depend on their ratios alone.
const MULTIPLY_ADD: f64 = 1.0 / 30.0;
/// Nanoseconds of reading or writing one element.
const ELEMENT: f64 = 0.2;
/// Nanoseconds of starting one step.
const STEP: f64 = 100.0;

/// What a step is made of.
#[derive(Clone, Copy)]
pub(crate) struct StepCost {
    pub flops: f64,
    pub left: f64,
    pub right: f64,
    pub result: f64,
}

impl StepCost {
    /// Predicted nanoseconds.
    pub fn time(&self) -> f64 {
        MULTIPLY_ADD * self.flops + ELEMENT * (self.left + self.right + self.result) + STEP
    }
}

/// How good a whole plan is; less is better. The second number decides among equals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score(pub f64, pub f64);

impl Score {
    pub fn better_than(self, other: Score) -> bool {
        self.0.total_cmp(&other.0).then(self.1.total_cmp(&other.1)) == Ordering::Less
    }
}

/// Out of line: inlined, the powers would be computed where they are not wanted.
#[cold]
#[inline(never)]
fn weighted(step: StepCost, flops: f64, size: f64) -> f64 {
    let whole = flops + size;
    step.flops.powf(flops / whole) * step.result.powf(2.0 * size / whole)
}

impl Objective {
    /// The share of a step in a sum that is small where the objective is: searches compare such sums locally. The
    /// square lets the largest results rule.
    #[inline]
    pub(crate) fn share(self, step: StepCost) -> f64 {
        let share = match self {
            Objective::Time => step.time(),
            Objective::Flops => step.flops,
            Objective::Size => step.result * step.result,
            Objective::Weighted { flops, size } => weighted(step, flops.into(), size.into()),
        };
        share.min(f64::MAX)
    }

    /// What a search makes small first.
    pub(crate) fn guide(self) -> Self {
        match self {
            Objective::Time => Objective::Flops,
            other => other,
        }
    }

    /// The score of a plan from its shares, flops and largest result.
    pub(crate) fn score(self, shares: f64, flops: f64, peak: f64) -> Score {
        match self {
            Objective::Time | Objective::Flops => Score(shares, peak),
            Objective::Size => Score(peak, flops),
            Objective::Weighted { flops: a, size: b } => {
                Score(f64::from(a) * flops.max(1.0).log2() + f64::from(b) * peak.max(1.0).log2(), flops)
            }
        }
    }
}

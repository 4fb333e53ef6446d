//! Sliced contractions: all steps for each value of the sliced labels, added up or written side by side.
//!
//! The slices that are added for one part of the output are cut into fixed blocks. A block adds its slices one after
//! the other, and the sums of the blocks are added in order, so the bits do not depend on who computes which block.

use std::marker::PhantomData;
use std::ops::Range;

use smallvec::SmallVec;
use tenferro_core::{DType, Layout, Tensor, TensorView};
use tenferro_einsum::ContractionTree;
use tenferro_runtime::Result;
use tenferro_runtime::reference::scalar::Arithmetic;

use super::{Lane, Plan, embedding};
use crate::engine::CpuEngine;
use crate::movement::{CopyAxes, copy};
use crate::region::Element;
use crate::workers::{Cut, Workers};

/// Blocks of one part of the output, at most.
const BLOCKS: usize = 16;
/// A step of more multiplications than this keeps several threads busy by itself.
const LARGE_STEP: f64 = (1 << 24) as f64;

/// How far one more of a sliced label goes: its number among the slices, and the stride.
type Moves = SmallVec<[(usize, isize); 2]>;

/// The slices of a contraction for operands of known layouts.
pub(super) struct Slices {
    dtype: DType,
    extents: Vec<usize>,
    /// The numbers of the labels on the output, and of those that are summed.
    open: Vec<usize>,
    summed: Vec<usize>,
    /// By operand, and those of the output.
    operands: Vec<Moves>,
    output: Moves,
    /// From the result of the steps to its part of the output.
    place: CopyAxes,
    /// Blocks of one part of the output.
    blocks: usize,
    /// Whether blocks, rather than the work within a step, go to different threads.
    splits: bool,
}

impl Slices {
    pub fn new(dtype: DType, tree: &ContractionTree, layouts: &[&Layout], output: &Layout) -> Self {
        let slices = tree.slices();
        let numbers = |is_open: bool| (0..slices.len()).filter(|&i| slices[i].is_open == is_open).collect::<Vec<_>>();
        let moves = |sliced: &[(usize, usize)], layout: &Layout| -> Moves {
            sliced.iter().map(|&(slice, axis)| (slice, layout.strides()[axis])).collect()
        };
        let (open, summed) = (numbers(true), numbers(false));
        let extents: Vec<usize> = slices.iter().map(|slice| slice.extent).collect();
        let added: usize = points(&extents, &summed);
        let operands = tree.operands().iter().zip(layouts).map(|(access, layout)| moves(access.sliced(), layout));
        Self {
            dtype,
            operands: operands.collect(),
            output: moves(tree.output().sliced(), output),
            place: embedding(tree, output),
            blocks: added.clamp(1, BLOCKS),
            splits: tree.steps().iter().all(|step| step.cost < LARGE_STEP),
            extents,
            open,
            summed,
        }
    }

    pub fn run<T: Element + Arithmetic>(
        &self,
        plan: &Plan,
        engine: &mut CpuEngine,
        inputs: &[TensorView<'_>],
        output: &mut Tensor,
    ) -> Result<()> {
        let len = plan.len();
        let (parts, threads) = (points(&self.extents, &self.open), engine.threads());
        let units = parts * self.blocks;
        let at_once = if self.splits && threads > 1 {
            // Two for each thread even out; where their sums are large, one has to do.
            let affordable = engine.budget() / (len * self.dtype.size()).max(1);
            affordable.clamp(threads, 2 * threads).min(units)
        } else {
            1
        };
        if at_once > 1 {
            engine.grow_lanes(at_once);
        }
        let CpuEngine { workers, lane, lanes, .. } = engine;
        // The diagonals of sliced labels leave zeros beside them.
        output.as_mut_slice::<T>()?.fill(T::ZERO);
        let work = Work::<T> { slices: self, plan, inputs, len, dtype: PhantomData };
        let mut sums = lane.pool.allocate(self.dtype, &[at_once, len])?;
        let mut total = lane.pool.allocate(self.dtype, &[len])?;
        for first in (0..units).step_by(at_once.max(1)) {
            let count = at_once.min(units - first);
            let sums = &mut sums.as_mut_slice::<T>()?[..count * len];
            if at_once == 1 {
                work.block(workers, lane, first, sums)?;
            } else {
                work.blocks(workers, &mut lanes[..count], first, sums)?;
            }
            for (unit, sum) in (first..).zip((0..count).map(|i| &sums[i * len..][..len])) {
                let (part, block) = (unit / self.blocks, unit % self.blocks);
                let total = total.as_mut_slice::<T>()?;
                match block {
                    0 => total.copy_from_slice(sum),
                    _ => add(total, sum),
                }
                if block + 1 == self.blocks {
                    let mut values = vec![0; self.extents.len()];
                    self.set(&mut values, &self.open, part);
                    let to = moved(0, &self.output, &values);
                    copy(workers, self.place.iter().copied(), (output.as_mut_slice::<T>()?, to), (total, 0));
                }
            }
        }
        lane.pool.recycle(sums);
        lane.pool.recycle(total);
        Ok(())
    }

    /// Sets the values of these labels at a point of theirs, the first label fastest.
    fn set(&self, values: &mut [usize], labels: &[usize], mut point: usize) {
        for &label in labels {
            values[label] = point % self.extents[label];
            point /= self.extents[label];
        }
    }

    /// The summed points of a block.
    fn range(&self, block: usize) -> Range<usize> {
        let added = points(&self.extents, &self.summed);
        added * block / self.blocks..added * (block + 1) / self.blocks
    }
}

/// A run: what all blocks read.
struct Work<'r, 'v, T> {
    slices: &'r Slices,
    plan: &'r Plan,
    inputs: &'r [TensorView<'v>],
    /// Elements of a result of the steps.
    len: usize,
    dtype: PhantomData<fn() -> T>,
}

impl<T: Element + Arithmetic> Work<'_, '_, T> {
    /// Computes consecutive blocks from `first` on, each on a lane of its own, at once.
    fn blocks(&self, workers: &Workers, lanes: &mut [Lane], first: usize, sums: &mut [T]) -> Result<()> {
        let count = lanes.len();
        let mut done: Vec<Result<()>> = (0..count).map(|_| Ok(())).collect();
        let parts = Parts { lanes, sums, done: &mut done, len: self.len };
        workers.run(true, |split| {
            split.for_each_part(parts, count, &|i| i, &|i, parts: Parts<'_, T>| {
                if let ([lane], [done]) = (parts.lanes, parts.done) {
                    *done = self.block(&Workers::default(), lane, first + i, parts.sums);
                }
            });
        });
        done.into_iter().collect()
    }

    /// Adds up the slices of one block.
    fn block(&self, workers: &Workers, lane: &mut Lane, unit: usize, sum: &mut [T]) -> Result<()> {
        let slices = self.slices;
        let (part, block) = (unit / slices.blocks, unit % slices.blocks);
        let mut values: SmallVec<[usize; 8]> = SmallVec::from_elem(0, slices.extents.len());
        slices.set(&mut values, &slices.open, part);
        let range = slices.range(block);
        if range.is_empty() {
            sum.fill(T::ZERO);
        }
        let mut next = lane.pool.allocate(slices.dtype, &[self.len])?;
        for point in range.clone() {
            slices.set(&mut values, &slices.summed, point);
            let source = |input: usize, start: usize| {
                Ok((self.inputs[input].buffer::<T>()?, moved(start, &slices.operands[input], &values)))
            };
            if point == range.start {
                self.plan.contract(workers, lane, source, sum)?;
            } else {
                let next = next.as_mut_slice::<T>()?;
                self.plan.contract(workers, lane, source, next)?;
                add(sum, next);
            }
        }
        lane.pool.recycle(next);
        Ok(())
    }
}

/// What blocks that are computed at once write: cut apart, each has a lane, a sum and a result of its own.
struct Parts<'p, T> {
    lanes: &'p mut [Lane],
    sums: &'p mut [T],
    done: &'p mut [Result<()>],
    len: usize,
}

impl<T: Send> Cut for Parts<'_, T> {
    fn cut(self, position: usize) -> (Self, Self) {
        let (lanes, other_lanes) = self.lanes.split_at_mut(position);
        let (sums, other_sums) = self.sums.split_at_mut(position * self.len);
        let (done, other_done) = self.done.split_at_mut(position);
        let len = self.len;
        (Self { lanes, sums, done, len }, Self { lanes: other_lanes, sums: other_sums, done: other_done, len })
    }
}

fn add<T: Arithmetic>(sum: &mut [T], term: &[T]) {
    for (sum, &term) in sum.iter_mut().zip(term) {
        *sum = sum.add(term);
    }
}

/// The number of points that these labels have together.
fn points(extents: &[usize], labels: &[usize]) -> usize {
    labels.iter().map(|&label| extents[label]).product()
}

/// A position, moved to the slice of these values.
fn moved(start: usize, moves: &Moves, values: &[usize]) -> usize {
    moves.iter().fold(start, |at, &(slice, stride)| at.wrapping_add_signed(stride * values[slice] as isize))
}

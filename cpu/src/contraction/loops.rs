//! Contractions by plain loops: integers, matrix times vector, inner products, and what is tiny.

use tenferro_runtime::reference::scalar::Arithmetic;

use super::{A, B, C};
use crate::nest::{Axes, Axis, Walk, advance, fuse, points};
use crate::region::Element;
use crate::workers::{Split, Workers};

/// Multiplications of one block of work.
const BLOCK: usize = 1 << 16;
/// Entries of the result that stay in the first cache while terms are added to them.
const TILE: usize = 1024;
/// Terms that are added in lanes, one after the other; sums of longer runs are added pairwise.
const RUN: usize = 1024;
/// Terms that are added to an entry of the result while it is at hand.
const TERMS: usize = 4;
/// Sums in flight at once.
const LANES: usize = 16;

/// Loops over the axes of the result and the summed axes; the innermost is chosen so that it vectorises.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    /// Shortest stride of the result first.
    result: Axes<3>,
    summed: Axes<3>,
    inner: Inner,
}

#[derive(Clone, Copy, Debug)]
enum Inner {
    /// This axis of the result.
    Result(usize),
    /// The first summed axis.
    Summed,
}

impl Loops {
    /// `result` has the shortest stride of the result first.
    pub fn plan(result: &Axes<3>, summed: &Axes<3>) -> Self {
        let result = fuse(result.iter().copied());
        let mut summed = summed.clone();
        summed.sort_by_key(|axis| axis.strides[A].unsigned_abs().max(axis.strides[B].unsigned_abs()));
        let mut summed = fuse(summed);
        let short = |stride: isize| stride == 0 || stride == 1;
        // A contiguous axis is worth more than one that is not; one of the result more than a summed one.
        let rate = |axis: &Axis<3>, contiguous: bool| axis.extent * if contiguous { 8 } else { 1 };
        let results = result.iter().map(|axis| {
            let [a, b, c] = axis.strides;
            rate(axis, c == 1 && short(a) && short(b))
        });
        let sums = summed.iter().map(|axis| rate(axis, axis.strides[A] == 1 && axis.strides[B] == 1));
        let best = |rates: &mut dyn Iterator<Item = usize>| rates.enumerate().max_by_key(|&(_, rate)| rate);
        let (of_result, of_summed) = (best(&mut { results }), best(&mut { sums }));
        let inner = match (of_result, of_summed) {
            (Some((axis, rate)), Some((_, other))) if rate >= other => Inner::Result(axis),
            (Some((axis, _)), None) => Inner::Result(axis),
            (_, Some((axis, _))) => {
                summed.swap(0, axis);
                Inner::Summed
            }
            (None, None) => Inner::Summed,
        };
        Self { result, summed, inner }
    }

    /// Computes the result.
    pub fn run<T: Element + Arithmetic>(
        &self,
        workers: &Workers,
        (a, start_a): (&[T], usize),
        (b, start_b): (&[T], usize),
        c: &mut [T],
    ) {
        let work = points(&self.summed).saturating_mul(c.len());
        let starts = [start_a as isize, start_b as isize, 0];
        workers.run(work >= 2 * BLOCK, |split| {
            // Blocks are ranges of the longest stride of the result, which is compact.
            let Some(last) = self.result.last().copied() else {
                return self.block(split, &[], starts, a, b, c);
            };
            let steps = (BLOCK * last.extent / work.max(1)).clamp(1, last.extent);
            let stride = last.strides[C] as usize;
            split.for_each_part(c, last.extent.div_ceil(steps), &|i| i * steps * stride, &|i, c: &mut [T]| {
                let mut result = self.result.clone();
                let mut starts = starts;
                if let Some(last) = result.last_mut() {
                    advance(&mut starts, last.strides, (i * steps) as isize);
                    last.extent = steps.min(last.extent - i * steps);
                }
                starts[C] = 0;
                self.block(split, &result, starts, a, b, c);
            });
        });
    }

    fn block<T: Element + Arithmetic>(
        &self,
        split: Split,
        result: &[Axis<3>],
        starts: [isize; 3],
        a: &[T],
        b: &[T],
        c: &mut [T],
    ) {
        match self.inner {
            Inner::Result(axis) => {
                c.fill(T::ZERO);
                let mut rest = Axes::from_slice(result);
                let inner = rest.remove(axis);
                let mut outer = Walk::new(&rest, starts, 0);
                for _ in 0..points(&rest) {
                    for first in (0..inner.extent).step_by(TILE) {
                        let mut starts = outer.positions;
                        advance(&mut starts, inner.strides, first as isize);
                        let extent = TILE.min(inner.extent - first);
                        let mut walk = Walk::new(&self.summed, starts, 0);
                        let mut left = points(&self.summed);
                        while left >= TERMS {
                            let terms = std::array::from_fn::<_, TERMS, _>(|_| walk.visit());
                            add_terms(extent, inner.strides, terms, a, b, c);
                            left -= TERMS;
                        }
                        for _ in 0..left {
                            add_terms(extent, inner.strides, [walk.visit()], a, b, c);
                        }
                    }
                    outer.step();
                }
            }
            Inner::Summed => {
                let mut walk = Walk::new(result, starts, 0);
                for _ in 0..points(result) {
                    let [at_a, at_b, at_c] = walk.positions;
                    let sum = self.sum(split, [at_a, at_b], a, b);
                    c[at_c as usize] = sum;
                    walk.step();
                }
            }
        }
    }

    /// The sum for one entry of the result.
    fn sum<T: Element + Arithmetic>(&self, split: Split, [at_a, at_b]: [isize; 2], a: &[T], b: &[T]) -> T {
        let Some((inner, outer)) = self.summed.split_first() else {
            return a[at_a as usize].mul(b[at_b as usize]);
        };
        let strides = [inner.strides[A], inner.strides[B]];
        let mut walk = Walk::new(outer, [at_a, at_b, 0], 0);
        let mut total = T::ZERO;
        for _ in 0..points(outer) {
            let [at_a, at_b, _] = walk.positions;
            total = total.add(inner_product(split, inner.extent, strides, [at_a, at_b], a, b));
            walk.step();
        }
        total
    }
}

/// Adds products along one axis, `c[i] += a[i] * b[i]`, for each of a few positions of `a` and `b`, one after the
/// other.
fn add_terms<T: Element + Arithmetic, const N: usize>(
    extent: usize,
    strides: [isize; 3],
    terms: [[isize; 3]; N],
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    fn rows<T, const N: usize>(data: &[T], terms: [[isize; 3]; N], i: usize, len: usize) -> [&[T]; N] {
        terms.map(|positions| &data[positions[i] as usize..][..len])
    }
    let start = terms[0][C] as usize;
    match strides {
        [1, 0, 1] => {
            let factors = terms.map(|positions| b[positions[B] as usize]);
            add_multiples(&mut c[start..][..extent], rows(a, terms, A, extent), factors);
        }
        [0, 1, 1] => {
            let factors = terms.map(|positions| a[positions[A] as usize]);
            add_multiples(&mut c[start..][..extent], rows(b, terms, B, extent), factors);
        }
        [1, 1, 1] => {
            let (a, b) = (rows(a, terms, A, extent), rows(b, terms, B, extent));
            let c = &mut c[start..][..extent];
            let (a, b) = (a.map(|row| &row[..c.len()]), b.map(|row| &row[..c.len()]));
            for (i, c) in c.iter_mut().enumerate() {
                *c = (0..N).fold(*c, |sum, term| sum.add(a[term][i].mul(b[term][i])));
            }
        }
        _ => {
            for mut positions in terms {
                for _ in 0..extent {
                    let [at_a, at_b, at_c] = positions.map(|position| position as usize);
                    c[at_c] = c[at_c].add(a[at_a].mul(b[at_b]));
                    advance(&mut positions, strides, 1);
                }
            }
        }
    }
}

/// `c[i] += rows[0][i] * factors[0]`, then the same of the other rows. All rows are as long as `c`.
#[inline(always)]
fn add_multiples<T: Arithmetic, const N: usize>(c: &mut [T], rows: [&[T]; N], factors: [T; N]) {
    let rows = rows.map(|row| &row[..c.len()]);
    for (i, c) in c.iter_mut().enumerate() {
        *c = (0..N).fold(*c, |sum, term| sum.add(rows[term][i].mul(factors[term])));
    }
}

/// The sum of `a[i] * b[i]` along one axis.
fn inner_product<T: Element + Arithmetic>(
    split: Split,
    extent: usize,
    strides: [isize; 2],
    positions: [isize; 2],
    a: &[T],
    b: &[T],
) -> T {
    if extent > RUN {
        let middle = extent.div_ceil(RUN).div_ceil(2) * RUN;
        let mut beyond = positions;
        advance(&mut beyond, strides, middle as isize);
        let low = || inner_product(split, middle, strides, positions, a, b);
        let high = || inner_product(split, extent - middle, strides, beyond, a, b);
        let (low, high) = split.only_if(extent >= 2 * BLOCK).join(low, high);
        return low.add(high);
    }
    let [at_a, at_b] = positions;
    if strides != [1, 1] {
        let mut positions = positions;
        let mut total = T::ZERO;
        for _ in 0..extent {
            total = total.add(a[positions[0] as usize].mul(b[positions[1] as usize]));
            advance(&mut positions, strides, 1);
        }
        return total;
    }
    let (a, b) = (&a[at_a as usize..][..extent], &b[at_b as usize..][..extent]);
    let (whole_a, rest_a) = a.as_chunks::<LANES>();
    let (whole_b, rest_b) = b.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in whole_a.iter().zip(whole_b) {
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane = lane.add(a.mul(b));
        }
    }
    for (lane, (&a, &b)) in lanes.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *lane = lane.add(a.mul(b));
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = lanes[i].add(lanes[i + width]);
        }
    }
    lanes[0]
}

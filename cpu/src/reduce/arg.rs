//! Where the largest or smallest entry along an axis is.

use tenferro_core::Scalar;
use tenferro_runtime::reference::scalar::is_nan;

use crate::nest::{Axes, Axis, Walk, points};
use crate::workers::Workers;

/// Results of one block of work.
const BLOCK: usize = 1024;
/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// Whether an entry beats the best so far; neither is NaN.
pub(crate) type Best<T> = fn(T, T) -> bool;

/// For each point of `kept`, the index along `axis` of the first entry that no other beats; the first NaN wins. The
/// extent of the axis is positive.
pub(crate) fn best<T: Scalar>(
    workers: &Workers,
    beats: Best<T>,
    (kept, axis): (&Axes<1>, Axis<1>),
    (data, start): (&[T], isize),
    output: &mut [i64],
) {
    let (kept, stride) = (&kept[..], axis.strides[0]);
    let total = points(kept).saturating_mul(axis.extent);
    // Walk along the axis or across it, whichever is nearer to contiguous.
    let along = kept.iter().all(|kept| kept.extent == 1 || kept.strides[0].unsigned_abs() > stride.unsigned_abs());
    workers.run(total >= PARALLEL, |split| {
        split.for_each_part(output, points(kept).div_ceil(BLOCK), &|i| i * BLOCK, &|i, part: &mut [i64]| {
            let mut best = [T::ZERO; BLOCK];
            let offer = |index: usize, result: &mut i64, best: &mut T, entry: T| {
                if index == 0 || !is_nan(*best) && (is_nan(entry) || beats(entry, *best)) {
                    *best = entry;
                    *result = index as i64;
                }
            };
            if along {
                let mut walk = Walk::new(kept, [start], i * BLOCK);
                for (result, best) in part.iter_mut().zip(&mut best) {
                    for index in 0..axis.extent {
                        let position = walk.positions[0] + index as isize * stride;
                        offer(index, result, best, data[position as usize]);
                    }
                    walk.step();
                }
            } else {
                for index in 0..axis.extent {
                    let mut walk = Walk::new(kept, [start + index as isize * stride], i * BLOCK);
                    for (result, best) in part.iter_mut().zip(&mut best) {
                        offer(index, result, best, data[walk.positions[0] as usize]);
                        walk.step();
                    }
                }
            }
        });
    });
}

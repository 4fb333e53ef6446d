//! Where the largest or smallest entry along an axis is.

use tenferro_core::Scalar;
use tenferro_runtime::reference::scalar::is_nan;

use crate::nest::{Axes, Axis, Walk, points};
use crate::workers::Workers;

/// Results of one block of work.
const BLOCK: usize = 1024;
/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// For each point of `kept`, the index along `axis` of the first entry that no other beats; the first NaN wins. The
/// extent of the axis is positive.
pub(crate) fn best<T: Scalar>(
    workers: &Workers,
    beats: impl Fn(T, T) -> bool + Sync,
    (kept, axis): (&Axes<1>, Axis<1>),
    (data, start): (&[T], isize),
    output: &mut [i64],
) {
    let (kept, stride) = (&kept[..], axis.strides[0]);
    let total = points(kept).saturating_mul(axis.extent);
    let wins = |entry: T, best: T| (beats(entry, best) || is_nan(entry)) && !is_nan(best);
    // Walk along the axis or across it, whichever is nearer to contiguous.
    let along = kept.iter().all(|kept| kept.extent == 1 || kept.strides[0].unsigned_abs() > stride.unsigned_abs());
    workers.run(total >= PARALLEL, |split| {
        split.for_each_part(output, points(kept).div_ceil(BLOCK), &|i| i * BLOCK, &|i, part: &mut [i64]| {
            let mut walk = Walk::new(kept, [start], i * BLOCK);
            if along {
                for result in part {
                    let entry = |index: usize| data[(walk.positions[0] + index as isize * stride) as usize];
                    let (mut winner, mut best) = (0, entry(0));
                    for index in 1..axis.extent {
                        let entry = entry(index);
                        if wins(entry, best) {
                            (winner, best) = (index, entry);
                        }
                    }
                    *result = winner as i64;
                    walk.step();
                }
                return;
            }
            let mut starts = [0; BLOCK];
            let mut best = [T::ZERO; BLOCK];
            for ((result, start), best) in part.iter_mut().zip(&mut starts).zip(&mut best) {
                *start = walk.positions[0];
                *best = data[*start as usize];
                *result = 0;
                walk.step();
            }
            for index in 1..axis.extent {
                let step = index as isize * stride;
                for ((result, start), best) in part.iter_mut().zip(&starts).zip(&mut best) {
                    let entry = data[(start + step) as usize];
                    if wins(entry, *best) {
                        (*result, *best) = (index as i64, entry);
                    }
                }
            }
        });
    });
}

//! Scans: each entry along an axis is made from the one before it.

use tenferro_core::Scalar;

use crate::workers::Workers;

/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// Replaces the entries of a compact array by `next(previous, own, position)` along an axis of this extent, below
/// which the other axes have `inner` points. The first entries stay.
pub(crate) fn scan<T: Scalar>(
    workers: &Workers,
    (extent, inner): (usize, usize),
    data: &mut [T],
    next: impl Fn(T, T, usize) -> T + Sync,
) {
    let size = extent * inner;
    if size == 0 {
        return;
    }
    let slabs = data.len() / size;
    workers.run(data.len() >= PARALLEL && slabs > 1, |split| {
        split.for_each_part(data, slabs, &|i| i * size, &|i, slab: &mut [T]| {
            let start = i * size;
            if inner == 1 {
                let mut previous = slab[0];
                for (position, entry) in (start..).zip(slab).skip(1) {
                    previous = next(previous, *entry, position);
                    *entry = previous;
                }
                return;
            }
            for row in (inner..size).step_by(inner) {
                let (before, after) = slab.split_at_mut(row);
                let positions = start + row..;
                for ((entry, &previous), position) in
                    after[..inner].iter_mut().zip(&before[row - inner..]).zip(positions)
                {
                    *entry = next(previous, *entry, position);
                }
            }
        });
    });
}

//! Cumulative sums.

use tenferro_core::Scalar;
use tenferro_runtime::reference::scalar::Arithmetic;

use crate::workers::Workers;

/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// Replaces the entries of a compact array by the sums of all entries up to each along an axis of this extent, below
/// which the other axes have `inner` points.
pub(crate) fn cumulative_sum<T: Arithmetic + Scalar>(workers: &Workers, extent: usize, inner: usize, data: &mut [T]) {
    let slab = extent * inner;
    if slab == 0 {
        return;
    }
    let slabs = data.len() / slab;
    workers.run(data.len() >= PARALLEL && slabs > 1, |split| {
        split.for_each_part(data, slabs, &|i| i * slab, &|_, slab: &mut [T]| {
            if inner == 1 {
                let mut total = T::ZERO;
                for entry in slab {
                    total = total.add(*entry);
                    *entry = total;
                }
                return;
            }
            for row in 1..extent {
                let (before, after) = slab.split_at_mut(row * inner);
                let before = &before[(row - 1) * inner..];
                for (entry, &total) in after[..inner].iter_mut().zip(before) {
                    *entry = total.add(*entry);
                }
            }
        });
    });
}

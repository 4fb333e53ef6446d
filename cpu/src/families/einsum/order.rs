//! The order of the axes of each intermediate result, from what the step that reads it wants.
//!
//! A step is a matrix product without copies where on both operands and on the result each group of labels (left free,
//! right free, summed) lies together, in one order wherever it is, and one of the groups is first; batch labels are
//! last. The last result has its order from the output. From there back, every step asks its operands for an order:
//! the one that spares most elements from being copied, by the step itself or by the one that makes the operand.

use smallvec::SmallVec;
use tenferro_core::Layout;
use tenferro_einsum::{ContractionTree, Labels, Step};

/// The steps of a tree, their intermediate results in good order; operands have these layouts.
pub(super) fn arranged(tree: &ContractionTree, layouts: &[&Layout]) -> Vec<Step> {
    let mut steps = tree.steps().to_vec();
    let inputs: Vec<Labels> = (0..layouts.len()).map(|operand| by_stride(tree, operand, layouts[operand])).collect();
    for index in (0..steps.len()).rev() {
        let step = &steps[index];
        let [left, right] = &step.operands[..] else { continue };
        if left.slot.max(right.slot) < inputs.len() {
            continue;
        }
        let summed = |order: &[u32]| -> Labels {
            order.iter().copied().filter(|label| !step.labels.contains(label) && left.labels.contains(label)).collect()
        };
        let sides = [(left, right), (right, left)].map(|(own, other)| Side {
            made: own.slot.checked_sub(inputs.len()).map(|step| &steps[step]),
            current: if own.slot < inputs.len() { &inputs[own.slot] } else { &own.labels },
            free: step.labels.iter().copied().filter(|l| own.labels.contains(l) && !other.labels.contains(l)).collect(),
            batch: step.labels.iter().copied().filter(|l| own.labels.contains(l) && other.labels.contains(l)).collect(),
            size: own.labels.iter().map(|&label| tree.extents()[label as usize] as f64).product(),
        });
        // The order of the summed labels is that of one operand or the other.
        let orders = sides.each_ref().map(|side| summed(side.current));
        let choices = orders.map(|summed| sides.each_ref().map(|side| side.best(&summed, &inputs)));
        let cost = |choice: &[(f64, Labels); 2]| choice[0].0 + choice[1].0;
        let [first, second] = choices;
        let chosen = if cost(&second) < cost(&first) { second } else { first };
        for (side, (_, labels)) in chosen.into_iter().enumerate() {
            if let Some(producer) = steps[index].operands[side].slot.checked_sub(inputs.len()) {
                steps[producer].labels = labels.clone();
                steps[index].operands[side].labels = labels;
            }
        }
    }
    steps
}

/// The labels of an operand of the einsum, the shortest stride first.
fn by_stride(tree: &ContractionTree, operand: usize, layout: &Layout) -> Labels {
    let access = &tree.operands()[operand];
    let mut labels: SmallVec<[(usize, u32); 6]> = access
        .strides(layout.strides())
        .iter()
        .map(|stride| stride.unsigned_abs())
        .zip(access.labels().iter().copied())
        .collect();
    labels.sort_by_key(|&(stride, _)| stride);
    labels.into_iter().map(|(_, label)| label).collect()
}

/// An operand of a step.
struct Side<'s> {
    /// The step that makes it, if one does.
    made: Option<&'s Step>,
    /// The labels as they are.
    current: &'s Labels,
    /// Those that the result has from this operand alone, and from both, in the result's order.
    free: Labels,
    batch: Labels,
    size: f64,
}

impl Side<'_> {
    /// The best order with the summed labels in this one, and the number of elements that are copied for it.
    fn best(&self, summed: &Labels, inputs: &[Labels]) -> (f64, Labels) {
        let wanted = |order: &[u32]| adjoin(order, [&self.free, summed]);
        if self.made.is_none() {
            return (if wanted(self.current) { 0.0 } else { self.size }, self.current.clone());
        }
        let of = |groups: [&Labels; 3]| -> Labels { groups.into_iter().flatten().copied().collect() };
        let candidates =
            [self.current.clone(), of([&self.free, summed, &self.batch]), of([summed, &self.free, &self.batch])];
        let mut best: Option<(f64, Labels)> = None;
        for order in candidates {
            let copies = u8::from(!wanted(&order)) + u8::from(!self.can_make(&order, inputs));
            let cost = self.size * f64::from(copies);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, order));
            }
        }
        best.unwrap_or_else(|| (0.0, self.current.clone()))
    }

    /// Whether the step that makes the operand can write it in this order without a copy.
    fn can_make(&self, order: &[u32], inputs: &[Labels]) -> bool {
        let Some(step) = self.made else { return true };
        let [left, right] = &step.operands[..] else { return true };
        let free = [(left, right), (right, left)].map(|(own, other)| -> Labels {
            let free = |label: &u32| !other.labels.contains(label) && order.contains(label);
            match inputs.get(own.slot) {
                // An operand of the einsum lies as it lies; another one follows what is asked for here.
                Some(labels) => labels.iter().copied().filter(free).collect(),
                None => order.iter().copied().filter(|label| own.labels.contains(label) && free(label)).collect(),
            }
        });
        adjoin(order, [&free[0], &free[1]])
    }
}

/// Whether each group lies together in this order, and one of them is first.
fn adjoin(order: &[u32], groups: [&Labels; 2]) -> bool {
    let place = |group: &Labels| {
        group.first().map(|first| order.iter().position(|label| label == first).unwrap_or(order.len()))
    };
    let places = groups.map(place);
    let together = groups.iter().zip(places).all(|(group, place)| {
        place.is_none_or(|place| order.get(place..place + group.len()) == Some(group.as_slice()))
    });
    together && (order.is_empty() || places.contains(&Some(0)))
}

#[cfg(test)]
mod tests {
    use tenferro_core::Layout;
    use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize};

    use super::*;

    fn steps(notation: &str, shapes: &[&[usize]]) -> Vec<Step> {
        let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
        let tree = op.with_plan(EinsumOptimize::LeftToRight).unwrap().tree(shapes).unwrap();
        let layouts: Vec<Layout> = shapes.iter().map(|shape| Layout::col_major(shape).unwrap()).collect();
        arranged(&tree, &layouts.iter().collect::<Vec<_>>())
    }

    /// Labels are numbered by first occurrence.
    #[test]
    fn an_intermediate_is_made_as_it_is_read() {
        // ij,kj,lik->l: the third operand sums i and k, in its own order.
        let made = steps("ij,kj,lik->l", &[&[2, 3], &[4, 3], &[5, 2, 4]]);
        assert_eq!(made[0].labels[..], [0, 2]);
        // With the other order of i and k there, the first product is made transposed.
        let made = steps("ij,kj,lki->l", &[&[2, 3], &[4, 3], &[5, 4, 2]]);
        assert_eq!(made[0].labels[..], [2, 0]);
        assert_eq!(made[1].operands[0].labels[..], [2, 0]);
    }

    #[test]
    fn groups_that_cannot_all_lie_together_still_have_all_labels() {
        // The first step has a, b from the left and c, d from the right; the second sums b and d.
        let steps = steps("abe,cde,bdf->acf", &[&[2, 3, 4], &[5, 6, 4], &[3, 6, 7]]);
        let mut labels = steps[0].labels.to_vec();
        labels.sort_unstable();
        assert_eq!(labels, [0, 1, 3, 4]);
        assert_eq!(steps[0].labels, steps[1].operands[0].labels);
    }
}

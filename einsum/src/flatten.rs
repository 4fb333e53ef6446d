//! Two nested einsums as one.

use std::collections::HashMap;

use crate::op::EinsumOp;
use crate::planning::EinsumOptimize;

/// The einsum of the operands of `outer` with those of `inner` in the place of its operand `at`, where that is the
/// result of `inner`; `None` where an order that was asked for would be lost.
///
/// A label of the inner output is the one that the outer einsum has in its place: the sum over the inner labels moves
/// out of the product.
/// * Labels that meet on one axis are one. So a label that the inner output has twice, whose result is zero off the
///   diagonal, makes one label of the two that the outer einsum has there: nothing else contributes to its sums, and
///   its output is zero off the diagonal in turn.
/// * An axis of the inner result that stretches has extent 1; its inner label is summed instead, over that one entry.
///   Marks of the other axes stay.
pub(crate) fn absorb(outer: &EinsumOp, at: usize, inner: &EinsumOp) -> Option<EinsumOp> {
    let replaced = outer.inputs.get(at).filter(|labels| labels.len() == inner.output.len())?;
    // Inner labels are numbered after the outer ones, until they meet.
    let first_inner = outer.label_count() as u32;
    let mut met = Met::default();
    for (axis, (&label, &inside)) in replaced.iter().zip(inner.output.iter()).enumerate() {
        if !outer.stretches(at, axis) {
            met.join(label, first_inner + inside);
        }
    }
    let mut inputs = Vec::with_capacity(outer.inputs.len() + inner.inputs.len() - 1);
    let mut stretch = Vec::new();
    let mut take = |einsum: &EinsumOp, operand: usize, first: u32| {
        let marked = (0..einsum.inputs[operand].len()).filter(|&axis| einsum.stretches(operand, axis));
        stretch.extend(marked.map(|axis| (inputs.len() as u32, axis as u32)));
        inputs.push(einsum.inputs[operand].iter().map(|&label| met.label(first + label)).collect::<Vec<u32>>());
    };
    for operand in 0..outer.inputs.len() {
        if operand == at {
            (0..inner.inputs.len()).for_each(|operand| take(inner, operand, first_inner));
        } else {
            take(outer, operand, 0);
        }
    }
    let output: Vec<u32> = outer.output.iter().map(|&label| met.label(label)).collect();
    let (planned, first) = planned(outer, inner, first_inner)?;
    let plan = match &planned.plan {
        EinsumOptimize::Tree { pairs, slices } => EinsumOptimize::Tree {
            pairs: pairs.clone(),
            slices: slices.iter().map(|&label| met.label(first + label)).collect(),
        },
        plan => plan.clone(),
    };
    let whole = EinsumOp { goal: planned.goal, ..EinsumOp::canonical(inputs, output, stretch, plan) };
    whole.check().ok().map(|()| whole)
}

/// Which of the two says how the whole is planned, and where its labels are numbered from. An order that is fixed stays
/// only where the other einsum has a single operand, so that there is nothing else to order; free orders must be found
/// by one method for one goal.
fn planned<'a>(outer: &'a EinsumOp, inner: &'a EinsumOp, first_inner: u32) -> Option<(&'a EinsumOp, u32)> {
    match (outer.inputs.len(), inner.inputs.len()) {
        // A single operand may be sliced all the same.
        (_, 1) if inner.plan.slices().is_empty() => Some((outer, 0)),
        (1, _) if outer.plan.slices().is_empty() => Some((inner, first_inner)),
        (1, _) | (_, 1) => None,
        (count, _) => {
            let is_one = outer.plan == inner.plan && outer.goal == inner.goal && outer.plan.fixed(count).is_none();
            is_one.then_some((outer, 0))
        }
    }
}

/// Labels that are one, each with a smaller one.
#[derive(Default)]
struct Met(HashMap<u32, u32>);

impl Met {
    fn label(&self, mut label: u32) -> u32 {
        while let Some(&smaller) = self.0.get(&label) {
            label = smaller;
        }
        label
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.label(a), self.label(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Goal, Objective};

    fn op(notation: &str, plan: EinsumOptimize) -> EinsumOp {
        let text = format!("\"{notation}\"");
        let (op, _) = tenferro_core::program::PayloadParser::parse_payload(&crate::EinsumPayloads, &text).unwrap();
        op.as_any().downcast_ref::<EinsumOp>().unwrap().clone().with_plan(plan).unwrap()
    }

    fn flat(outer: &str, at: usize, inner: &str) -> String {
        let auto = EinsumOptimize::Auto;
        absorb(&op(outer, auto.clone()), at, &op(inner, auto)).map_or("none".into(), |op| op.to_string())
    }

    #[test]
    fn labels_meet_where_axes_do() {
        for (outer, at, inner, whole) in [
            ("ij,jk->ik", 0, "ab,bc->ac", "ij,jk,kl->il"),
            ("ij,jk->ik", 1, "ab,bc->ac", "ij,jk,kl->il"),
            // sums of one side, transposes, scalars
            ("ij->i", 0, "ab,cb->ca", "ij,kj->k"),
            ("i,i->", 1, "abc->b", "i,jik->"),
            (",i->i", 0, "ab->", "ij,k->k"),
            // diagonals: read by the outer, by the inner, written by the inner, by the outer
            ("ii->i", 0, "ab,bc->ac", "ij,ji->i"),
            ("ij,j->i", 0, "aab->ab", "iij,j->i"),
            ("ij,j->i", 0, "a->aa", "i,i->i"),
            ("ij,ij->ij", 0, "a->aa", "i,ii->ii"),
            ("ijk,j->ik", 0, "a,b->aab", "i,j,i->ij"),
            ("i->ii", 0, "ab->a", "ij->ii"),
            // stretched axes: of the inner result, inside of the inner einsum, of others
            ("i#j,jk->ik", 0, "ab,bc->ac", "ij,jk,lm->im"),
            ("ij,jk->ik", 0, "ab,a#b->ab", "ij,i#j,jk->ik"),
            ("ij,#jk->ik", 0, "ab,bc->ac", "ij,jk,#kl->il"),
        ] {
            assert_eq!(flat(outer, at, inner), format!("\"{whole}\""), "{outer} of {inner}");
        }
    }

    #[test]
    fn a_goal_that_was_asked_for_stays() {
        let auto = EinsumOptimize::Auto;
        let [flops, limited] =
            [Goal { objective: Objective::Flops, ..Goal::DEFAULT }, Goal { memory_limit: Some(7), ..Goal::DEFAULT }];
        let with = |notation: &str, goal: Goal| op(notation, auto.clone()).with_goal(goal).unwrap();
        let fused = |outer: EinsumOp, inner: EinsumOp| absorb(&outer, 0, &inner).map(|op| op.goal);
        let (pair, single) = ("ij,jk->ik", "ij->ji");
        for goal in [Goal::DEFAULT, flops, limited] {
            assert_eq!(fused(with(pair, goal), with(pair, goal)), Some(goal));
            assert_eq!(fused(with(pair, goal), with(single, Goal::DEFAULT)), Some(goal));
            assert_eq!(fused(with(single, Goal::DEFAULT), with(pair, goal)), Some(goal));
        }
        assert_eq!(fused(with(pair, flops), with(pair, limited)), None);
        assert_eq!(fused(with(pair, Goal::DEFAULT), with(pair, limited)), None);
    }

    #[test]
    fn an_order_that_was_asked_for_stays() {
        let path = |pairs: &[(u32, u32)]| EinsumOptimize::Path(pairs.to_vec().into());
        let (auto, greedy) = (EinsumOptimize::Auto, EinsumOptimize::Greedy);
        let fused = |outer: EinsumOp, inner: EinsumOp| absorb(&outer, 0, &inner).map(|op| op.plan);
        let pair = |plan: &EinsumOptimize| op("ij,jk->ik", plan.clone());
        let single = |plan: &EinsumOptimize| op("ij->ji", plan.clone());
        let three = op("ij,jk,kl->il", path(&[(1, 2), (0, 1)]));
        assert_eq!(fused(pair(&greedy), pair(&greedy)), Some(greedy.clone()));
        assert_eq!(fused(pair(&greedy), pair(&auto)), None);
        assert_eq!(fused(pair(&auto), three.clone()), None);
        assert_eq!(fused(three.clone(), pair(&auto)), None);
        for fixed in [path(&[(0, 1)]), EinsumOptimize::LeftToRight, EinsumOptimize::Pairwise] {
            assert_eq!(fused(pair(&fixed), pair(&fixed)), None, "{fixed}");
        }
        assert_eq!(fused(three.clone(), single(&greedy)), Some(three.plan.clone()));
        assert_eq!(fused(single(&greedy), three.clone()), Some(three.plan.clone()));
        // and so do the labels that are sliced, under their new numbers
        let tree = |slices: &[u32]| EinsumOptimize::Tree { pairs: vec![(0, 1)].into(), slices: slices.to_vec().into() };
        let sliced = |notation, slices| op(notation, tree(slices));
        assert_eq!(fused(sliced("ij,jk->ik", &[2]), single(&greedy)), Some(tree(&[2])));
        assert_eq!(fused(sliced("ij,kl->ikjl", &[0, 3]), op("abc->ba", greedy.clone())), Some(tree(&[1, 4])));
        assert_eq!(fused(op("ij->ji", greedy.clone()), sliced("ab,bc->ca", &[0, 1])), Some(tree(&[0, 1])));
        assert_eq!(fused(op("ii->i", greedy.clone()), sliced("ab,bc->ca", &[0, 2])), Some(tree(&[0])));
        // A single operand is sliced too.
        let own = |slices: &[u32]| EinsumOptimize::Tree { pairs: vec![].into(), slices: slices.to_vec().into() };
        assert_eq!(fused(op("ab->ba", own(&[0])), single(&greedy)), Some(own(&[1])));
        assert_eq!(fused(op("ab->ba", own(&[0])), op("ab->ba", own(&[0]))), None);
        assert_eq!(fused(pair(&greedy), op("ab->ba", own(&[0]))), None);
        // A method with a limit refuses what is beyond it.
        let many = |n: usize| op(&format!("{}->", vec!["i"; n].join(",")), EinsumOptimize::Optimal);
        assert_eq!(fused(many(crate::OPTIMAL_LIMIT), op("i,i->i", EinsumOptimize::Optimal)), None);
    }
}

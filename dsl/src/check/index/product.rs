//! Products: which labels are summed here, and the one einsum that does it.

use tenferro_core::DType;
use tenferro_core::shape::SymDim;
use tenferro_einsum::PlanSpec;

use super::build::result;
use super::{Indices, Label, Labelled, Labels, Node, contraction};
use crate::check::body::Checker;
use crate::check::elementwise::Operand;
use crate::check::tree::Expr;
use crate::diagnostics::Place;
use crate::functions;
use crate::syntax::BinaryOp;

/// A factor of a product.
struct Factor<'a> {
    node: &'a Node,
    divides: bool,
    place: Place,
}

impl Checker<'_> {
    /// A product, or a single factor, with no labels but those of `keep`; those of `summed` are summed here in any case.
    pub(super) fn product(
        &mut self,
        node: &Node,
        keep: &Labels,
        summed: &Labels,
        indices: &Indices,
    ) -> Option<Labelled> {
        let mut factors = Vec::new();
        flatten(node, false, node.place(), &mut factors);
        let here: Labels = (&node.free() - keep)
            .into_iter()
            .filter(|&label| summed.contains(&label) || summed_here(label, &factors))
            .collect();
        let keep = keep | &here;
        if here.is_empty() {
            return self.as_written(node, &keep, indices);
        }
        self.contracted(node, factors, &here, &keep, indices)
    }

    /// A product in which nothing is summed: multiplied and divided as written.
    fn as_written(&mut self, node: &Node, keep: &Labels, indices: &Indices) -> Option<Labelled> {
        match node {
            Node::Product { left, right, divides, place, .. } => {
                let left = self.as_written(left, keep, indices);
                let right = match divides {
                    true => self.factor(right, keep, indices),
                    false => self.as_written(right, keep, indices),
                };
                self.times(left?, *divides, right?, *place, indices)
            }
            other => self.factor(other, keep, indices),
        }
    }

    fn contracted(
        &mut self,
        node: &Node,
        factors: Vec<Factor<'_>>,
        here: &Labels,
        keep: &Labels,
        indices: &Indices,
    ) -> Option<Labelled> {
        // Numerators by factor; a divisor that is summed over, or whose quotient is rounded, joins the one before it.
        let mut numerators: Vec<Option<Labelled>> = Vec::new();
        let mut divisors: Vec<(Labelled, Place)> = Vec::new();
        let mut fine = true;
        for factor in &factors {
            let Some(value) = self.factor(factor.node, keep, indices) else {
                fine = false;
                continue;
            };
            if !factor.divides {
                numerators.push(Some(value));
                continue;
            }
            let rounds = value.operand.value.elem.dtypes().contains(DType::I64);
            let joined = rounds || value.labels.iter().any(|label| here.contains(label));
            match numerators.iter_mut().rev().find(|before| before.is_some()) {
                Some(before) if joined => {
                    *before = Some(self.times(before.take()?, true, value, factor.place, indices)?);
                }
                _ => divisors.push((value, factor.place)),
            }
            numerators.push(None);
        }
        if !fine {
            return None;
        }
        let place = factors.first().map(|factor| factor.place)?;
        let mut operands: Vec<Operand> = numerators.iter().flatten().map(|value| value.operand.clone()).collect();
        self.common_dtype(functions::binary(BinaryOp::Mul), &mut operands, place)?;
        let labels: Vec<Vec<Label>> = numerators.iter().flatten().map(|value| value.labels.clone()).collect();
        let (tensors, scalars): (Vec<_>, Vec<_>) = operands
            .into_iter()
            .zip(labels)
            .map(|(operand, labels)| Labelled { operand, labels })
            .partition(|value| !value.labels.is_empty());
        let mut slot = 0;
        let slots: Vec<Option<usize>> = numerators
            .iter()
            .map(|value| {
                let tensor = value.as_ref().is_some_and(|value| !value.labels.is_empty());
                slot += usize::from(tensor);
                tensor.then(|| slot - 1)
            })
            .collect();
        let mut value = self.summed(tensors, here, order(node, &slots), place)?;
        for scalar in scalars.into_iter().rev() {
            value = self.times(scalar, false, value, place, indices)?;
        }
        for (divisor, place) in divisors {
            value = self.times(value, true, divisor, place, indices)?;
        }
        Some(value)
    }

    /// The sum over `here` of the product of tensors: a reduction of one, one einsum of several.
    fn summed(&mut self, mut tensors: Vec<Labelled>, here: &Labels, plan: PlanSpec, place: Place) -> Option<Labelled> {
        if tensors.len() == 1 {
            let Labelled { operand, mut labels } = tensors.pop()?;
            let axes = (0..labels.len()).filter(|&axis| here.contains(&labels[axis])).map(|axis| axis as u32).collect();
            let sum = functions::lookup("sum").next()?;
            let value = self.reduce(sum, operand, axes, place)?;
            labels.retain(|label| !here.contains(label));
            return Some(Labelled { operand: result(value, place), labels });
        }
        let all: Labels = tensors.iter().flat_map(|tensor| tensor.labels.iter().copied()).collect();
        let labels: Vec<Label> = (&all - here).into_iter().collect();
        let extent = |label: &Label| -> Option<SymDim> {
            tensors.iter().find_map(|tensor| {
                let axis = tensor.labels.iter().position(|other| other == label)?;
                Some(tensor.operand.value.shape[axis].clone())
            })
        };
        let shape = labels.iter().filter_map(extent).collect();
        let numbers = |labels: &[Label]| labels.iter().map(|&label| label as u32).collect::<Vec<u32>>();
        let inputs = tensors.iter().map(|tensor| numbers(&tensor.labels)).collect();
        let args: Vec<Expr> = tensors.into_iter().map(|tensor| tensor.operand.value).collect();
        let value = contraction(inputs, numbers(&labels), plan, args, shape);
        Some(Labelled { operand: result(value, place), labels })
    }
}

/// The factors from left to right; parentheses among them do not matter. A product that divides is a factor of its own.
fn flatten<'a>(node: &'a Node, divides: bool, place: Place, factors: &mut Vec<Factor<'a>>) {
    match node {
        Node::Product { left, right, divides: by, place, .. } if !divides => {
            flatten(left, false, *place, factors);
            flatten(right, *by, *place, factors);
        }
        node => factors.push(Factor { node, divides, place }),
    }
}

/// Whether this product is the smallest that holds all occurrences of a label.
fn summed_here(label: Label, factors: &[Factor<'_>]) -> bool {
    let mut holders = factors.iter().filter(|factor| factor.node.free().contains(&label));
    let (Some(factor), None) = (holders.next(), holders.next()) else { return true };
    match factor.node {
        Node::Tensor(_) => true,
        Node::Scalar(_) | Node::Product { .. } => false,
        // Each term of a sum that multiplies is a product of its own.
        Node::Sum { .. } | Node::Negative { .. } => factor.divides && places(label, factor.node) > 1,
        Node::Apply { args, .. } => args.iter().map(|arg| places(label, arg)).sum::<usize>() > 1,
        Node::Cast { value, .. } => places(label, value) > 1,
        Node::Reduce { over, value, function, .. } => {
            over.contains(&label) || (!matches!(function.name, "sum" | "mean") && places(label, value) > 1)
        }
    }
}

/// In how many products of an expression a label stands.
fn places(label: Label, node: &Node) -> usize {
    match node {
        Node::Sum { left, right, .. } => places(label, left) + places(label, right),
        Node::Negative { value, .. } => places(label, value),
        node => usize::from(node.free().contains(&label)),
    }
}

/// The order that parentheses among the factors ask for.
fn order(node: &Node, slots: &[Option<usize>]) -> PlanSpec {
    let tensors = slots.iter().flatten().count();
    if tensors < 3 || !groups(node) {
        return PlanSpec::Auto;
    }
    let mut pairs = Vec::new();
    walk(node, &mut slots.iter(), tensors, &mut pairs);
    let mut list: Vec<usize> = (0..tensors).collect();
    let mut path = Vec::new();
    for (step, (left, right)) in pairs.into_iter().enumerate() {
        let position = |tensor| list.iter().position(|&other| other == tensor).unwrap_or(0);
        path.push((position(left) as u32, position(right) as u32));
        list.retain(|&tensor| tensor != left && tensor != right);
        list.push(tensors + step);
    }
    PlanSpec::Path(path.into())
}

/// Whether a product has another in parentheses as a factor.
fn groups(node: &Node) -> bool {
    let grouped = |node: &Node| matches!(node, Node::Product { grouped: true, .. }) || groups(node);
    match node {
        Node::Product { left, right, divides, .. } => grouped(left) || (!divides && grouped(right)),
        _ => false,
    }
}

/// Collects the pairs of the contraction as written; the result is the tensor that stands for the node.
fn walk(
    node: &Node,
    slots: &mut std::slice::Iter<'_, Option<usize>>,
    tensors: usize,
    pairs: &mut Vec<(usize, usize)>,
) -> Option<usize> {
    let Node::Product { left, right, divides, .. } = node else { return slots.next().copied().flatten() };
    let left = walk(left, slots, tensors, pairs);
    let right = match divides {
        true => slots.next().copied().flatten(),
        false => walk(right, slots, tensors, pairs),
    };
    match (left, right) {
        (Some(left), Some(right)) => {
            pairs.push((left, right));
            Some(tensors + pairs.len() - 1)
        }
        (left, right) => left.or(right),
    }
}

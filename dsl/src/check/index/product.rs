//! Products: which labels are summed here, and the one einsum that does it.

use tenferro_core::DType;
use tenferro_core::shape::SymDim;
use tenferro_einsum::EinsumOptimize;

use super::build::result;
use super::{Indices, Label, Labelled, Labels, Node, contraction};
use crate::check::body::Checker;
use crate::check::elementwise::Operand;
use crate::check::tree::{Elem, Expr};
use crate::diagnostics::Place;
use crate::functions;
use crate::syntax::{BinaryOp, UnaryOp};

/// The factors of a product from left to right; parentheses and signs among them do not matter.
#[derive(Default)]
struct Factors<'a> {
    list: Vec<Factor<'a>>,
    negative: bool,
}

struct Factor<'a> {
    node: &'a Node,
    divides: bool,
    place: Place,
}

impl Checker<'_> {
    /// A product, or a single factor, with no labels but those of `keep`; those of `summed` are summed here in any
    /// case.
    pub(super) fn product(
        &mut self,
        node: &Node,
        keep: &Labels,
        summed: &Labels,
        indices: &Indices,
    ) -> Option<Labelled> {
        let here: Labels = (&node.free() - keep)
            .into_iter()
            .filter(|&label| summed.contains(&label) || summed_here(label, node))
            .collect();
        let keep = keep | &here;
        if here.is_empty() {
            return self.as_written(node, &keep, indices);
        }
        self.contracted(node, &here, &keep, indices)
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

    fn contracted(&mut self, node: &Node, here: &Labels, keep: &Labels, indices: &Indices) -> Option<Labelled> {
        let mut factors = Factors::default();
        factors.push(node, false, node.place());
        let place = factors.list.first().map(|factor| factor.place)?;
        let built: Vec<_> = factors.list.iter().map(|factor| self.factor(factor.node, keep, indices)).collect();
        let built: Vec<Labelled> = built.into_iter().collect::<Option<_>>()?;
        if factors.list.iter().any(|factor| factor.divides) && rounds(&built) {
            // Nothing may be summed or multiplied before a quotient is rounded.
            let written = self.as_written(node, keep, indices)?;
            return self.summed(vec![written], here, EinsumOptimize::Auto, place);
        }
        // Numerators by factor; a divisor that is summed over joins the one before it.
        let mut numerators: Vec<Option<Labelled>> = Vec::new();
        let mut divisors: Vec<(Labelled, Place)> = Vec::new();
        for (factor, mut value) in factors.list.iter().zip(built) {
            if value.operand.text.is_empty() {
                value.operand.text = factor.node.text();
            }
            if !factor.divides {
                numerators.push(Some(value));
                continue;
            }
            let joined = value.labels.iter().any(|label| here.contains(label));
            match numerators.iter_mut().rev().find(|before| before.is_some()) {
                Some(before) if joined => {
                    *before = Some(self.times(before.take()?, true, value, factor.place, indices)?);
                }
                _ => divisors.push((value, factor.place)),
            }
            numerators.push(None);
        }
        let mut operands: Vec<Operand> = numerators.iter().flatten().map(|value| value.operand.clone()).collect();
        if let ([Operand { text, value, .. }], Some(&label)) = (operands.as_slice(), here.first())
            && value.elem == Elem::BOOL
        {
            let message = format!(
                "index `{}` would be summed, but {text} is bool: keep the index in the target, or sum numbers, as \
                 `(..) as i64`",
                indices.name(label)
            );
            self.error(place, message);
            return None;
        }
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
        if factors.negative {
            value = self.combine(functions::unary(UnaryOp::Neg), vec![value], place, indices)?;
        }
        Some(value)
    }

    /// The sum over `here` of the product of tensors: a reduction of one, one einsum of several.
    fn summed(
        &mut self,
        mut tensors: Vec<Labelled>,
        here: &Labels,
        plan: EinsumOptimize,
        place: Place,
    ) -> Option<Labelled> {
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

impl<'a> Factors<'a> {
    fn push(&mut self, node: &'a Node, divides: bool, place: Place) {
        if let Node::Negative { value, .. } = node {
            self.negative = !self.negative;
            self.push(value, divides, place);
        } else if let Some(Parts { left, right, right_divides, place }) = parts(node, divides) {
            self.push(left, divides, place);
            self.push(right, right_divides, place);
        } else {
            self.list.push(Factor { node, divides, place });
        }
    }
}

/// Whether quotients of these operands are rounded, in one of the dtypes that they may have.
fn rounds(operands: &[Labelled]) -> bool {
    let elems = || operands.iter().map(|value| value.operand.value.elem);
    let decided = elems().find(|elem| !elem.adapts()).or_else(|| elems().find(|elem| *elem == Elem::AnyFloat));
    decided.is_none_or(|elem| elem.dtypes().iter().any(DType::is_integer))
}

/// A product as two factors.
struct Parts<'a> {
    left: &'a Node,
    right: &'a Node,
    right_divides: bool,
    place: Place,
}

/// What a product is computed from. A quotient that divides is computed by itself.
fn parts(node: &Node, divides: bool) -> Option<Parts<'_>> {
    match node {
        Node::Product { left, right, divides: by, place, .. } if !(divides && *by) => {
            Some(Parts { left, right, right_divides: divides || *by, place: *place })
        }
        _ => None,
    }
}

/// The factors of a product that hold a label, however it is nested; `true` in a divisor.
fn holders(label: Label, node: &Node) -> Vec<(&Node, bool)> {
    match node {
        Node::Negative { value, .. } => holders(label, value),
        Node::Product { left, right, divides, .. } => {
            let below = holders(label, right).into_iter().map(|(factor, by)| (factor, by || *divides));
            holders(label, left).into_iter().chain(below).collect()
        }
        node if node.free().contains(&label) => vec![(node, false)],
        _ => Vec::new(),
    }
}

/// Whether this product is the smallest that holds all occurrences of a label.
fn summed_here(label: Label, node: &Node) -> bool {
    let holders = holders(label, node);
    let [(factor, divides)] = holders.as_slice() else { return true };
    match factor {
        Node::Tensor(_) => true,
        // Each term of a sum that multiplies is a product of its own.
        Node::Sum { .. } => *divides && places(label, factor) > 1,
        Node::Apply { args, .. } => args.iter().map(|arg| places(label, arg)).sum::<usize>() > 1,
        Node::Cast { value, .. } => places(label, value) > 1,
        Node::Reduce { over, value, function, .. } => {
            over.contains(&label) || (!matches!(function.name, "sum" | "mean") && places(label, value) > 1)
        }
        Node::Scalar(_) | Node::Product { .. } | Node::Negative { .. } => false,
    }
}

/// In how many products of an expression a label stands, sums that multiply being multiplied out.
fn places(label: Label, node: &Node) -> usize {
    if let Node::Sum { left, right, .. } = node {
        return places(label, left) + places(label, right);
    }
    match holders(label, node).as_slice() {
        [(sum @ Node::Sum { .. }, false)] => places(label, sum),
        holders => usize::from(!holders.is_empty()),
    }
}

/// The order that parentheses among the factors ask for.
fn order(node: &Node, slots: &[Option<usize>]) -> EinsumOptimize {
    let tensors = slots.iter().flatten().count();
    if tensors < 3 || !groups(node) {
        return EinsumOptimize::Auto;
    }
    let mut pairs = Vec::new();
    walk(node, false, &mut slots.iter(), tensors, &mut pairs);
    let mut list: Vec<usize> = (0..tensors).collect();
    let mut path = Vec::new();
    for (step, (left, right)) in pairs.into_iter().enumerate() {
        let position = |tensor| list.iter().position(|&other| other == tensor).unwrap_or(0);
        path.push((position(left) as u32, position(right) as u32));
        list.retain(|&tensor| tensor != left && tensor != right);
        list.push(tensors + step);
    }
    EinsumOptimize::Path(path.into())
}

/// Whether a product has another in parentheses as a factor.
fn groups(node: &Node) -> bool {
    match node {
        Node::Negative { value, .. } => groups(value),
        Node::Product { left, right, divides, .. } => {
            let grouped = |node: &Node| node.is_grouped() || groups(node);
            grouped(left) || (!divides && grouped(right))
        }
        _ => false,
    }
}

/// Collects the pairs of the contraction as written; the result is the tensor that stands for the node.
fn walk(
    node: &Node,
    divides: bool,
    slots: &mut std::slice::Iter<'_, Option<usize>>,
    tensors: usize,
    pairs: &mut Vec<(usize, usize)>,
) -> Option<usize> {
    if let Node::Negative { value, .. } = node {
        return walk(value, divides, slots, tensors, pairs);
    }
    let Some(Parts { left, right, right_divides, .. }) = parts(node, divides) else {
        return slots.next().copied().flatten();
    };
    let left = walk(left, divides, slots, tensors, pairs);
    match (left, walk(right, right_divides, slots, tensors, pairs)) {
        (Some(left), Some(right)) => {
            pairs.push((left, right));
            Some(tensors + pairs.len() - 1)
        }
        (left, right) => left.or(right),
    }
}

//! Building: sums, functions and reductions of indexed operands as whole-tensor operations.

use super::{Indices, Label, Labelled, Labels, Node, aligned};
use crate::check::body::Checker;
use crate::check::elementwise::{Operand, apply};
use crate::check::tree::Expr;
use crate::diagnostics::Place;
use crate::functions::{self, Function};
use crate::syntax::{BinaryOp, UnaryOp};

impl Checker<'_> {
    /// The value with no labels but those of `keep`: each term of a sum by itself, so that a summation in one never
    /// reaches into another.
    pub(super) fn build(&mut self, node: &Node, keep: &Labels, indices: &Indices) -> Option<Labelled> {
        match node {
            Node::Sum { function, left, right, place } => {
                let (left, right) = (self.build(left, keep, indices), self.build(right, keep, indices));
                self.combine(function, vec![left?, right?], *place, indices)
            }
            Node::Negative { value, place } => {
                let value = self.build(value, keep, indices)?;
                self.combine(functions::unary(UnaryOp::Neg), vec![value], *place, indices)
            }
            _ => self.product(node, keep, &Labels::new(), indices),
        }
    }

    /// One factor of a product, with no labels but those of `keep`.
    pub(super) fn factor(&mut self, node: &Node, keep: &Labels, indices: &Indices) -> Option<Labelled> {
        match node {
            Node::Tensor(tensor) => Some(tensor.clone()),
            Node::Scalar(operand) => Some(Labelled { operand: operand.clone(), labels: Vec::new() }),
            Node::Sum { .. } | Node::Negative { .. } | Node::Product { .. } => self.build(node, keep, indices),
            Node::Apply { function, args, place } => {
                let args: Vec<Option<Labelled>> = args.iter().map(|arg| self.build(arg, keep, indices)).collect();
                self.combine(function, args.into_iter().collect::<Option<_>>()?, *place, indices)
            }
            Node::Cast { value, elem, place } => {
                let Labelled { operand, labels } = self.build(value, keep, indices)?;
                let value = self.cast(operand.value, *elem, *place)?;
                Some(Labelled { operand: result(value, *place), labels })
            }
            Node::Reduce { function, keeps, over, value, place } => {
                self.reduced(function, *keeps, over, value, *place, keep, indices)
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // the parts of one node
    fn reduced(
        &mut self,
        function: &'static Function,
        keeps: bool,
        over: &[Label],
        value: &Node,
        place: Place,
        keep: &Labels,
        indices: &Indices,
    ) -> Option<Labelled> {
        let over_set: Labels = over.iter().copied().collect();
        if function.name == "sum" && matches!(value, Node::Product { .. } | Node::Negative { .. }) {
            // The sum of a product is one contraction.
            return self.product(value, &(keep - &over_set), &over_set, indices);
        }
        let Labelled { operand, mut labels } = self.build(value, &(keep | &over_set), indices)?;
        let axes = (0..labels.len()).filter(|&axis| over.contains(&labels[axis])).map(|axis| axis as u32).collect();
        let value = self.reduce(function, operand, axes, place)?;
        if !keeps {
            labels.retain(|label| !over.contains(label));
        }
        Some(Labelled { operand: result(value, place), labels })
    }

    /// A function of operands, each repeated along the labels that only others have.
    pub(super) fn combine(
        &mut self,
        function: &'static Function,
        values: Vec<Labelled>,
        place: Place,
        indices: &Indices,
    ) -> Option<Labelled> {
        let labels: Labels = values.iter().flat_map(|value| value.labels.iter().copied()).collect();
        let labels: Vec<Label> = labels.into_iter().collect();
        let (mut operands, own): (Vec<Operand>, Vec<Vec<Label>>) =
            values.into_iter().map(|value| (value.operand, value.labels)).unzip();
        for (i, operand) in operands.iter_mut().enumerate().filter(|(_, operand)| operand.text.is_empty()) {
            operand.text = match (function.name.starts_with(char::is_alphabetic), i) {
                (true, i) => format!("argument {i} of `{}`", function.name),
                (false, 0) => "the left operand".to_string(),
                (false, _) => "the right operand".to_string(),
            };
        }
        let elem = self.common_dtype(function, &mut operands, place)?;
        let mut args: Vec<Expr> = Vec::new();
        for (operand, own) in operands.into_iter().zip(own) {
            // Scalars are repeated by `apply`.
            let value = match own.is_empty() {
                true => operand.value,
                false => aligned(Labelled { operand, labels: own }, &labels, indices).operand.value,
            };
            args.push(value);
        }
        let shape = match args.iter().find(|arg| arg.rank() > 0) {
            Some(arg) => arg.shape.clone(),
            None => Vec::new(),
        };
        Some(Labelled { operand: result(apply(function, args, elem, shape), place), labels })
    }

    /// A product or quotient of two values, entry by entry.
    pub(super) fn times(
        &mut self,
        left: Labelled,
        divides: bool,
        right: Labelled,
        place: Place,
        indices: &Indices,
    ) -> Option<Labelled> {
        let op = if divides { BinaryOp::Div } else { BinaryOp::Mul };
        self.combine(functions::binary(op), vec![left, right], place, indices)
    }
}

/// A value without a name of its own; where it is used, its role is its name.
pub(super) fn result(value: Expr, place: Place) -> Operand {
    Operand { value, place, text: String::new() }
}

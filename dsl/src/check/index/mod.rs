//! Index notation, `let y[i, k] = a[i, j] * b[j, k];`: from indices to whole-tensor operations.
//!
//! Two steps: the expression is read into [`Node`]s whose operands know the labels of their axes, with every index
//! and extent checked; then it is built for the labels of the target, and every other label is summed over the
//! smallest product that holds all its occurrences.

mod build;
mod product;
mod read;

use std::collections::BTreeSet;

use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumOp, EinsumOptimize, Subscripts};

use super::body::Checker;
use super::elementwise::Operand;
use super::expression::unsupported_index;
use super::sizes::Agreement;
use super::tree::{Elem, Expr, Kind};
use crate::diagnostics::Place;
use crate::functions::Function;
use crate::syntax;

/// An index of a statement, by its position in [`Indices`]. Those of the target come first, so that the order of
/// labels is the order in which axes are best kept.
type Label = usize;
type Labels = BTreeSet<Label>;

/// The indices of one statement.
#[derive(Default)]
struct Indices {
    list: Vec<Index>,
}

struct Index {
    name: String,
    /// The extent, once an axis or the target has said it, and what said it.
    extent: Option<(SymDim, String)>,
}

/// An operand whose axes carry labels, each once.
#[derive(Clone)]
struct Labelled {
    operand: Operand,
    labels: Vec<Label>,
}

/// An indexed expression.
enum Node {
    Tensor(Labelled),
    Scalar(Operand),
    /// `left * right`, or `left / right` if `divides`; `grouped` in parentheses.
    Product {
        left: Box<Node>,
        right: Box<Node>,
        divides: bool,
        grouped: bool,
        place: Place,
    },
    /// `left + right` or `left - right`.
    Sum {
        function: &'static Function,
        left: Box<Node>,
        right: Box<Node>,
        place: Place,
    },
    /// `-value`
    Negative {
        value: Box<Node>,
        place: Place,
    },
    /// An elementwise function.
    Apply {
        function: &'static Function,
        args: Vec<Node>,
        place: Place,
    },
    Cast {
        value: Box<Node>,
        elem: Elem,
        place: Place,
    },
    /// `sum[j](value)`; `keeps` if the labels stay, as softmax does.
    Reduce {
        function: &'static Function,
        keeps: bool,
        over: Vec<Label>,
        value: Box<Node>,
        place: Place,
    },
}

impl Node {
    /// The labels of the value before anything is summed that its context decides.
    fn free(&self) -> Labels {
        match self {
            Self::Tensor(tensor) => tensor.labels.iter().copied().collect(),
            Self::Scalar(_) => Labels::new(),
            Self::Product { left, right, .. } | Self::Sum { left, right, .. } => &left.free() | &right.free(),
            Self::Negative { value, .. } | Self::Cast { value, .. } => value.free(),
            Self::Apply { args, .. } => args.iter().flat_map(Node::free).collect(),
            Self::Reduce { value, keeps: true, .. } => value.free(),
            Self::Reduce { value, over, .. } => {
                value.free().into_iter().filter(|label| !over.contains(label)).collect()
            }
        }
    }

    /// How messages call the value, if it has no name.
    fn text(&self) -> String {
        match self {
            Self::Tensor(Labelled { operand, .. }) | Self::Scalar(operand) => operand.text.clone(),
            Self::Apply { function, .. } | Self::Reduce { function, .. } | Self::Sum { function, .. } => {
                format!("the result of `{}`", function.name)
            }
            Self::Product { .. } | Self::Negative { .. } | Self::Cast { .. } => "this factor".to_string(),
        }
    }

    /// Whether this is a product in parentheses, signs aside.
    fn is_grouped(&self) -> bool {
        match self {
            Self::Negative { value, .. } => value.is_grouped(),
            Self::Product { grouped, .. } => *grouped,
            _ => false,
        }
    }

    /// The operator, the function, or the operand.
    fn place(&self) -> Place {
        match self {
            Self::Tensor(Labelled { operand, .. }) | Self::Scalar(operand) => operand.place,
            Self::Product { place, .. }
            | Self::Sum { place, .. }
            | Self::Negative { place, .. }
            | Self::Apply { place, .. }
            | Self::Cast { place, .. }
            | Self::Reduce { place, .. } => *place,
        }
    }
}

impl Indices {
    fn label(&mut self, name: &str) -> Label {
        self.find(name).unwrap_or_else(|| {
            self.list.push(Index { name: name.to_string(), extent: None });
            self.list.len() - 1
        })
    }

    fn find(&self, name: &str) -> Option<Label> {
        self.list.iter().position(|index| index.name == name)
    }

    fn name(&self, label: Label) -> &str {
        &self.list[label].name
    }

    fn extent(&self, label: Label) -> SymDim {
        self.list[label].extent.as_ref().map_or(SymDim::constant(1), |(dim, _)| dim.clone())
    }
}

impl Checker<'_> {
    /// The value of an indexed expression, its axes in the order of the target.
    pub(super) fn index_notation(&mut self, expr: &syntax::Expr, target: &syntax::Target) -> Option<Expr> {
        if let Some((place, message)) = unsupported_index(expr) {
            self.error(place, message);
            return None;
        }
        let mut indices = Indices::default();
        let labels: Vec<Label> = target.indices.iter().map(|(name, _)| indices.label(&name.to_string())).collect();
        let stated = self.stated_extents(target, &labels, &mut indices);
        let node = self.read(expr, &mut indices);
        let (stated, node) = (stated?, node?);
        self.targets_present(target, &labels, &node, &mut indices)?;
        let wanted: Labels = labels.iter().copied().collect();
        let mut value = self.build(&node, &wanted, &indices)?;
        let distinct: Vec<Label> = wanted.iter().copied().collect();
        // An index with a stated extent may repeat the value; elsewhere the extents are there already.
        value = aligned(value, &distinct, &indices);
        for (label, dim) in stated {
            let actual = indices.extent(label);
            self.require_equal(&actual, &dim, "the stated extent of an index");
        }
        Some(self.arranged(value, &labels))
    }

    /// Extents written in the target, `[i: n - 1]`.
    fn stated_extents(
        &mut self,
        target: &syntax::Target,
        labels: &[Label],
        indices: &mut Indices,
    ) -> Option<Vec<(Label, SymDim)>> {
        let mut stated = Vec::new();
        let mut fine = true;
        for ((name, dim), &label) in target.indices.iter().zip(labels) {
            let Some(dim) = dim else { continue };
            let Some(extent) = self.signature.sizes.extent(dim, &mut self.guards, self.diagnostics) else {
                fine = false;
                continue;
            };
            fine &= self.occurrence(indices, label, &extent, Place::from(name), "the target".to_string());
            stated.push((label, extent));
        }
        fine.then_some(stated)
    }

    /// Notes that an index stands on an axis; false, with an error, if its extent is another one.
    fn occurrence(&mut self, indices: &mut Indices, label: Label, extent: &SymDim, place: Place, text: String) -> bool {
        let name = indices.name(label).to_string();
        if let Some(size) = self.sizes().find(&name) {
            if self.compare(&size, extent) == Agreement::Never {
                let message = format!(
                    "index `{name}` has the name of the size `{name}`, but has extent {} on {text}: call it otherwise",
                    self.sizes().dim_text(extent)
                );
                self.error(place, message);
                return false;
            }
            self.require_equal(&size, extent, &format!("index `{name}`"));
        }
        match indices.list[label].extent.clone() {
            None => {
                indices.list[label].extent = Some((extent.clone(), text));
                true
            }
            Some((known, first)) => {
                if self.compare(&known, extent) == Agreement::Never {
                    let hint = match [&known, extent].iter().any(|dim| dim.as_const() == Some(1)) {
                        true => "; extent 1 does not repeat by itself: take the axis away, as by `reshape(x, [n])[i]`",
                        false => "",
                    };
                    let message = format!(
                        "index `{name}` has extent {} on {first}, but {} on {text}{hint}",
                        self.sizes().dim_text(&known),
                        self.sizes().dim_text(extent)
                    );
                    self.error(place, message);
                    return false;
                }
                self.require_equal(&known, extent, &format!("index `{name}`"));
                true
            }
        }
    }

    /// Every index of the target must come from an operand, or say its extent.
    fn targets_present(
        &mut self,
        target: &syntax::Target,
        labels: &[Label],
        node: &Node,
        indices: &mut Indices,
    ) -> Option<()> {
        let free = node.free();
        let mut fine = Some(());
        for (i, ((name, stated), label)) in target.indices.iter().zip(labels).enumerate() {
            if free.contains(label) || stated.is_some() || labels[..i].contains(label) {
                continue;
            }
            let message = if indices.list[*label].extent.is_some() {
                format!("index `{name}` of the target is reduced within the expression: it has no axis left")
            } else {
                format!(
                    "index `{name}` of the target stands on no operand; to repeat the value along it, state its extent, \
                     as `[{name}: {}]`",
                    self.sizes().names().first().map_or("3", String::as_str)
                )
            };
            self.error(name, message);
            fine = None;
        }
        fine
    }

    /// The axes in the order of the target; an index that is there twice puts the values on a diagonal.
    fn arranged(&mut self, value: Labelled, target: &[Label]) -> Expr {
        let value_labels = value.labels;
        let value = value.operand.value;
        let distinct = target.iter().enumerate().all(|(i, label)| !target[..i].contains(label));
        if distinct {
            let axes: Vec<usize> =
                target.iter().filter_map(|label| value_labels.iter().position(|other| other == label)).collect();
            return value.transpose(&axes);
        }
        let numbers = |labels: &[Label]| labels.iter().map(|&label| label as u32).collect::<Vec<u32>>();
        let shape = target
            .iter()
            .filter_map(|label| value_labels.iter().position(|other| other == label))
            .map(|axis| value.shape[axis].clone())
            .collect();
        contraction(vec![numbers(&value_labels)], numbers(target), EinsumOptimize::Auto, vec![value], shape)
    }
}

/// An einsum over operands whose labels are known to fit.
fn contraction(
    inputs: Vec<Vec<u32>>,
    output: Vec<u32>,
    plan: EinsumOptimize,
    args: Vec<Expr>,
    shape: Vec<SymDim>,
) -> Expr {
    let elem = args.first().map_or(Elem::AnyFloat, |arg| arg.elem);
    match EinsumOp::new(Subscripts { inputs, output }, &[], plan) {
        Ok(op) => Expr::new(Kind::Einsum(op, args), elem, shape),
        Err(error) => unreachable!("labels come from the operands: {error}"),
    }
}

/// The operand with its axes sorted by label and repeated along the labels that it lacks.
fn aligned(mut value: Labelled, labels: &[Label], indices: &Indices) -> Labelled {
    let mut order: Vec<usize> = (0..value.labels.len()).collect();
    order.sort_by_key(|&axis| value.labels[axis]);
    value.operand.value = value.operand.value.transpose(&order);
    value.labels.sort_unstable();
    if value.labels != labels {
        let axes: Vec<u32> = value
            .labels
            .iter()
            .filter_map(|label| labels.iter().position(|l| l == label))
            .map(|axis| axis as u32)
            .collect();
        let shape: Vec<SymDim> = labels.iter().map(|&label| indices.extent(label)).collect();
        let op = CoreOp::BroadcastInDim { shape: shape.clone().into(), axes: axes.into() };
        value.operand.value = value.operand.value.core(op, shape);
        value.labels = labels.to_vec();
    }
    value
}

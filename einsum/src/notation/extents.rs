//! One extent per label: which axes stretch, and what does not agree.

use tenferro_core::shape::SymDim;

use super::ellipsis::{Axis, Origin, resolve};
use super::{EinsumNotation, NotationError};
use crate::op::EinsumOp;
use crate::planning::{EinsumOptimize, path};

/// How symbolic sizes are compared and shown: the front ends differ in what they take for unequal.
pub struct SizeRule<'a> {
    /// Whether two extents of one label may stand together.
    pub agree: &'a dyn Fn(&SymDim, &SymDim) -> bool,
    /// The text of a size in messages.
    pub show: &'a dyn Fn(&SymDim) -> String,
}

/// Any axis of extent 1 stretches to the extent that its label has elsewhere.
pub(crate) fn bind_concrete(notation: &EinsumNotation, shapes: &[&[usize]]) -> Result<EinsumOp, NotationError> {
    bind(
        notation,
        shapes,
        &Rule {
            stretches: &|_, extent| *extent == 1,
            is_one: &|extent| *extent == 1,
            agree: &|a, b| a == b,
            show: &|extent| extent.to_string(),
        },
    )
}

/// An axis of constant extent 1 stretches where a mark or an ellipsis says so; elsewhere it meets nothing but 1.
pub(crate) fn bind_symbolic(
    notation: &EinsumNotation,
    shapes: &[&[SymDim]],
    sizes: &SizeRule<'_>,
) -> Result<EinsumOp, NotationError> {
    let is_one = |extent: &SymDim| extent.as_const() == Some(1);
    bind(
        notation,
        shapes,
        &Rule {
            stretches: &|origin, extent| !matches!(origin, Origin::Letter(_)) && is_one(extent),
            is_one: &is_one,
            agree: &|a, b| is_one(a) == is_one(b) && (sizes.agree)(a, b),
            show: sizes.show,
        },
    )
}

struct Rule<'a, D> {
    stretches: &'a dyn Fn(Origin, &D) -> bool,
    is_one: &'a dyn Fn(&D) -> bool,
    agree: &'a dyn Fn(&D, &D) -> bool,
    show: &'a dyn Fn(&D) -> String,
}

/// Where a label got its extent.
struct Seen<'a, D> {
    extent: &'a D,
    operand: usize,
    axis: usize,
}

fn bind<D>(notation: &EinsumNotation, shapes: &[&[D]], rule: &Rule<'_, D>) -> Result<EinsumOp, NotationError> {
    let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
    let resolution = resolve(notation, &ranks)?;
    let mut seen: Vec<Option<Seen<'_, D>>> = Vec::new();
    let mut stretch = Vec::new();
    for (operand, (axes, shape)) in resolution.inputs.iter().zip(shapes).enumerate() {
        for (axis, (written, extent)) in axes.iter().zip(*shape).enumerate() {
            if let Origin::Marked(letter) = written.origin
                && !(rule.is_one)(extent)
            {
                let message = format!(
                    "`#` marks axis {axis} of operand {operand} (label `{letter}`), whose extent is {}: only an axis \
                     of extent 1 stretches",
                    (rule.show)(extent)
                );
                return Err(notation.error(written.span.clone(), message).on_operand(operand));
            }
            if (rule.stretches)(written.origin, extent) {
                stretch.push((operand as u32, axis as u32));
                continue;
            }
            let label = written.label as usize;
            if seen.len() <= label {
                seen.resize_with(label + 1, || None);
            }
            match &seen[label] {
                Some(first) if !(rule.agree)(first.extent, extent) => {
                    let here = Seen { extent, operand, axis };
                    return Err(disagreement(notation, shapes, rule, written, first, &here));
                }
                Some(_) => {}
                None => seen[label] = Some(Seen { extent, operand, axis }),
            }
        }
    }
    let inputs = resolution.inputs.iter().map(|axes| axes.iter().map(|axis| axis.label).collect()).collect();
    let plan = match notation.order() {
        Some(order) => EinsumOptimize::Path(path::to_positions(order, shapes.len()).into()),
        None => EinsumOptimize::Auto,
    };
    Ok(EinsumOp::canonical(inputs, resolution.output, stretch, plan))
}

fn disagreement<D>(
    notation: &EinsumNotation,
    shapes: &[&[D]],
    rule: &Rule<'_, D>,
    written: &Axis,
    first: &Seen<'_, D>,
    here: &Seen<'_, D>,
) -> NotationError {
    let subject = match written.origin {
        Origin::Letter(letter) | Origin::Marked(letter) => format!("label `{letter}`"),
        Origin::Ellipsis(from_right) => format!("dimension {from_right} from the right under `...`"),
    };
    let place =
        |seen: &Seen<'_, D>| format!("{} on axis {} of operand {}", (rule.show)(seen.extent), seen.axis, seen.operand);
    let shape = |operand: usize| {
        let extents: Vec<String> = shapes[operand].iter().map(rule.show).collect();
        format!("operand {operand} is [{}]", extents.join(", "))
    };
    let mut message = format!("{subject} is {}, but {} (", place(first), place(here));
    message += &shape(first.operand);
    if here.operand != first.operand {
        message += ", ";
        message += &shape(here.operand);
    }
    message += ")";
    if let Origin::Letter(letter) = written.origin
        && let Some(one) = [first, here].into_iter().find(|seen| (rule.is_one)(seen.extent))
    {
        message += &format!("; to stretch axis {} of operand {}, write `#{letter}` there", one.axis, one.operand);
    }
    notation.error(written.span.clone(), message).on_operand(here.operand)
}

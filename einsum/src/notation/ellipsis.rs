//! From terms to integer labels, once the ranks are known.

use std::collections::HashMap;
use std::ops::Range;

use super::{EinsumNotation, NotationError, Term};

/// A notation with every axis labelled.
pub(super) struct Resolution {
    pub inputs: Vec<Vec<Axis>>,
    pub output: Vec<u32>,
}

pub(super) struct Axis {
    pub label: u32,
    pub span: Range<usize>,
    pub origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A plain letter.
    Letter(char),
    /// A letter with a stretch mark.
    Marked(char),
    /// A dimension under `...`, counted from the right.
    Ellipsis(usize),
}

/// What an axis is called, so that equal names get one label.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Letter(char),
    Ellipsis(usize),
}

pub(super) fn resolve(notation: &EinsumNotation, ranks: &[usize]) -> Result<Resolution, NotationError> {
    let count = notation.operand_count();
    if ranks.len() != count {
        let message = format!(
            "the notation has {count} operand{}, but {} {} given",
            if count == 1 { "" } else { "s" },
            ranks.len(),
            if ranks.len() == 1 { "was" } else { "were" },
        );
        return Err(notation.error(0..notation.source.len(), message));
    }

    let mut numbers: HashMap<Name, u32> = HashMap::new();
    let mut covered = 0;
    let mut inputs = Vec::with_capacity(count);
    for (operand, (term, &rank)) in notation.terms.iter().zip(ranks).enumerate() {
        let under = under_ellipsis(notation, operand, term, rank)?;
        if let Some(ellipsis) = &term.ellipsis
            && under > 0
            && notation.output.ellipsis.is_none()
        {
            let message = format!(
                "the ellipsis of operand {operand} covers {under} axis(es), but the output has no `...` to hold them"
            );
            return Err(notation.error(ellipsis.span.clone(), message).on_operand(operand));
        }
        covered = covered.max(under);
        let axes = spread(term, under).map(|(span, origin)| {
            let name = match origin {
                Origin::Letter(letter) | Origin::Marked(letter) => Name::Letter(letter),
                Origin::Ellipsis(from_right) => Name::Ellipsis(from_right),
            };
            // Label numbers stay below the number of axes, which memory bounds far below u32::MAX.
            let next = numbers.len() as u32;
            Axis { label: *numbers.entry(name).or_insert(next), span, origin }
        });
        inputs.push(axes.collect());
    }

    let output = spread(&notation.output, covered)
        .filter_map(|(_, origin)| match origin {
            Origin::Letter(letter) | Origin::Marked(letter) => numbers.get(&Name::Letter(letter)).copied(),
            Origin::Ellipsis(from_right) => numbers.get(&Name::Ellipsis(from_right)).copied(),
        })
        .collect();
    Ok(Resolution { inputs, output })
}

/// How many axes of an operand of this rank its term's ellipsis covers.
fn under_ellipsis(notation: &EinsumNotation, operand: usize, term: &Term, rank: usize) -> Result<usize, NotationError> {
    let named = term.labels.len();
    let (fits, relation) = match term.ellipsis {
        Some(_) => (rank >= named, "at least "),
        None => (rank == named, ""),
    };
    if !fits {
        let message = format!("operand {operand} has rank {rank}, but its term asks for {relation}{named}");
        return Err(notation.error(term.span.clone(), message).on_operand(operand));
    }
    Ok(rank - named)
}

/// The axes of a term in order, with `under` of them under its ellipsis.
fn spread(term: &Term, under: usize) -> impl Iterator<Item = (Range<usize>, Origin)> + '_ {
    let letters = |range: Range<usize>| {
        term.labels[range].iter().map(|label| {
            let origin = if label.stretch { Origin::Marked(label.letter) } else { Origin::Letter(label.letter) };
            (label.span.clone(), origin)
        })
    };
    let split = term.ellipsis.as_ref().map_or(term.labels.len(), |ellipsis| ellipsis.position);
    let dots = term.ellipsis.iter().flat_map(move |ellipsis| {
        (0..under).rev().map(|from_right| (ellipsis.span.clone(), Origin::Ellipsis(from_right)))
    });
    letters(0..split).chain(dots).chain(letters(split..term.labels.len()))
}

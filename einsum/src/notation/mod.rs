//! The text form of an einsum: `"ij,jk->ik"` and its relatives.
//!
//! ```text
//! notation := list "->" axis*              blanks have no meaning between tokens
//! list     := item ("," item)*
//! item     := axis* | "(" list ")"         parentheses fix the order of contraction, never the value
//! axis     := "#"? letter | "..."          any Unicode letter; one `...` a term
//! ```
//!
//! `#` before a label marks an axis of extent 1 that stretches to the label's extent. Axes under `...` are aligned
//! from the right and stretch without a mark.

mod ellipsis;
mod error;
mod extents;
mod parse;

use std::fmt;
use std::ops::Range;

pub use error::NotationError;
pub use extents::SizeRule;

pub(crate) use extents::{bind_concrete, bind_symbolic};

use crate::planning::Pair;
use crate::subscripts::Subscripts;

/// A parsed notation, before the ranks of the operands are known.
///
/// ```
/// use tenferro_einsum::EinsumNotation;
/// let product = EinsumNotation::parse("...ij,...jk->...ik")?;
/// assert_eq!(product.operand_count(), 2);
/// assert_eq!(product.resolve(&[3, 2])?.to_string(), "ijk,kl->ijl");
/// # Ok::<(), tenferro_einsum::NotationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EinsumNotation {
    source: String,
    terms: Vec<Term>,
    output: Term,
    /// The contraction order that the parentheses ask for; `None` without parentheses.
    order: Option<Vec<Pair>>,
}

/// The axes of one operand or of the output, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Term {
    labels: Vec<WrittenLabel>,
    ellipsis: Option<Ellipsis>,
    span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct WrittenLabel {
    letter: char,
    /// Byte position in the source, of the mark if there is one.
    span: Range<usize>,
    stretch: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Ellipsis {
    /// How many labels stand before it.
    position: usize,
    span: Range<usize>,
}

impl Term {
    /// The labels and marks, if these are all the axes.
    fn letters(&self) -> Option<Vec<(char, bool)>> {
        let letters = || self.labels.iter().map(|label| (label.letter, label.stretch)).collect();
        self.ellipsis.is_none().then(letters)
    }
}

impl EinsumNotation {
    /// Reads a notation with an explicit arrow, in time linear in its length.
    ///
    /// # Errors
    /// Anything that is no notation, with the place: a missing or second arrow, unbalanced parentheses, characters that
    /// are no letters, malformed or repeated ellipses, output labels that no operand has.
    pub fn parse(source: &str) -> Result<Self, NotationError> {
        parse::parse(source, parse::Arrow::Required)
    }

    /// As [`parse`](Self::parse), but the arrow may be left out: the output is then the ellipsis, if there is one,
    /// followed by the labels that occur exactly once, in code point order.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), a missing arrow excepted.
    pub fn parse_implicit(source: &str) -> Result<Self, NotationError> {
        parse::parse(source, parse::Arrow::Optional)
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The number of operands the notation speaks of, at least one.
    pub fn operand_count(&self) -> usize {
        self.terms.len()
    }

    /// The labels of an operand's axes as written, each with whether `#` marks it; nothing for a term with `...` and for
    /// an operand that does not exist.
    pub fn labels(&self, operand: usize) -> Option<Vec<(char, bool)>> {
        self.terms.get(operand)?.letters()
    }

    /// The labels of the output's axes as written; nothing where it has `...`.
    pub fn output_labels(&self) -> Option<Vec<char>> {
        Some(self.output.letters()?.into_iter().map(|(letter, _)| letter).collect())
    }

    /// Whether parentheses fix the order of contraction.
    pub fn fixes_order(&self) -> bool {
        self.order.is_some()
    }

    /// The integer labels for operands of these ranks, numbered by first occurrence.
    ///
    /// # Errors
    /// A wrong number of operands, a rank that does not fit its term, or dimensions under an ellipsis that the output
    /// leaves out.
    pub fn resolve(&self, ranks: &[usize]) -> Result<Subscripts, NotationError> {
        let resolution = ellipsis::resolve(self, ranks)?;
        Ok(Subscripts {
            inputs: resolution.inputs.iter().map(|axes| axes.iter().map(|axis| axis.label).collect()).collect(),
            output: resolution.output,
        })
    }

    fn order(&self) -> Option<&[Pair]> {
        self.order.as_deref()
    }

    fn error(&self, span: Range<usize>, message: String) -> NotationError {
        NotationError::new(&self.source, span, message)
    }
}

impl fmt::Display for EinsumNotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

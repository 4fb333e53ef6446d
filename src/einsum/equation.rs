//! The three ways to write an einsum, and what a session remembers of those it ran.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::ConcreteEinsum;
use crate::Result;
use crate::einsum::{EinsumNotation, Subscripts};

/// What is to be computed: text with an explicit arrow, a parsed notation, or integer labels.
///
/// Made by `into()` from `&str`, `&String`, `&EinsumNotation` and `&Subscripts`.
#[derive(Clone, Copy, Debug)]
pub enum Equation<'e> {
    /// Text, to be read by [`EinsumNotation::parse`].
    Text(&'e str),
    /// A notation that was read before, as by [`EinsumNotation::parse_implicit`].
    Notation(&'e EinsumNotation),
    /// Integer labels, of which there can be any number.
    Labels(&'e Subscripts),
}

impl<'e> From<&'e str> for Equation<'e> {
    fn from(text: &'e str) -> Self {
        Self::Text(text)
    }
}

impl<'e> From<&'e String> for Equation<'e> {
    fn from(text: &'e String) -> Self {
        Self::Text(text)
    }
}

impl<'e> From<&'e EinsumNotation> for Equation<'e> {
    fn from(notation: &'e EinsumNotation) -> Self {
        Self::Notation(notation)
    }
}

impl<'e> From<&'e Subscripts> for Equation<'e> {
    fn from(labels: &'e Subscripts) -> Self {
        Self::Labels(labels)
    }
}

/// An equation as a [`ConcreteEinsum`] keeps it.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Text(EinsumNotation),
    Notation(EinsumNotation),
    Labels(Subscripts),
}

impl Source {
    pub fn new(equation: Equation<'_>) -> Result<Self> {
        Ok(match equation {
            Equation::Text(text) => Self::Text(EinsumNotation::parse(text).map_err(tenferro_core::Error::from)?),
            Equation::Notation(notation) => Self::Notation(notation.clone()),
            Equation::Labels(labels) => Self::Labels(labels.clone()),
        })
    }

    fn is(&self, equation: Equation<'_>) -> bool {
        match (self, equation) {
            (Self::Text(notation), Equation::Text(text)) => notation.as_str() == text,
            (Self::Notation(own), Equation::Notation(notation)) => own == notation,
            (Self::Labels(own), Equation::Labels(labels)) => own == labels,
            _ => false,
        }
    }
}

/// The einsums that a session ran lately, by equation: a repeated call reads no text.
#[derive(Default)]
pub(crate) struct Equations {
    /// Of the entries, in their order, the last one used in front: all that a search looks at.
    hashes: Vec<u64>,
    entries: Vec<Arc<ConcreteEinsum>>,
}

impl Equations {
    const CAPACITY: usize = 128;

    /// The einsum of an equation with its first operand conjugated or not.
    pub fn get(&mut self, equation: Equation<'_>, conjugates: bool) -> Result<Arc<ConcreteEinsum>> {
        let hash = hash(equation, conjugates);
        let found = self.hashes.iter().zip(&self.entries).position(|(&other, entry)| {
            other == hash && entry.source().is(equation) && entry.conjugates_first() == conjugates
        });
        if let Some(position) = found {
            self.hashes[..=position].rotate_right(1);
            self.entries[..=position].rotate_right(1);
            return Ok(Arc::clone(&self.entries[0]));
        }
        let mut made = ConcreteEinsum::new(equation)?;
        if conjugates {
            made = made.with_conjugated(&[0])?;
        }
        let made = Arc::new(made);
        self.hashes.truncate(Self::CAPACITY - 1);
        self.entries.truncate(Self::CAPACITY - 1);
        self.hashes.insert(0, hash);
        self.entries.insert(0, Arc::clone(&made));
        Ok(made)
    }
}

fn hash(equation: Equation<'_>, conjugates: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    match equation {
        Equation::Text(text) => text.hash(&mut hasher),
        Equation::Notation(notation) => notation.as_str().hash(&mut hasher),
        Equation::Labels(labels) => labels.hash(&mut hasher),
    }
    hasher.write_u8(conjugates.into());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equations_used_last_stay() -> Result<()> {
        let mut equations = Equations::default();
        let used = equations.get(Equation::Text("ij,jk->ik"), false)?;
        let left = equations.get(Equation::Text("ij->ji"), false)?;
        for label in 0..1000 {
            equations.get(Equation::Labels(&Subscripts::new([vec![label]], [label])), false)?;
            assert!(Arc::ptr_eq(&equations.get(Equation::Text("ij,jk->ik"), false)?, &used));
            assert!(
                equations.entries.len() <= Equations::CAPACITY && equations.hashes.len() == equations.entries.len()
            );
        }
        assert!(!Arc::ptr_eq(&equations.get(Equation::Text("ij->ji"), false)?, &left));
        Ok(())
    }
}

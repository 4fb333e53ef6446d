//! Integer labels, and the letters they are printed as.

use std::fmt::{self, Write};
use std::ops::RangeInclusive;

/// The integer labels of an einsum: one list per operand and one for the output. Any `u32` is a label.
///
/// A label that the output lacks is summed; one that repeats on an operand takes its diagonal, and one that repeats on
/// the output writes on the output's diagonal and leaves zeros elsewhere.
///
/// ```
/// use tenferro_einsum::Subscripts;
/// let product = Subscripts::new([vec![0, 1], vec![1, 2]], [0, 2]);
/// assert_eq!(product.to_string(), "ij,jk->ik");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscripts {
    /// The labels of each operand's axes.
    pub inputs: Vec<Vec<u32>>,
    /// The labels of the output's axes.
    pub output: Vec<u32>,
}

impl Subscripts {
    /// Collects the labels; [`EinsumOp::new`](crate::EinsumOp::new) checks them.
    pub fn new(inputs: impl Into<Vec<Vec<u32>>>, output: impl Into<Vec<u32>>) -> Self {
        Self { inputs: inputs.into(), output: output.into() }
    }
}

impl fmt::Display for Subscripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_subscripts(f, self.inputs.iter().map(Vec::as_slice), &self.output, |_, _| false)
    }
}

/// Writes `ij,jk->ik`, with `#` before the axes (operand, axis) that `stretches` names.
pub(crate) fn write_subscripts<'a>(
    f: &mut impl Write,
    inputs: impl Iterator<Item = &'a [u32]>,
    output: &[u32],
    stretches: impl Fn(usize, usize) -> bool,
) -> fmt::Result {
    for (operand, labels) in inputs.enumerate() {
        if operand > 0 {
            f.write_char(',')?;
        }
        for (axis, &label) in labels.iter().enumerate() {
            if stretches(operand, axis) {
                f.write_char('#')?;
            }
            write!(f, "{}", Letter(label))?;
        }
    }
    f.write_str("->")?;
    output.iter().try_for_each(|&label| write!(f, "{}", Letter(label)))
}

/// A label as text: the letters in the order in which people use them for indices, then the CJK ideographs and the Hangul
/// syllables; a number in braces beyond, which is for people alone.
pub(crate) struct Letter(pub u32);

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: &[u8; 52] = b"ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ";
        // Ideographs, their extension B, syllables, and the extensions A and G: all of a range are letters.
        const RANGES: [RangeInclusive<u32>; 5] =
            [0x4e00..=0x9fff, 0x20000..=0x2a6df, 0xac00..=0xd7a3, 0x3400..=0x4dbf, 0x30000..=0x3134a];
        let label = self.0;
        if let Some(&letter) = LETTERS.get(label as usize) {
            return f.write_char(char::from(letter));
        }
        let mut place = label - LETTERS.len() as u32;
        for range in RANGES {
            let count = range.end() - range.start() + 1;
            if place < count {
                return f.write_char(char::from_u32(range.start() + place).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            place -= count;
        }
        write!(f, "{{{label}}}")
    }
}

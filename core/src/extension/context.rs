//! What a shape rule sees, and the requirements it may state.

use crate::error::{Error, Result};
use crate::program::{Guard, Relation, SizeNames, ValueMeta};
use crate::shape::{SymDim, never_negative};

/// The operands of an operation while its result shapes are inferred.
///
/// A requirement between extents is met when it holds for all sizes, refused when it holds for none, and otherwise
/// becomes a [`Guard`] of the program, tested when inputs arrive.
pub struct ShapeContext<'a> {
    op: &'a str,
    /// The names of the operands, where they have any.
    operands: &'a [&'a str],
    inputs: &'a [&'a ValueMeta],
    names: SizeNames<'a>,
    guards: Vec<Guard>,
    /// Whether reasons stand for themselves, being no operation's.
    stated: bool,
}

impl<'a> ShapeContext<'a> {
    pub(crate) fn new(op: &'a str, operands: &'a [&'a str], inputs: &'a [&'a ValueMeta], names: SizeNames<'a>) -> Self {
        Self { op, operands, inputs, names, guards: Vec::new(), stated: false }
    }

    /// What a program states itself, or of the arguments of a call.
    pub(crate) fn of_program(program: &'a str, inputs: &'a [&'a ValueMeta], names: SizeNames<'a>) -> Self {
        Self { stated: true, ..Self::new(program, &[], inputs, names) }
    }

    pub(crate) fn into_guards(self) -> Vec<Guard> {
        self.guards
    }

    /// The operation's name.
    pub fn op(&self) -> &str {
        self.op
    }

    /// The number of operands.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// Dtype and shape of operand `i`.
    pub fn input(&self, i: usize) -> &'a ValueMeta {
        self.inputs[i]
    }

    /// The name of operand `i` in messages.
    pub fn operand(&self, i: usize) -> String {
        self.operands.get(i).map_or_else(|| format!("operand {i}"), ToString::to_string)
    }

    /// The shape of operand `i` as text, `[n, 3]`.
    pub fn shape_text(&self, i: usize) -> String {
        self.dims_text(&self.inputs[i].shape)
    }

    /// Extents as text, `[n, 3]`.
    pub fn dims_text(&self, dims: &[SymDim]) -> String {
        self.names.shape(dims)
    }

    /// That operand `i` has a shape which does not fit.
    pub fn shape_error(&self, i: usize, expected: impl Into<String>) -> Error {
        Error::shape(self.op.to_string(), self.operand(i), expected, self.shape_text(i))
    }

    /// Requires all operands to have one shape.
    ///
    /// # Errors
    /// [`Error::Shape`] with both shapes.
    pub fn equal_shapes(&mut self) -> Result<()> {
        let inputs = self.inputs;
        for (i, other) in inputs.iter().enumerate().skip(1) {
            let first = &inputs[0].shape;
            let pairs = || first.iter().zip(other.shape.iter());
            if first.len() != other.shape.len() || pairs().any(|(a, b)| never_equal(a, b)) {
                return Err(self.shape_error(i, format!("{}, as `{}`", self.shape_text(0), self.operand(0))));
            }
            for (a, b) in pairs() {
                self.require_equal(a, b, "extents of elementwise operands")?;
            }
        }
        Ok(())
    }

    /// Requires `a == b`.
    ///
    /// # Errors
    /// When they differ for all sizes, or one does not fit 64 bits.
    pub fn require_equal(&mut self, a: &SymDim, b: &SymDim, reason: &str) -> Result<()> {
        if a == b && !a.overflowed() {
            return Ok(());
        }
        self.decide(!never_equal(a, b), a, Relation::Eq, b, reason)
    }

    /// Requires `a <= b`.
    ///
    /// # Errors
    /// When `a` exceeds `b` for all sizes, or one does not fit 64 bits.
    pub fn require_at_most(&mut self, a: &SymDim, b: &SymDim, reason: &str) -> Result<()> {
        let difference = self.names.range(&(b - a));
        if never_negative(&difference.low) {
            return Ok(());
        }
        let possible = difference.high.as_const().is_none_or(|most| most >= 0);
        self.decide(possible, a, Relation::Le, b, reason)
    }

    fn decide(&mut self, possible: bool, lhs: &SymDim, relation: Relation, rhs: &SymDim, reason: &str) -> Result<()> {
        let names = self.names;
        let wide = lhs.overflowed() || rhs.overflowed();
        if !possible || wide {
            let mut message = format!("must satisfy {} {} {}", names.dim(lhs), relation.symbol(), names.dim(rhs));
            for i in 0..if self.stated { 0 } else { self.inputs.len() } {
                let (separator, operand) = (if i == 0 { "; " } else { ", " }, self.operand(i));
                message += &format!("{separator}`{operand}` is {}", self.shape_text(i));
            }
            if wide {
                message += "; 1/0 does not fit 64 bits";
            }
            return Err(Error::argument(self.op.to_string(), reason.to_string(), message));
        }
        let reason = if self.stated { reason.to_string() } else { format!("`{}` ({reason})", self.op) }.into();
        self.guards.push(Guard { lhs: lhs.clone(), relation, rhs: rhs.clone(), reason }.in_order());
        Ok(())
    }
}

fn never_equal(a: &SymDim, b: &SymDim) -> bool {
    (a - b).as_const().is_some_and(|d| d != 0)
}

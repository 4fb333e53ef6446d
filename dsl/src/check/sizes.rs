//! The sizes of a kernel: which names there are, what solves them, and when two extents agree.

use tenferro_core::shape::{SizeId, SymDim};

use super::tree::Guard;
use crate::diagnostics::{Diagnostics, Place};
use crate::suggest::nearest;
use crate::syntax::{Dim, DimKind, DimOp};

/// The named sizes of one kernel; a name's position is its [`SizeId`].
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    names: Vec<String>,
}

/// Whether two extents are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// For all sizes.
    Always,
    /// A name against a number: the inputs will tell.
    Unknown,
    /// Two names, or two numbers: sizes with different names are different sizes. Also a name against 1: an axis of
    /// extent 1 is most often meant to be repeated, which is written.
    Never,
}

impl Sizes {
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn find(&self, name: &str) -> Option<SymDim> {
        let position = self.names.iter().position(|known| known == name)?;
        Some(SymDim::size(SizeId(position as u32)))
    }

    /// The name, declared if new.
    pub fn declare(&mut self, name: String) -> SymDim {
        self.find(&name).unwrap_or_else(|| {
            self.names.push(name);
            SymDim::size(SizeId(self.names.len() as u32 - 1))
        })
    }

    pub fn dim_text(&self, dim: &SymDim) -> String {
        dim.display_with(|id| self.names[id.0 as usize].clone()).to_string()
    }

    /// `[n, d]`
    pub fn shape_text(&self, shape: &[SymDim]) -> String {
        let dims: Vec<String> = shape.iter().map(|dim| self.dim_text(dim)).collect();
        format!("[{}]", dims.join(", "))
    }

    pub fn compare(&self, a: &SymDim, b: &SymDim) -> Agreement {
        match (a.as_const(), b.as_const()) {
            _ if a == b => Agreement::Always,
            (Some(number), None) | (None, Some(number)) if number != 1 => Agreement::Unknown,
            _ => Agreement::Never,
        }
    }

    /// The extent of an axis as written; an unknown name is reported, and so is a negative extent. That divisions are
    /// exact is left to `guards`.
    pub fn extent(&self, dim: &Dim, guards: &mut Vec<Guard>, diagnostics: &mut Diagnostics) -> Option<SymDim> {
        not_negative(self.read(dim, guards, diagnostics)?, dim.place, diagnostics)
    }

    fn read(&self, dim: &Dim, guards: &mut Vec<Guard>, diagnostics: &mut Diagnostics) -> Option<SymDim> {
        match &dim.kind {
            DimKind::Integer(value) => Some(SymDim::constant(*value)),
            DimKind::Name(name) => {
                let found = self.find(&name.to_string());
                if found.is_none() {
                    diagnostics.error(name, self.unknown(&name.to_string()));
                }
                found
            }
            DimKind::Binary(left, op, right) => {
                let (left, right) = (self.read(left, guards, diagnostics), self.read(right, guards, diagnostics));
                let (left, right) = (left?, right?);
                match op {
                    DimOp::Add => Some(left + right),
                    DimOp::Sub => Some(left - right),
                    DimOp::Mul => Some(left * right),
                    DimOp::Div => self.quotient(&left, &right, dim.place, guards, diagnostics),
                }
            }
        }
    }

    /// A quotient of extents; of two numbers it must be exact, otherwise a guard sees to it.
    pub fn quotient(
        &self,
        left: &SymDim,
        right: &SymDim,
        place: Place,
        guards: &mut Vec<Guard>,
        diagnostics: &mut Diagnostics,
    ) -> Option<SymDim> {
        let rest = left.as_const().zip(right.as_const()).map(|(left, right)| left.checked_rem(right));
        if right.as_const() == Some(0) || rest.is_some_and(|rest| rest != Some(0)) {
            let message = format!("{} / {} is no whole number", self.dim_text(left), self.dim_text(right));
            diagnostics.error(place, message);
            return None;
        }
        let quotient = left.div(right);
        let product = &quotient * right;
        if product != *left {
            let reason = format!("the exact division {} / {}", self.dim_text(left), self.dim_text(right));
            let guard = Guard { left: left.clone(), right: product, reason };
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        Some(quotient)
    }

    /// What to say of a name that is no size.
    pub fn unknown(&self, name: &str) -> String {
        let hint = match (nearest(name, self.names.iter().map(String::as_str)), self.names.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "no argument has a named size".to_string(),
            (None, names) => format!("the arguments' sizes are {}", quoted(names)),
        };
        format!("unknown size `{name}`: {hint}")
    }
}

/// `` `a`, `b` and `c` ``
pub fn quoted(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// The extent, unless it is a number below zero.
pub fn not_negative(extent: SymDim, place: Place, diagnostics: &mut Diagnostics) -> Option<SymDim> {
    match extent.as_const() {
        Some(number) if number < 0 => {
            diagnostics.error(place, format!("an extent cannot be negative, but this is {number}"));
            None
        }
        _ => Some(extent),
    }
}

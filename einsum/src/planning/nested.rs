//! Orders written as nested groups, as parentheses in a notation are.

use std::borrow::Cow;
use std::fmt;

use super::Pair;

/// An operand, or a group whose members are contracted from left to right.
///
/// ```
/// use tenferro_einsum::{EinsumOptimize, Nested};
/// let group = |members: Vec<Nested>| Nested::Group(members.into());
/// let [a, b, c, d] = [0, 1, 2, 3].map(Nested::Operand);
/// let plan = EinsumOptimize::Nested(group(vec![group(vec![a, b]), group(vec![c, d])]));
/// assert_eq!(plan.to_string(), "nested = ((0, 1), (2, 3))");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Nested {
    /// The operand of this number.
    Operand(u32),
    /// The product of the members.
    Group(Cow<'static, [Nested]>),
}

impl Nested {
    /// The order over operands `0..operands`, or what is wrong.
    pub(super) fn pairs(&self, operands: usize) -> Result<Vec<Pair>, String> {
        let mut walk = Walk { operands, used: vec![false; operands], pairs: Vec::new() };
        walk.tensor(self, 0)?;
        match walk.used.iter().position(|used| !used) {
            Some(operand) => Err(format!("lacks operand {operand} of {operands}")),
            None => Ok(walk.pairs),
        }
    }
}

/// How deep groups may stand in each other.
pub(crate) const DEPTH: usize = 1000;

struct Walk {
    operands: usize,
    used: Vec<bool>,
    pairs: Vec<Pair>,
}

impl Walk {
    /// The number of the tensor that a nest makes.
    fn tensor(&mut self, nested: &Nested, depth: usize) -> Result<usize, String> {
        if depth > DEPTH {
            return Err(format!("has more than {DEPTH} groups in each other"));
        }
        let members = match nested {
            &Nested::Operand(operand) => {
                let operands = self.operands;
                let number = operand as usize;
                return match self.used.get_mut(number) {
                    None => Err(format!("has operand {operand}, but there are {operands}")),
                    Some(true) => Err(format!("has operand {operand} twice")),
                    Some(used) => {
                        *used = true;
                        Ok(number)
                    }
                };
            }
            Nested::Group(members) => members,
        };
        let Some((first, others)) = members.split_first() else { return Err("has an empty group".to_owned()) };
        let mut result = self.tensor(first, depth + 1)?;
        for member in others {
            let next = self.tensor(member, depth + 1)?;
            self.pairs.push((result, next));
            result = self.operands + self.pairs.len() - 1;
        }
        Ok(result)
    }
}

impl fmt::Display for Nested {
    /// `((0, 1), 2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nested::Operand(operand) => write!(f, "{operand}"),
            Nested::Group(members) => {
                f.write_str("(")?;
                for (place, member) in members.iter().enumerate() {
                    write!(f, "{}{member}", if place == 0 { "" } else { ", " })?;
                }
                // As of a tuple, the comma tells a group of one from the operand.
                f.write_str(if members.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

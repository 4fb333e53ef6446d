//! Extents: what [`SizeNames::dim`](crate::program::SizeNames::dim) prints.
//!
//! ```text
//! extent := "-"? term (("+" | "-") term)*
//! term   := factor (("*" | "/") factor)*        from left to right; "/" rounds down
//! factor := number | size | ("min" | "max") "(" extent "," extent ")" | "(" extent ")"
//! ```

use std::collections::HashMap;

use super::ParseError;
use super::cursor::Cursor;
use crate::shape::{Factor, SizeId, SymDim, Term};

type Result<T> = std::result::Result<T, ParseError>;

/// What is said of a number that no extent holds.
const WIDE: &str = "this number does not fit 64 bits";
/// The largest number of factors of one extent.
const FACTORS: usize = 256;
/// The largest number of terms of a product that is multiplied out.
const TERMS: usize = 4096;
/// The deepest nesting of `min`, `max` and parentheses.
const DEPTH: usize = 32;

/// The sizes by name.
#[derive(Default)]
pub(super) struct SizeTable {
    pub names: Vec<String>,
    pub ids: HashMap<String, SizeId>,
    /// Whether a new name is a new size.
    pub open: bool,
}

impl SizeTable {
    /// Declares a size; `None` if it is declared already.
    pub fn declare(&mut self, name: String) -> Option<SizeId> {
        if self.ids.contains_key(&name) {
            return None;
        }
        let id = SizeId(u32::try_from(self.names.len()).ok()?);
        self.names.push(name.clone());
        self.ids.insert(name, id);
        Some(id)
    }
}

/// Reads one extent.
pub(super) fn extent(cursor: &mut Cursor<'_>, sizes: &mut SizeTable) -> Result<SymDim> {
    let start = cursor.at;
    let dim = Reader { cursor, sizes, factors: 0 }.extent(0)?;
    // What is read can be printed and read again.
    if factors(&dim) > FACTORS {
        let message = format!("an extent has at most {FACTORS} factors, also when its products are multiplied out");
        return Err(cursor.error(start..cursor.at, message));
    }
    Ok(dim)
}

/// The number of factors in the text of an extent.
fn factors(dim: &SymDim) -> usize {
    let factor = |factor: &Factor| match factor {
        Factor::Size(_) => 1,
        Factor::Quotient(a) => a.iter().map(factors).sum(),
        Factor::Min(a) | Factor::Max(a) => 1 + a.iter().map(factors).sum::<usize>(),
    };
    let term = |term: &Term| {
        usize::from(term.coefficient.saturating_abs() != 1) + term.factors.iter().map(factor).sum::<usize>()
    };
    usize::from(dim.constant != 0) + dim.terms.iter().map(term).sum::<usize>()
}

struct Reader<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    sizes: &'c mut SizeTable,
    factors: usize,
}

impl Reader<'_, '_> {
    fn extent(&mut self, depth: usize) -> Result<SymDim> {
        if depth > DEPTH {
            let at = self.cursor.at;
            return Err(self.cursor.error(at..at, format!("an extent nests at most {DEPTH} levels")));
        }
        let mut terms = vec![];
        let mut negative = self.cursor.take("-");
        loop {
            terms.push(self.term(negative, depth)?);
            negative = match () {
                () if self.cursor.take("+") => false,
                // The arrow of a program cannot follow an extent, so `-` is always a minus.
                () if self.cursor.take("-") => true,
                () => return Ok(balanced(terms, 0, |a, b| a + b)),
            };
        }
    }

    fn term(&mut self, negative: bool, depth: usize) -> Result<SymDim> {
        self.cursor.skip();
        let start = self.cursor.at;
        // Without the sign, which the least number needs to fit.
        let mut coefficient = 1i128;
        let signed = |n: i128| i64::try_from(if negative { -n } else { n }).ok();
        let mut factors = vec![];
        let mut divides = false;
        loop {
            self.factors += 1;
            if self.factors > FACTORS {
                let message = format!("an extent has at most {FACTORS} factors");
                return Err(self.cursor.error(start..self.cursor.at, message));
            }
            if divides {
                let divisor = self.factor(depth)?;
                let number = i64::try_from(coefficient).map_err(|_| self.cursor.error(start..self.cursor.at, WIDE))?;
                let dividend = self.product(std::mem::take(&mut factors), start)? * number;
                coefficient = 1;
                factors.push(dividend.div(&divisor));
            } else if self.cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
                let digits = self.cursor.word(|c| c.is_ascii_digit());
                let product = digits.parse::<i128>().ok().and_then(|n| coefficient.checked_mul(n));
                coefficient = product
                    .filter(|n| signed(*n).is_some())
                    .ok_or_else(|| self.cursor.error(start..self.cursor.at, WIDE))?;
            } else {
                factors.push(self.factor(depth)?);
            }
            divides = match () {
                () if self.cursor.take("*") => false,
                () if self.cursor.take("/") => true,
                () => break,
            };
            self.cursor.skip();
        }
        let number = signed(coefficient).ok_or_else(|| self.cursor.error(start..self.cursor.at, WIDE))?;
        Ok(self.product(factors, start)? * number)
    }

    fn product(&self, factors: Vec<SymDim>, start: usize) -> Result<SymDim> {
        let terms = |dim: &SymDim| dim.terms.len() + usize::from(dim.constant != 0);
        if factors.iter().map(terms).fold(1, usize::saturating_mul) > TERMS {
            let message = format!("this product has more than {TERMS} terms when it is multiplied out");
            return Err(self.cursor.error(start..self.cursor.at, message));
        }
        Ok(balanced(factors, 1, |a, b| a * b))
    }

    fn factor(&mut self, depth: usize) -> Result<SymDim> {
        if self.cursor.take("(") {
            let inner = self.extent(depth + 1)?;
            self.cursor.expect(")")?;
            return Ok(inner);
        }
        self.cursor.skip();
        if self.cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let start = self.cursor.at;
            let digits = self.cursor.word(|c| c.is_ascii_digit());
            let number = digits.parse::<i64>().ok().map(SymDim::constant);
            return number.ok_or_else(|| self.cursor.error(start..self.cursor.at, WIDE));
        }
        let quoted = self.cursor.peek("\"");
        let start = self.cursor.at;
        let name = self.cursor.name("a size or a number")?;
        if !quoted && self.cursor.take("(") {
            let function = match &*name {
                "min" => SymDim::minimum,
                "max" => SymDim::maximum,
                _ => {
                    let message = format!("there is no function `{name}` of extents; they are `min` and `max`");
                    return Err(self.cursor.error(start..start + name.len(), message));
                }
            };
            let a = self.extent(depth + 1)?;
            self.cursor.expect(",")?;
            let b = self.extent(depth + 1)?;
            self.cursor.expect(")")?;
            return Ok(function(&a, &b));
        }
        let known = self.sizes.ids.get(&name).copied();
        let id = match known {
            None if self.sizes.open => self.sizes.declare(name.clone()),
            known => known,
        };
        id.map(SymDim::size)
            .ok_or_else(|| self.cursor.error(start..self.cursor.at, format!("no input has a size `{name}`")))
    }
}

/// Combines all by halves, so that long sums and products take little more than linear time.
fn balanced(mut items: Vec<SymDim>, neutral: i64, combine: fn(SymDim, SymDim) -> SymDim) -> SymDim {
    while items.len() > 1 {
        let mut rest = items.into_iter();
        let mut next = Vec::new();
        while let Some(a) = rest.next() {
            next.push(match rest.next() {
                Some(b) => combine(a, b),
                None => a,
            });
        }
        items = next;
    }
    items.pop().unwrap_or(SymDim::constant(neutral))
}

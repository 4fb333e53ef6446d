//! Printing of [`SymDim`].

use std::fmt::{self, Display, Formatter, Write};

use super::dim::{Factor, SizeId, SymDim, Term};

impl SymDim {
    /// Prints the expression with sizes named by `name`, as `2*n + m - 1`.
    pub fn display_with<'a, F>(&'a self, name: F) -> impl Display + 'a
    where
        F: Fn(SizeId) -> String + 'a,
    {
        DisplayDim { dim: self, name: Box::new(name) }
    }
}

/// Sizes without names print as `s0`, `s1`, ….
impl Display for SymDim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_dim(f, self, &|id| format!("s{}", id.0))
    }
}

struct DisplayDim<'a> {
    dim: &'a SymDim,
    name: Box<dyn Fn(SizeId) -> String + 'a>,
}

impl Display for DisplayDim<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_dim(f, self.dim, &*self.name)
    }
}

type Name<'a> = dyn Fn(SizeId) -> String + 'a;

/// Positive terms first, then the constant, so that `n - 1` does not read `-1 + n`.
fn write_dim(f: &mut Formatter<'_>, dim: &SymDim, name: &Name<'_>) -> fmt::Result {
    if dim.terms.is_empty() {
        return write!(f, "{}", dim.constant);
    }
    let mut first = true;
    let (positive, negative): (Vec<&Term>, Vec<&Term>) = dim.terms.iter().partition(|t| t.coefficient > 0);
    let mut sign = |f: &mut Formatter<'_>, negative: bool| {
        let text = match (first, negative) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        first = false;
        f.write_str(text)
    };
    for term in positive.into_iter().chain(negative) {
        sign(f, term.coefficient < 0)?;
        if term.coefficient.unsigned_abs() != 1 {
            write!(f, "{}*", term.coefficient.unsigned_abs())?;
        }
        let coefficient = term.coefficient.unsigned_abs() != 1;
        for (i, factor) in term.factors.iter().enumerate() {
            if i > 0 {
                f.write_char('*')?;
            }
            write_factor(f, factor, i > 0 || coefficient, name)?;
        }
    }
    if dim.constant != 0 {
        sign(f, dim.constant < 0)?;
        write!(f, "{}", dim.constant.unsigned_abs())?;
    }
    Ok(())
}

/// A factor; a quotient after another factor stands in parentheses.
fn write_factor(f: &mut Formatter<'_>, factor: &Factor, after: bool, name: &Name<'_>) -> fmt::Result {
    let (function, arguments) = match factor {
        Factor::Size(id) => return f.write_str(&name(*id)),
        Factor::Quotient(a) => {
            f.write_str(if after { "(" } else { "" })?;
            write_operand(f, &a[0], is_product(&a[0]), name)?;
            f.write_char('/')?;
            write_operand(f, &a[1], is_atom(&a[1]), name)?;
            return f.write_str(if after { ")" } else { "" });
        }
        Factor::Min(a) => ("min", a),
        Factor::Max(a) => ("max", a),
    };
    write!(f, "{function}(")?;
    write_dim(f, &arguments[0], name)?;
    f.write_str(", ")?;
    write_dim(f, &arguments[1], name)?;
    f.write_char(')')
}

/// An operand of a quotient, in parentheses unless it is `bare`.
fn write_operand(f: &mut Formatter<'_>, dim: &SymDim, bare: bool, name: &Name<'_>) -> fmt::Result {
    if bare {
        return write_dim(f, dim, name);
    }
    f.write_char('(')?;
    write_dim(f, dim, name)?;
    f.write_char(')')
}

fn is_product(dim: &SymDim) -> bool {
    match &*dim.terms {
        [] => dim.constant >= 0,
        [term] => dim.constant == 0 && term.coefficient > 0,
        _ => false,
    }
}

fn is_atom(dim: &SymDim) -> bool {
    let single = |term: &Term| term.coefficient == 1 && matches!(&*term.factors, [Factor::Size(_)]);
    is_product(dim) && dim.terms.iter().all(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_print_as_written_by_hand() {
        let n = SymDim::size(SizeId(0));
        let m = SymDim::size(SizeId(1));
        let name = |id: SizeId| ["n", "m"][id.0 as usize].to_string();
        assert_eq!((&n - 1).display_with(name).to_string(), "n - 1");
        assert_eq!((&n * 2 - &m * &n).display_with(name).to_string(), "2*n - n*m");
        assert_eq!(n.div(&2.into()).display_with(name).to_string(), "n/2");
        let half = (&n + 1).div(&2.into());
        assert_eq!((&half * 2 + &m * n.div(&(&m * 2))).display_with(name).to_string(), "m*(n/(2*m)) + 2*((n + 1)/2)");
        assert_eq!(SymDim::constant(-3).to_string(), "-3");
    }
}

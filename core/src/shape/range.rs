//! Bounds of expressions some of whose sizes are known only to lie between 0 and a bound.

use super::dim::{Factor, SizeId, SymDim, Term};

/// The values that an expression may have; `low` and `high` may not be attained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub low: SymDim,
    pub high: SymDim,
}

/// Says of a size that is not exactly known how large it may be.
type BoundOf<'b> = dyn Fn(SizeId) -> Option<&'b SymDim> + 'b;

impl Range {
    /// What `dim` may be, by interval arithmetic (Moore, Kearfott and Cloud 2009, *Introduction to Interval Analysis*,
    /// chapter 2). Sizes without a bound stand for themselves; so does all of `dim` where no size has one.
    pub fn of(dim: &SymDim, bound_of: &BoundOf<'_>) -> Self {
        let mut exact = true;
        dim.for_each_size(&mut |id| exact &= bound_of(id).is_none());
        if exact {
            return Self::exactly(dim.clone());
        }
        let mut total = Self::exactly(SymDim::constant(dim.constant));
        for term in dim.terms.iter() {
            let product = Self::of_term(term, bound_of);
            total = Self { low: total.low + product.low, high: total.high + product.high };
        }
        total
    }

    fn of_term(term: &Term, bound_of: &BoundOf<'_>) -> Self {
        let mut product = Self::exactly(SymDim::constant(1));
        for factor in term.factors.iter() {
            product = match product.times(Self::of_factor(factor, bound_of)) {
                Some(product) => product,
                None => return Self::within(term_magnitude(term, bound_of)),
            };
        }
        let (low, high) = (product.low * term.coefficient, product.high * term.coefficient);
        if term.coefficient < 0 { Self { low: high, high: low } } else { Self { low, high } }
    }

    fn exactly(dim: SymDim) -> Self {
        Self { low: dim.clone(), high: dim }
    }

    fn of_factor(factor: &Factor, bound_of: &BoundOf<'_>) -> Self {
        // Monotone in both arguments.
        let extremum = |a: &[SymDim], f: fn(&SymDim, &SymDim) -> SymDim| {
            let (a, b) = (Self::of(&a[0], bound_of), Self::of(&a[1], bound_of));
            Self { low: f(&a.low, &b.low), high: f(&a.high, &b.high) }
        };
        match factor {
            Factor::Size(id) => match bound_of(*id) {
                Some(bound) => Self { low: SymDim::constant(0), high: bound.clone() },
                None => Self::exactly(SymDim::size(*id)),
            },
            Factor::Quotient(a) => {
                let quotient = Self::of(&a[0], bound_of).over(Self::of(&a[1], bound_of));
                quotient.unwrap_or_else(|| Self::within(magnitude(&a[0], bound_of)))
            }
            Factor::Min(a) => extremum(a, SymDim::minimum),
            Factor::Max(a) => extremum(a, SymDim::maximum),
        }
    }

    /// Everything of at most this magnitude.
    fn within(magnitude: SymDim) -> Self {
        Self { low: -magnitude.clone(), high: magnitude }
    }

    /// The product; `None` where neither sign is known. The least and the largest product of corners would hold each
    /// end twice, so that their length doubled with every factor.
    fn times(self, other: Self) -> Option<Self> {
        let (sure, other) = match (never_negative(&self.low), never_negative(&other.low)) {
            (true, true) => {
                return Some(Self { low: product(self.low, other.low), high: product(self.high, other.high) });
            }
            (true, false) => (self, other),
            (false, true) => (other, self),
            (false, false) => return None,
        };
        if let Some(factor) = sure.as_const() {
            return Some(Self { low: other.low * factor, high: other.high * factor });
        }
        let depth = product(at_least_zero(-other.low), sure.high.clone());
        Some(Self { low: -depth, high: product(at_least_zero(other.high), sure.high) })
    }

    /// The quotient rounded down; `None` where the sign of the divisor is not known. Where it has a value, a divisor
    /// that is not negative is at least 1.
    fn over(self, divisor: Self) -> Option<Self> {
        if !never_negative(&divisor.low) {
            return None;
        }
        if divisor.low == divisor.high {
            return Some(Self { low: self.low.div(&divisor.low), high: self.high.div(&divisor.low) });
        }
        let low = if never_negative(&self.low) { 0.into() } else { -at_least_zero(-self.low) };
        Some(Self { low, high: at_least_zero(self.high) })
    }

    fn as_const(&self) -> Option<i64> {
        self.low.as_const().filter(|_| self.low == self.high)
    }
}

/// What the magnitude of `dim` does not exceed, never negative, and as long as `dim` and the bounds in it.
fn magnitude(dim: &SymDim, bound_of: &BoundOf<'_>) -> SymDim {
    let constant = SymDim::constant(dim.constant.saturating_abs());
    dim.terms.iter().fold(constant, |sum, term| sum + term_magnitude(term, bound_of))
}

fn term_magnitude(term: &Term, bound_of: &BoundOf<'_>) -> SymDim {
    let larger = |a: &[SymDim]| magnitude(&a[0], bound_of).maximum(&magnitude(&a[1], bound_of));
    let of_factor = |factor: &Factor| match factor {
        Factor::Size(id) => bound_of(*id).map_or_else(|| SymDim::size(*id), |bound| magnitude(bound, &|_| None)),
        // A divisor is at least 1 in magnitude.
        Factor::Quotient(a) => magnitude(&a[0], bound_of),
        Factor::Min(a) | Factor::Max(a) => larger(a),
    };
    let coefficient = SymDim::constant(term.coefficient.saturating_abs());
    term.factors.iter().map(of_factor).fold(coefficient, product)
}

/// The product of expressions that are never negative; multiplied out only where that makes it little longer.
fn product(a: SymDim, b: SymDim) -> SymDim {
    const LONGER: usize = 32;
    let terms = |dim: &SymDim| dim.terms.len() + usize::from(dim.constant != 0);
    let (of_a, of_b) = (length(&a), length(&b));
    if of_a * terms(&b) + of_b * terms(&a) <= of_a + of_b + LONGER {
        return a * b;
    }
    // One factor each, for it is an extremum.
    let whole = |dim: SymDim| if terms(&dim) > 1 { dim.maximum(&0.into()) } else { dim };
    whole(a) * whole(b)
}

/// The number of sizes and numbers in an expression.
fn length(dim: &SymDim) -> usize {
    let factor = |factor: &Factor| match factor {
        Factor::Size(_) => 1,
        Factor::Quotient(a) | Factor::Min(a) | Factor::Max(a) => a.iter().map(length).sum(),
    };
    1 + dim.terms.iter().flat_map(|term| term.factors.iter()).map(factor).sum::<usize>()
}

fn at_least_zero(dim: SymDim) -> SymDim {
    if never_negative(&dim) {
        return dim;
    }
    if never_negative(&-dim.clone()) { 0.into() } else { dim.maximum(&0.into()) }
}

/// Sizes are extents, so an expression of sizes with no negative coefficient is never negative.
pub(crate) fn never_negative(dim: &SymDim) -> bool {
    let factor = |factor: &Factor| match factor {
        Factor::Size(_) => true,
        // a divisor that may be 0 has to be looked at
        Factor::Quotient(a) => never_negative(&a[0]) && a[1].as_const().is_some_and(|divisor| divisor > 0),
        Factor::Min(a) => a.iter().all(never_negative),
        Factor::Max(a) => a.iter().any(never_negative),
    };
    dim.constant >= 0 && dim.terms.iter().all(|term| term.coefficient > 0 && term.factors.iter().all(factor))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn size(i: u32) -> SymDim {
        SymDim::size(SizeId(i))
    }

    /// Sizes 0 and 1 are exact, 2 is at most size 0, 3 at most size 1 plus 2.
    fn bounds() -> [Option<SymDim>; 4] {
        [None, None, Some(size(0)), Some(size(1) + 2)]
    }

    fn range(dim: &SymDim) -> Range {
        let bounds = bounds();
        Range::of(dim, &|id| bounds[id.0 as usize].as_ref())
    }

    #[test]
    fn ranges_are_tight_where_the_expression_is_monotone() {
        let (n, k) = (size(0), size(2));
        for (dim, low, high) in [
            (n.clone(), n.clone(), n.clone()),
            (k.clone(), 0.into(), n.clone()),
            (&n - &k, 0.into(), n.clone()),
            ((&k + 1).div(&2.into()), 0.into(), (&n + 1).div(&2.into())),
            (k.minimum(&size(1)), size(1).minimum(&0.into()), n.minimum(&size(1))),
            (&k * 3 + 1, 1.into(), &n * 3 + 1),
            (n.div(&k), 0.into(), n.clone()),
            (&n * &k, 0.into(), &n * &n),
        ] {
            assert_eq!(range(&dim), Range { low, high }, "{dim}");
        }
    }

    /// The ends of long and of deep expressions, of any signs, are not much longer than they are.
    #[test]
    fn ranges_are_about_as_long_as_their_expression() {
        let (n, k) = (size(0), size(2));
        let undecided = |i: i64| (&k - i).minimum(&n);
        let unbounded = |i: i64| (&k * 2 + size(3)).maximum(&(&n - i));
        let products: [fn(&SymDim, SymDim) -> SymDim; 2] = [|a, b| a * b, |a, b| a.div(&b)];
        for times in products {
            for factor in [&undecided as &dyn Fn(i64) -> SymDim, &unbounded] {
                let flat = (1..60).fold(SymDim::constant(1), |all, i| times(&all, factor(i)));
                let alternating = |all: SymDim, i: i64| {
                    let product = times(&all, factor(i));
                    if i % 2 == 0 { product.minimum(&(&n - i)) } else { product.maximum(&(&k - i)) }
                };
                let deep = (1..24).fold(&k - 1, alternating);
                let squares = (1..6).fold(&k - 1, |all, i| (&(&all * &all) - i).maximum(&factor(i)));
                for dim in [flat, deep, squares] {
                    let range = range(&dim);
                    let most = 40 * length(&dim);
                    assert!(length(&range.low) <= most && length(&range.high) <= most, "{dim}");
                }
            }
        }
    }

    #[test]
    fn a_maximum_is_never_negative_if_one_argument_is_not() {
        let (n, k) = (size(0), size(2));
        assert!(never_negative(&(&n - &k).maximum(&0.into())));
        assert!(!never_negative(&(&n - &k).maximum(&(-1).into())));
        assert!(!never_negative(&(&n - &k).minimum(&0.into())));
    }

    fn expression() -> impl Strategy<Value = SymDim> {
        let leaf = prop_oneof![(0u32..4).prop_map(size), (-3i64..4).prop_map(SymDim::constant)];
        leaf.prop_recursive(4, 12, 2, |inner| {
            (inner.clone(), inner, 0..6).prop_map(|(a, b, kind)| match kind {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => a.div(&b),
                4 => a.minimum(&b),
                _ => a.maximum(&b),
            })
        })
    }

    proptest! {
        #[test]
        fn values_lie_within_the_range(dim in expression(), n in 0usize..6, m in 0usize..6, k in 0usize..6, l in 0usize..8) {
            let sizes = [n, m, k.min(n), l.min(m + 2)];
            let range = range(&dim);
            let mut occurs = false;
            for end in [&range.low, &range.high] {
                end.for_each_size(&mut |id| occurs |= id.0 >= 2);
            }
            prop_assert!(!occurs, "{dim} is within {range:?}");
            // Where the expression has a value, its ends do too.
            if let Ok(value) = dim.eval(&sizes) {
                let (low, high) = (range.low.eval(&sizes).unwrap(), range.high.eval(&sizes).unwrap());
                prop_assert!(low <= value && value <= high, "{low} <= {dim} = {value} <= {high}");
            }
        }
    }
}

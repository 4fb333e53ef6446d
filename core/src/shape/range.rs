//! Bounds of expressions some of whose sizes are known only to lie between 0 and a bound.

use super::dim::{Factor, SizeId, SymDim};

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
            let mut product = Self::exactly(SymDim::constant(term.coefficient));
            for factor in term.factors.iter() {
                product = product.times(Self::of_factor(factor, bound_of));
            }
            total = Self { low: total.low + product.low, high: total.high + product.high };
        }
        total
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
            Factor::Quotient(a) => Self::of(&a[0], bound_of).over(Self::of(&a[1], bound_of)),
            Factor::Min(a) => extremum(a, SymDim::minimum),
            Factor::Max(a) => extremum(a, SymDim::maximum),
        }
    }

    fn times(self, other: Self) -> Self {
        if never_negative(&self.low) && never_negative(&other.low) {
            return Self { low: self.low * other.low, high: self.high * other.high };
        }
        // Between exact sides the corners agree, and with a number they are in order.
        if let Some(factor) = self.as_const().or(other.as_const()) {
            let Self { low, high } = if self.as_const().is_some() { other } else { self };
            let (low, high) = (low * factor, high * factor);
            return if factor < 0 { Self { low: high, high: low } } else { Self { low, high } };
        }
        let corners =
            [&self.low * &other.low, &self.low * &other.high, &self.high * &other.low, &self.high * &other.high];
        let all = |f: fn(&SymDim, &SymDim) -> SymDim| corners.iter().skip(1).fold(corners[0].clone(), |a, b| f(&a, b));
        Self { low: all(SymDim::minimum), high: all(SymDim::maximum) }
    }

    /// The quotient rounded down. Where it has a value, a divisor that is not negative is at least 1, and any divisor
    /// at least 1 in magnitude.
    fn over(self, divisor: Self) -> Self {
        let zero = SymDim::constant(0);
        if !never_negative(&divisor.low) {
            let low = self.low.minimum(&-self.high.clone());
            return Self { high: -low.clone(), low };
        }
        if divisor.low == divisor.high {
            return Self { low: self.low.div(&divisor.low), high: self.high.div(&divisor.low) };
        }
        let low = if never_negative(&self.low) { zero.clone() } else { self.low.minimum(&zero) };
        let high = if never_negative(&self.high) { self.high } else { self.high.maximum(&zero) };
        Self { low, high }
    }

    fn as_const(&self) -> Option<i64> {
        self.low.as_const().filter(|_| self.low == self.high)
    }
}

/// Sizes are extents, so an expression of sizes with no negative coefficient is never negative.
pub(crate) fn never_negative(dim: &SymDim) -> bool {
    let factor = |factor: &Factor| match factor {
        Factor::Size(_) => true,
        // a divisor that may be 0 has to be looked at
        Factor::Quotient(a) => never_negative(&a[0]) && a[1].as_const().is_some_and(|divisor| divisor > 0),
        Factor::Min(a) | Factor::Max(a) => a.iter().all(never_negative),
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

//! [`SymDim`]: an integer expression over named sizes in canonical form.
//!
//! A `SymDim` is a polynomial with integer coefficients whose indeterminates are sizes and the three
//! non-polynomial operations `floor(a / b)`, `min(a, b)` and `max(a, b)`. Terms and factors are kept
//! sorted and like terms are collected, so two expressions that are equal as polynomials are equal as
//! values: `n + 1 == 1 + n`.
//!
//! A number that leaves 64 bits makes the whole expression `1/0`, which has no value, stays under every operation, and
//! is refused as an extent.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use crate::error::{Error, Result};

/// One size of a program: an index into [`SemanticProgram::sizes`](crate::program::SemanticProgram::sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeId(pub u32);

/// An extent as an expression over sizes, in canonical form.
///
/// ```
/// use tenferro_core::shape::{SizeId, SymDim};
/// let n = SymDim::size(SizeId(0));
/// assert_eq!(&n + 1, SymDim::from(1) + &n);
/// assert_eq!((&n * 2 - &n).eval(&[5]).unwrap(), 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymDim {
    #[doc(hidden)]
    pub constant: i64,
    #[doc(hidden)]
    pub terms: Cow<'static, [Term]>,
}

/// A product of factors with an integer coefficient.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    pub factors: Cow<'static, [Factor]>,
    pub coefficient: i64,
}

/// An indeterminate of the polynomial: a size, or an operation that no polynomial expresses.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    Size(SizeId),
    /// `floor(args[0] / args[1])`.
    Quotient(Cow<'static, [SymDim]>),
    /// `min(args[0], args[1])`, arguments sorted.
    Min(Cow<'static, [SymDim]>),
    /// `max(args[0], args[1])`, arguments sorted.
    Max(Cow<'static, [SymDim]>),
}

impl SymDim {
    /// The extent of a size.
    pub fn size(id: SizeId) -> Self {
        Self::atom(Factor::Size(id))
    }

    /// A known extent.
    pub const fn constant(value: i64) -> Self {
        Self { constant: value, terms: Cow::Borrowed(&[]) }
    }

    /// The expression without a value that an overflow leaves, `1/0`.
    fn overflow() -> Self {
        const PARTS: &[SymDim] = &[SymDim::constant(1), SymDim::constant(0)];
        Self::atom(Factor::Quotient(Cow::Borrowed(PARTS)))
    }

    /// Whether a number in the expression left 64 bits when it was made, so that it has no value.
    pub(crate) fn overflowed(&self) -> bool {
        match (self.constant, &*self.terms) {
            (0, [Term { coefficient: 1, factors }]) => match &**factors {
                [Factor::Quotient(a)] => (a[0].as_const(), a[1].as_const()) == (Some(1), Some(0)),
                _ => false,
            },
            _ => false,
        }
    }

    fn atom(factor: Factor) -> Self {
        Self { constant: 0, terms: Cow::Owned(vec![Term { coefficient: 1, factors: Cow::Owned(vec![factor]) }]) }
    }

    /// The value, if no size occurs.
    pub fn as_const(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The size, if the expression is exactly one.
    pub fn as_size(&self) -> Option<SizeId> {
        match (self.constant, &*self.terms) {
            (0, [Term { coefficient: 1, factors }]) => match &**factors {
                [Factor::Size(id)] => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }

    /// `(size, scale, offset)` if the expression is `scale * size + offset` with `scale != 0`.
    pub fn as_affine(&self) -> Option<(SizeId, i64, i64)> {
        match &*self.terms {
            [Term { coefficient, factors }] => match &**factors {
                [Factor::Size(id)] => Some((*id, *coefficient, self.constant)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `floor(self / divisor)`; exact quotients are simplified.
    pub fn div(&self, divisor: &SymDim) -> SymDim {
        if self.overflowed() || divisor.overflowed() {
            return Self::overflow();
        }
        if let Some(d) = divisor.as_const() {
            if d == 1 {
                return self.clone();
            }
            let divides = |c: i64| c.checked_rem(d) == Some(0);
            if d != 0 && divides(self.constant) && self.terms.iter().all(|t| divides(t.coefficient)) {
                let terms =
                    self.terms.iter().map(|t| Term { coefficient: t.coefficient / d, factors: t.factors.clone() });
                return SymDim { constant: self.constant / d, terms: terms.collect::<Vec<_>>().into() };
            }
            if let Some(a) = self.as_const().filter(|_| d != 0) {
                return floor_div(a, d).map_or_else(Self::overflow, SymDim::constant);
            }
        }
        Self::atom(Factor::Quotient(Cow::Owned(vec![self.clone(), divisor.clone()])))
    }

    /// The smaller of two extents.
    pub fn minimum(&self, other: &SymDim) -> SymDim {
        self.extremum(other, Ordering::Less, Factor::Min)
    }

    /// The larger of two extents.
    pub fn maximum(&self, other: &SymDim) -> SymDim {
        self.extremum(other, Ordering::Greater, Factor::Max)
    }

    fn extremum(&self, other: &SymDim, wanted: Ordering, factor: fn(Cow<'static, [SymDim]>) -> Factor) -> SymDim {
        if self.overflowed() || other.overflowed() {
            return Self::overflow();
        }
        if let Some(difference) = (self - other).as_const() {
            let first = difference == 0 || difference.cmp(&0) == wanted;
            return if first { self.clone() } else { other.clone() };
        }
        let mut arguments = vec![self.clone(), other.clone()];
        arguments.sort();
        Self::atom(factor(arguments.into()))
    }

    /// The extent once every size is known; `sizes[i]` is the size `SizeId(i)`.
    ///
    /// # Errors
    /// On arithmetic overflow, division by zero, or a size outside `sizes`.
    pub fn eval(&self, sizes: &[usize]) -> Result<i64> {
        let overflow =
            || Error::argument("size expression", self.to_string(), format!("cannot be computed with sizes {sizes:?}"));
        let mut total = self.constant;
        for term in self.terms.iter() {
            let mut product = term.coefficient;
            for factor in term.factors.iter() {
                let value = match factor {
                    Factor::Size(id) => *sizes.get(id.0 as usize).ok_or_else(overflow)? as i64,
                    Factor::Quotient(a) => {
                        let (n, d) = (a[0].eval(sizes)?, a[1].eval(sizes)?);
                        floor_div(n, d).ok_or_else(overflow)?
                    }
                    Factor::Min(a) => a[0].eval(sizes)?.min(a[1].eval(sizes)?),
                    Factor::Max(a) => a[0].eval(sizes)?.max(a[1].eval(sizes)?),
                };
                product = product.checked_mul(value).ok_or_else(overflow)?;
            }
            total = total.checked_add(product).ok_or_else(overflow)?;
        }
        Ok(total)
    }

    /// Like [`eval`](Self::eval), as an extent.
    ///
    /// # Errors
    /// As `eval`, and when the value is negative.
    pub fn eval_extent(&self, sizes: &[usize]) -> Result<usize> {
        let value = self.eval(sizes)?;
        usize::try_from(value).map_err(|_| {
            let message = format!("would be {value} with sizes {sizes:?}, but an extent cannot be negative");
            Error::argument("size expression", self.to_string(), message)
        })
    }

    /// The expression with every size replaced; `replacements[i]` stands for `SizeId(i)`.
    ///
    /// Sizes without a replacement are kept.
    pub fn substitute(&self, replacements: &[SymDim]) -> SymDim {
        let mut total = SymDim::constant(self.constant);
        for term in self.terms.iter() {
            let mut product = SymDim::constant(term.coefficient);
            for factor in term.factors.iter() {
                let sub = |a: &[SymDim], f: fn(&SymDim, &SymDim) -> SymDim| {
                    f(&a[0].substitute(replacements), &a[1].substitute(replacements))
                };
                let value = match factor {
                    Factor::Size(id) => replacements.get(id.0 as usize).cloned().unwrap_or_else(|| SymDim::size(*id)),
                    Factor::Quotient(a) => sub(a, SymDim::div),
                    Factor::Min(a) => sub(a, SymDim::minimum),
                    Factor::Max(a) => sub(a, SymDim::maximum),
                };
                product = &product * &value;
            }
            total = &total + &product;
        }
        total
    }

    /// How many sizes must be known for the value: one more than the last that occurs.
    pub fn sizes_needed(&self) -> usize {
        let mut needed = 0;
        self.for_each_size(&mut |id| needed = needed.max(id.0 as usize + 1));
        needed
    }

    /// Calls `f` with every size that occurs, in order, possibly repeatedly.
    pub fn for_each_size(&self, f: &mut impl FnMut(SizeId)) {
        for factor in self.terms.iter().flat_map(|t| t.factors.iter()) {
            match factor {
                Factor::Size(id) => f(*id),
                Factor::Quotient(a) | Factor::Min(a) | Factor::Max(a) => {
                    for argument in a.iter() {
                        argument.for_each_size_dyn(f);
                    }
                }
            }
        }
    }

    fn for_each_size_dyn(&self, f: &mut dyn FnMut(SizeId)) {
        self.for_each_size(&mut |id| f(id));
    }

    /// Collects like terms and sorts; `None` where a number overflows.
    fn canonical(constant: i64, mut terms: Vec<Term>) -> Option<SymDim> {
        terms.sort_by(|a, b| a.factors.cmp(&b.factors));
        let mut collected: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match collected.last_mut() {
                Some(last) if last.factors == term.factors => {
                    last.coefficient = last.coefficient.checked_add(term.coefficient)?;
                }
                _ => collected.push(term),
            }
        }
        collected.retain(|t| t.coefficient != 0);
        Some(SymDim { constant, terms: collected.into() })
    }
}

impl From<i64> for SymDim {
    fn from(value: i64) -> Self {
        Self::constant(value)
    }
}

impl From<usize> for SymDim {
    fn from(value: usize) -> Self {
        i64::try_from(value).map_or_else(|_| Self::overflow(), Self::constant)
    }
}

impl From<i32> for SymDim {
    fn from(value: i32) -> Self {
        Self::constant(value.into())
    }
}

impl From<SizeId> for SymDim {
    fn from(id: SizeId) -> Self {
        Self::size(id)
    }
}

/// The quotient rounded down, `None` where there is none.
fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn add(a: &SymDim, b: &SymDim) -> SymDim {
    sticky(a, b, || {
        let terms = a.terms.iter().chain(b.terms.iter()).cloned().collect();
        SymDim::canonical(a.constant.checked_add(b.constant)?, terms)
    })
}

fn negate(a: &SymDim) -> SymDim {
    mul(a, &SymDim::constant(-1))
}

fn sub(a: &SymDim, b: &SymDim) -> SymDim {
    add(a, &negate(b))
}

fn mul(a: &SymDim, b: &SymDim) -> SymDim {
    let product = |x: &[Factor], y: &[Factor], coefficient: Option<i64>| {
        let mut factors: Vec<Factor> = x.iter().chain(y).cloned().collect();
        factors.sort();
        Some(Term { coefficient: coefficient?, factors: factors.into() })
    };
    sticky(a, b, || {
        let mut terms = Vec::new();
        for x in a.terms.iter() {
            terms.push(product(&x.factors, &[], x.coefficient.checked_mul(b.constant))?);
            for y in b.terms.iter() {
                terms.push(product(&x.factors, &y.factors, x.coefficient.checked_mul(y.coefficient))?);
            }
        }
        for y in b.terms.iter() {
            terms.push(product(&[], &y.factors, y.coefficient.checked_mul(a.constant))?);
        }
        SymDim::canonical(a.constant.checked_mul(b.constant)?, terms)
    })
}

/// What is computed of two expressions; the overflow where one of them or the result is it, so that it cannot cancel.
fn sticky(a: &SymDim, b: &SymDim, compute: impl FnOnce() -> Option<SymDim>) -> SymDim {
    let computed = if a.overflowed() || b.overflowed() { None } else { compute() };
    computed.unwrap_or_else(SymDim::overflow)
}

macro_rules! operators {
    ($($trait:ident $method:ident $function:ident),*) => {$(
        impl<D: Into<SymDim>> $trait<D> for SymDim {
            type Output = SymDim;
            fn $method(self, other: D) -> SymDim {
                $function(&self, &other.into())
            }
        }
        impl<D: Into<SymDim>> $trait<D> for &SymDim {
            type Output = SymDim;
            fn $method(self, other: D) -> SymDim {
                $function(self, &other.into())
            }
        }
    )*};
}
operators!(Add add add, Sub sub sub, Mul mul mul);

impl From<&SymDim> for SymDim {
    fn from(dim: &SymDim) -> Self {
        dim.clone()
    }
}

impl Neg for SymDim {
    type Output = SymDim;
    fn neg(self) -> SymDim {
        negate(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> SymDim {
        SymDim::size(SizeId(0))
    }
    fn m() -> SymDim {
        SymDim::size(SizeId(1))
    }

    #[test]
    fn canonical_form_decides_polynomial_equality() {
        assert_eq!(n() + 1, SymDim::from(1) + n());
        assert_eq!((n() + m()) * (n() - m()), n() * n() - m() * m());
        assert_eq!(n() - n(), SymDim::constant(0));
        assert_eq!((n() * 2).div(&2.into()), n());
        assert_ne!(n().div(&2.into()) * 2, n());
        assert_eq!(n().maximum(&(n() + 1)), n() + 1);
        assert_eq!(n().minimum(&m()), m().minimum(&n()));
    }

    #[test]
    fn evaluation_and_substitution_agree() {
        let e = (n() * m() + n().div(&3.into()) - 4).maximum(&m());
        for (a, b) in [(7usize, 2usize), (0, 5), (12, 12)] {
            let inlined = e.substitute(&[SymDim::from(a), SymDim::from(b)]);
            assert_eq!(inlined.as_const(), Some(e.eval(&[a, b]).unwrap()));
        }
    }

    #[test]
    fn quotients_round_down_for_every_sign() {
        for (a, b, expected) in [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (6, -2, -3)] {
            assert_eq!(SymDim::from(a).div(&SymDim::from(b)).as_const(), Some(expected));
        }
        assert_eq!(n().div(&n()).as_const(), None, "0/0 has no value");
    }

    #[test]
    fn affine_forms_are_recognised() {
        assert_eq!((n() * 2 + 1).as_affine(), Some((SizeId(0), 2, 1)));
        assert_eq!((n() * n()).as_affine(), None);
        assert_eq!(n().as_size(), Some(SizeId(0)));
    }

    #[test]
    fn an_overflow_stays() {
        let least = SymDim::constant(i64::MIN);
        let made = [
            n() + i64::MAX + i64::MAX,
            n() * i64::MAX * 2,
            n() * i64::MAX + n(),
            -least.clone(),
            least.div(&(-1).into()),
            SymDim::from(usize::MAX),
            n().substitute(&[i64::MAX.into()]) + 1,
        ];
        for e in made {
            assert!(e.overflowed(), "{e}");
            let one = SymDim::from(1);
            let further = [
                &e - &e,
                &e - i64::MAX,
                &e * SymDim::from(0),
                e.div(&e),
                one.div(&e),
                e.minimum(&one),
                one.maximum(&e),
            ];
            for e in further.into_iter().chain([e.substitute(&[one])]) {
                assert!(e.overflowed() && e.eval(&[1]).is_err() && e.as_const().is_none(), "{e}");
            }
        }
        assert_eq!(n() + i64::MAX - i64::MAX, n());
        assert_eq!(least.eval(&[]).unwrap(), i64::MIN);
    }

    #[test]
    fn overflow_and_negative_extents_are_errors() {
        assert!((n() * n()).eval(&[usize::MAX >> 1]).is_err());
        assert!((n() - 3).eval_extent(&[2]).is_err());
        assert!(n().div(&m()).eval(&[2, 0]).is_err());
    }
}

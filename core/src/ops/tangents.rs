//! Tangents of elementwise operations: what several rows share, and what takes more than a few lines.

use super::Comparison;
use super::row::Linearize;
use crate::error::Result;
use crate::program::{ProgramBuilder, ValueId};

pub(super) type Tangent = Result<Option<ValueId>>;
pub(super) type Cotangents = Result<Vec<Option<ValueId>>>;

/// `factor * tangent` of a unary operation.
pub(super) fn times(l: &mut Linearize<'_>, factor: ValueId) -> Result<ValueId> {
    let tangent = l.tangent()?;
    l.b.mul(factor, tangent)
}

/// `tangent / divisor` of a unary operation.
pub(super) fn divided_by(l: &mut Linearize<'_>, divisor: ValueId) -> Result<ValueId> {
    let tangent = l.tangent()?;
    l.b.div(tangent, divisor)
}

pub(super) fn some(value: Result<ValueId>) -> Tangent {
    value.map(Some)
}

pub(super) fn one(value: Result<ValueId>) -> Cotangents {
    value.map(|v| vec![Some(v)])
}

pub(super) fn constant(l: &mut Linearize<'_>, like: ValueId, value: f64) -> Result<ValueId> {
    l.b.constant_like(like, value)
}

pub(super) fn product(b: &mut ProgramBuilder, tangent: Option<ValueId>, factor: ValueId) -> Tangent {
    tangent.map(|t| b.mul(t, factor)).transpose()
}

pub(super) fn sum(b: &mut ProgramBuilder, x: Option<ValueId>, y: Option<ValueId>) -> Tangent {
    match (x, y) {
        (Some(x), Some(y)) => b.add(x, y).map(Some),
        (x, y) => Ok(x.or(y)),
    }
}

/// `sqrt(1 - x^2)` in the factors that keep its digits and its branch.
pub(super) fn sine_of_arc(l: &mut Linearize<'_>) -> Result<ValueId> {
    let x = l.inputs[0];
    let one = constant(l, x, 1.0)?;
    let below = l.b.sub(one, x)?;
    let above = l.b.add(one, x)?;
    let (below, above) = (l.b.sqrt(below)?, l.b.sqrt(above)?);
    l.b.mul(below, above)
}

/// `scale e^(-x^2)` times the tangent.
pub(super) fn gauss(l: &mut Linearize<'_>, scale: f64) -> Tangent {
    let square = l.b.mul(l.inputs[0], l.inputs[0])?;
    let exponent = l.b.neg(square)?;
    let gauss = l.b.exp(exponent)?;
    let scale = constant(l, l.output, scale)?;
    let factor = l.b.mul(scale, gauss)?;
    some(times(l, factor))
}

/// `(x dy - y dx) / (x^2 + y^2)`, in units of the larger coordinate, whose square may overflow.
pub(super) fn atan2(l: &mut Linearize<'_>) -> Tangent {
    let [y, x] = [l.inputs[0], l.inputs[1]];
    let (height, width) = (l.b.abs(y)?, l.b.abs(x)?);
    let unit = l.b.maximum(height, width)?;
    // it cancels, so that derivatives may take it for a constant
    let unit = l.b.stop_gradient(unit)?;
    let (zero, one) = (constant(l, unit, 0.0)?, constant(l, unit, 1.0)?);
    let origin = l.b.compare(Comparison::Eq, unit, zero)?;
    let unit = l.b.select(origin, one, unit)?;
    let (y, x) = (l.b.div(y, unit)?, l.b.div(x, unit)?);
    let (yy, xx) = (l.b.mul(y, y)?, l.b.mul(x, x)?);
    let square = l.b.add(yy, xx)?;
    let square = l.b.select(origin, one, square)?;
    let mut terms = [None, None];
    for (i, coordinate) in [x, y].into_iter().enumerate() {
        if let Some(t) = l.tangents[i] {
            let factor = l.b.div(coordinate, square)?;
            let factor = l.b.div(factor, unit)?;
            let factor = if i == 0 { factor } else { l.b.neg(factor)? };
            terms[i] = Some(l.b.mul(factor, t)?);
        }
    }
    sum(l.b, terms[0], terms[1])
}

/// Real: zero. Complex: with s = z/|z|, ds = (dz - s Re(conj(s) dz)) / |z|, 0 at 0.
pub(super) fn sign(l: &mut Linearize<'_>) -> Tangent {
    let Some(tangent) = l.tangents[0] else { return Ok(None) };
    let x = l.inputs[0];
    let dtype = l.b.meta(x).dtype;
    if !dtype.is_complex() {
        return Ok(None);
    }
    let conjugate = l.b.conj(l.output)?;
    let along = l.b.mul(conjugate, tangent)?;
    let along = l.b.real(along)?;
    let along = l.b.convert(along, dtype)?;
    let radial = l.b.mul(l.output, along)?;
    let tangential = l.b.sub(tangent, radial)?;
    let modulus = l.b.abs(x)?;
    let zero = l.b.constant_like(modulus, 0.0)?;
    let one = l.b.constant_like(modulus, 1.0)?;
    let at_zero = l.b.compare(Comparison::Eq, modulus, zero)?;
    let modulus = l.b.select(at_zero, one, modulus)?;
    let modulus = l.b.convert(modulus, dtype)?;
    let scaled = l.b.div(tangential, modulus)?;
    let zero = l.b.constant_like(scaled, 0.0)?;
    l.b.select(at_zero, zero, scaled).map(Some)
}

/// `da b a^(b - 1) + db a^b log(a)`. Where a is 0 and b is not negative, the result counts as constant in b, in every
/// order: the logarithm is infinite there. Only there may a select cut a dependence off, as it is differentiated too:
/// `b a^(b - 1)` is 0 at b = 0, but depends on b.
pub(super) fn pow(l: &mut Linearize<'_>) -> Tangent {
    let [a, b] = [l.inputs[0], l.inputs[1]];
    let zero = constant(l, a, 0.0)?;
    let one = constant(l, a, 1.0)?;
    let a_zero = l.b.compare(Comparison::Eq, a, zero)?;
    let real_b = l.b.real(b)?;
    let real_zero = l.b.constant_like(real_b, 0.0)?;
    let b_nonnegative = l.b.compare(Comparison::Ge, real_b, real_zero)?;
    let flat = l.b.and(a_zero, b_nonnegative)?;
    let base = match l.tangents[0] {
        Some(t) => {
            // 0 * a^-1 is NaN where a is 0 or NaN, but a^0 is constant
            let b_zero = l.b.compare(Comparison::Eq, b, zero)?;
            let unknown = l.b.compare(Comparison::Ne, a, a)?;
            let singular = l.b.or(a_zero, unknown)?;
            let constant = l.b.and(singular, b_zero)?;
            let a = l.b.select(constant, one, a)?;
            let hold = l.b.or(flat, constant)?;
            let held = l.b.stop_gradient(b)?;
            let b = l.b.select(hold, held, b)?;
            let lowered = l.b.sub(b, one)?;
            let power = l.b.pow(a, lowered)?;
            let factor = l.b.mul(b, power)?;
            Some(l.b.mul(t, factor)?)
        }
        None => None,
    };
    let exponent = match l.tangents[1] {
        Some(t) => {
            let safe = l.b.select(flat, one, a)?;
            let logarithm = l.b.log(safe)?;
            let factor = l.b.mul(l.output, logarithm)?;
            Some(l.b.mul(t, factor)?)
        }
        None => None,
    };
    sum(l.b, base, exponent)
}

/// `losing` is the comparison under which an operand gets no gradient.
pub(super) fn extremum(l: &mut Linearize<'_>, losing: Comparison) -> Tangent {
    let [a, b] = [l.inputs[0], l.inputs[1]];
    let zero = constant(l, a, 0.0)?;
    let half = constant(l, a, 0.5)?;
    let one = constant(l, a, 1.0)?;
    let tie = l.b.compare(Comparison::Eq, a, b)?;
    let mut terms = [None, None];
    for (i, (mine, other)) in [(a, b), (b, a)].into_iter().enumerate() {
        if let Some(t) = l.tangents[i] {
            let loses = l.b.compare(losing, mine, other)?;
            let winner = l.b.select(tie, half, one)?;
            let factor = l.b.select(loses, zero, winner)?;
            terms[i] = Some(l.b.mul(t, factor)?);
        }
    }
    sum(l.b, terms[0], terms[1])
}

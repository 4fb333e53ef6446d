//! Functions made of core operations, shared by all front ends.
//!
//! They are written so that values and derivatives of every order are right at the extremes: no branch that is not
//! taken overflows, and at a kink the branch taken is smooth.

use crate::error::Result;
use crate::ops::{Comparison, CoreOp};
use crate::program::{ProgramBuilder, ValueId};
use crate::shape::SymDim;

/// `1 / (1 + e^-x)`.
///
/// # Errors
/// When `x` is not a float.
pub fn sigmoid(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let one = b.constant_like(x, 1.0)?;
    if b.meta(x).dtype.is_complex() {
        // complex numbers have no sign to choose a branch by
        let negated = b.neg(x)?;
        let decay = b.exp(negated)?;
        let divisor = b.add(one, decay)?;
        return b.div(one, divisor);
    }
    let (nonnegative, decay) = decay(b, x)?;
    let divisor = b.add(one, decay)?;
    let numerator = b.select(nonnegative, one, decay)?;
    b.div(numerator, divisor)
}

/// `log(1 + e^x)`.
///
/// # Errors
/// When `x` is not a real float.
pub fn softplus(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let (nonnegative, decay) = decay(b, x)?;
    let zero = b.constant_like(x, 0.0)?;
    let linear = b.select(nonnegative, x, zero)?;
    let rest = b.log1p(decay)?;
    b.add(linear, rest)
}

/// `x >= 0` and `e^-|x|`, where `|x|` is a selection of `x` and `-x`, smooth in the branch taken.
fn decay(b: &mut ProgramBuilder, x: ValueId) -> Result<(ValueId, ValueId)> {
    let zero = b.constant_like(x, 0.0)?;
    let nonnegative = b.compare(Comparison::Ge, x, zero)?;
    let negated = b.neg(x)?;
    let exponent = b.select(nonnegative, negated, x)?;
    Ok((nonnegative, b.exp(exponent)?))
}

/// `x * sigmoid(x)`.
///
/// # Errors
/// When `x` is not a real float.
pub fn silu(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let gate = sigmoid(b, x)?;
    b.mul(x, gate)
}

/// `max(x, 0)`, with gradient 0 at 0.
///
/// # Errors
/// When `x` is not ordered.
pub fn relu(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let zero = b.constant_like(x, 0.0)?;
    let off = b.compare(Comparison::Le, x, zero)?;
    b.select(off, zero, x)
}

/// `x/2 (1 + erf(x / sqrt 2))` (Hendrycks and Gimpel 2016).
///
/// # Errors
/// When `x` is not a real float.
pub fn gelu(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let scale = b.constant_like(x, std::f64::consts::FRAC_1_SQRT_2)?;
    let scaled = b.mul(x, scale)?;
    let erf = b.erf(scaled)?;
    gate_half(b, x, erf)
}

/// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, the approximation of [`gelu`].
///
/// # Errors
/// When `x` is not a real float.
pub fn gelu_tanh(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let square = b.mul(x, x)?;
    // far out tanh is 1 whatever the cube is; without the bound it would overflow
    let bound = b.constant_like(x, 1e4)?;
    let square = b.minimum(square, bound)?;
    let coefficient = b.constant_like(x, 0.044_715)?;
    let one = b.constant_like(x, 1.0)?;
    let scaled = b.mul(coefficient, square)?;
    let polynomial = b.add(one, scaled)?;
    let argument = b.mul(x, polynomial)?;
    let scale = b.constant_like(x, (2.0 / std::f64::consts::PI).sqrt())?;
    let argument = b.mul(scale, argument)?;
    let tanh = b.tanh(argument)?;
    gate_half(b, x, tanh)
}

/// `x/2 (1 + gate)`
fn gate_half(b: &mut ProgramBuilder, x: ValueId, gate: ValueId) -> Result<ValueId> {
    let one = b.constant_like(x, 1.0)?;
    let half = b.constant_like(x, 0.5)?;
    let open = b.add(one, gate)?;
    let halved = b.mul(half, x)?;
    b.mul(halved, open)
}

/// `x` held between two values of its dtype and shape; gradient 0 where it touches one, and at NaN.
///
/// # Errors
/// When dtypes or shapes differ.
pub fn clamp(b: &mut ProgramBuilder, x: ValueId, low: ValueId, high: ValueId) -> Result<ValueId> {
    let neither = b.stop_gradient(x)?;
    let above = b.compare(Comparison::Ge, x, high)?;
    let outside = b.select(above, high, neither)?;
    let below = b.compare(Comparison::Le, x, low)?;
    let outside = b.select(below, low, outside)?;
    let more = b.compare(Comparison::Gt, x, low)?;
    let less = b.compare(Comparison::Lt, x, high)?;
    let inside = b.and(more, less)?;
    b.select(inside, x, outside)
}

/// The mean over axes, which vanish.
///
/// # Errors
/// When an axis does not exist or the dtype is not a float.
pub fn mean(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    let meta = b.meta(x).clone();
    let sum = b.sum(x, axes)?;
    let extents = axes.iter().filter_map(|&a| meta.shape.get(a as usize));
    let count = extents.fold(SymDim::constant(1), |n, d| n * d);
    let count = b.size_value(&count, meta.dtype)?;
    let shape = b.meta(sum).shape.clone();
    let count = b.broadcast_in_dim(count, &shape, &[])?;
    b.div(sum, count)
}

/// `log(sum(e^x))` over axes, which vanish; `-inf` with gradient 0 where every entry is `-inf`.
///
/// # Errors
/// When an axis does not exist or the dtype is not a real float.
pub fn logsumexp(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    // An infinite maximum would make NaN of the others; there no shift is needed.
    let max = b.max(x, axes)?;
    let finite = b.is_finite(max)?;
    let zero = b.constant_like(max, 0.0)?;
    let shift = b.select(finite, max, zero)?;
    let shift = b.stop_gradient(shift)?;
    let wide = expand(b, shift, x, axes)?;
    let shifted = b.sub(x, wide)?;
    let terms = b.exp(shifted)?;
    let total = b.sum(terms, axes)?;
    // log has no derivative at 0, where every term is
    let empty = b.compare(Comparison::Eq, total, zero)?;
    let one = b.constant_like(total, 1.0)?;
    let safe = b.select(empty, one, total)?;
    let logarithm = b.log(safe)?;
    let sum = b.add(logarithm, shift)?;
    let none = b.constant_like(total, f64::NEG_INFINITY)?;
    b.select(empty, none, sum)
}

/// `e^x / sum(e^x)` over axes, which stay.
///
/// # Errors
/// When an axis does not exist or the dtype is not a real float.
pub fn softmax(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    let shifted = below_max(b, x, axes)?;
    let terms = b.exp(shifted)?;
    let total = b.sum(terms, axes)?;
    let total = expand(b, total, x, axes)?;
    b.div(terms, total)
}

/// `log(softmax(x))` over axes, which stay.
///
/// # Errors
/// When an axis does not exist or the dtype is not a real float.
pub fn log_softmax(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    let shifted = below_max(b, x, axes)?;
    let terms = b.exp(shifted)?;
    let total = b.sum(terms, axes)?;
    let logarithm = b.log(total)?;
    let logarithm = expand(b, logarithm, x, axes)?;
    b.sub(shifted, logarithm)
}

/// `x` minus its maximum over axes, which is constant to derivatives, since it cancels.
fn below_max(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    let max = b.max(x, axes)?;
    let max = b.stop_gradient(max)?;
    let wide = expand(b, max, x, axes)?;
    b.sub(x, wide)
}

/// Repeats a reduction over `axes` to the shape of its operand.
///
/// # Errors
/// When the shapes do not fit.
pub fn expand(b: &mut ProgramBuilder, reduced: ValueId, like: ValueId, axes: &[u32]) -> Result<ValueId> {
    let shape = b.meta(like).shape.clone();
    let kept: Vec<u32> = (0..shape.len() as u32).filter(|a| !axes.contains(a)).collect();
    b.broadcast_in_dim(reduced, &shape, &kept)
}

/// The index of the largest entry along one axis, the first of several.
///
/// # Errors
/// When the axis does not exist or has extent 0.
pub fn argmax(b: &mut ProgramBuilder, x: ValueId, axis: u32) -> Result<ValueId> {
    b.op(CoreOp::ArgMax { axis }, &[x])
}

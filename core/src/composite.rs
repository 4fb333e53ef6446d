//! Functions made of core operations, shared by all front ends.
//!
//! They are written so that values and derivatives of every order are right at the extremes: no branch that is not
//! taken overflows, and at a kink the branch taken is smooth. Functions of one number take their limits at infinity;
//! where a reduction would need the difference or quotient of infinities it is NaN, as their doc says.

use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, Result};
use crate::ops::{Comparison, CoreOp};
use crate::program::{ProgramBuilder, ValueId};
use crate::shape::SymDim;

/// `1 / (1 + e^-x)`.
///
/// # Errors
/// When `x` is not a float.
pub fn sigmoid(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let one = b.constant_like(x, 1.0)?;
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
    // its branches differ by 2 pi i in the complex plane
    require(b, "softplus", "x", x, DTypeSet::REAL_FLOAT)?;
    let (nonnegative, decay) = decay(b, x)?;
    let zero = b.constant_like(x, 0.0)?;
    let linear = b.select(nonnegative, x, zero)?;
    let rest = b.log1p(decay)?;
    b.add(linear, rest)
}

/// `Re x >= 0` and `e^x` or `e^-x`, whichever is no larger than 1; smooth in the branch taken.
fn decay(b: &mut ProgramBuilder, x: ValueId) -> Result<(ValueId, ValueId)> {
    let part = b.real(x)?;
    let zero = b.constant_like(part, 0.0)?;
    let nonnegative = b.compare(Comparison::Ge, part, zero)?;
    let negated = b.neg(x)?;
    let exponent = b.select(nonnegative, negated, x)?;
    Ok((nonnegative, b.exp(exponent)?))
}

/// `x * sigmoid(x)`.
///
/// # Errors
/// When `x` is not a real float.
pub fn silu(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    gated(b, x, |b, x| {
        let gate = sigmoid(b, x)?;
        b.mul(x, gate)
    })
}

/// The product of `x` with a gate that is 0 below -1000 and 1 above 1000 to the last digit, where it is `max(x, 0)`:
/// the gate times an infinite `x`, and the square of a large one, are never computed.
fn gated(
    b: &mut ProgramBuilder,
    x: ValueId,
    product: impl FnOnce(&mut ProgramBuilder, ValueId) -> Result<ValueId>,
) -> Result<ValueId> {
    let far = b.constant_like(x, 1e3)?;
    let zero = b.constant_like(x, 0.0)?;
    let modulus = b.abs(x)?;
    let far = b.compare(Comparison::Gt, modulus, far)?;
    let near = b.select(far, zero, x)?;
    let near = product(b, near)?;
    let limit = relu(b, x)?;
    b.select(far, limit, near)
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

/// `x/2 erfc(-x / sqrt 2)`, which is `x/2 (1 + erf(x / sqrt 2))` (Hendrycks and Gimpel 2016) with its digits in the
/// negative tail.
///
/// # Errors
/// When `x` is not a real float.
pub fn gelu(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    gated(b, x, |b, x| {
        let scale = b.constant_like(x, -std::f64::consts::FRAC_1_SQRT_2)?;
        let scaled = b.mul(x, scale)?;
        let gate = b.erfc(scaled)?;
        half_of_product(b, x, gate)
    })
}

/// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, the approximation of [`gelu`].
///
/// # Errors
/// When `x` is not a real float.
pub fn gelu_tanh(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    gated(b, x, |b, x| {
        let square = b.mul(x, x)?;
        let coefficient = b.constant_like(x, 0.044_715)?;
        let one = b.constant_like(x, 1.0)?;
        let scaled = b.mul(coefficient, square)?;
        let polynomial = b.add(one, scaled)?;
        let argument = b.mul(x, polynomial)?;
        let scale = b.constant_like(x, (2.0 / std::f64::consts::PI).sqrt())?;
        let argument = b.mul(scale, argument)?;
        let tanh = b.tanh(argument)?;
        let gate = b.add(one, tanh)?;
        half_of_product(b, x, gate)
    })
}

/// `x/2 gate`
fn half_of_product(b: &mut ProgramBuilder, x: ValueId, gate: ValueId) -> Result<ValueId> {
    let half = b.constant_like(x, 0.5)?;
    let halved = b.mul(half, x)?;
    b.mul(halved, gate)
}

/// `x` held between two values of its dtype and shape; gradient 0 where it touches one, and at NaN. Where `low` is
/// above `high` it is `high`, where either is NaN it is NaN.
///
/// # Errors
/// When dtypes or shapes differ, or the dtype is not ordered.
pub fn clamp(b: &mut ProgramBuilder, x: ValueId, low: ValueId, high: ValueId) -> Result<ValueId> {
    let neither = b.stop_gradient(x)?;
    let below = b.compare(Comparison::Le, x, low)?;
    let raised = b.select(below, low, neither)?;
    let above = b.compare(Comparison::Ge, raised, high)?;
    let mut outside = b.select(above, high, raised)?;
    for bound in [low, high] {
        // only NaN is not itself
        let unknown = b.compare(Comparison::Ne, bound, bound)?;
        outside = b.select(unknown, bound, outside)?;
    }
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
    require(b, "mean", "x", x, DTypeSet::FLOAT)?;
    let sum = b.sum(x, axes)?;
    let count = points(b, x, axes);
    divided_by_size(b, sum, &count)
}

/// The variance over axes, which vanish: `sum(|x - mean|^2) / (n - ddof)` of n entries, real also for complex ones.
/// `ddof` is 0 for a population and 1 for a sample; NaN where no entry is left, and where one is infinite.
///
/// # Errors
/// When an axis does not exist or the dtype is not a float.
pub fn var(b: &mut ProgramBuilder, x: ValueId, axes: &[u32], ddof: u32) -> Result<ValueId> {
    require(b, "var", "x", x, DTypeSet::FLOAT)?;
    let deviation = deviation(b, x, axes)?;
    mean_square(b, deviation, axes, ddof)
}

/// The standard deviation over axes, which vanish: the root of [`var`], also where that leaves the range of the
/// dtype; gradient 0 where all entries are equal.
///
/// # Errors
/// When an axis does not exist or the dtype is not a float.
pub fn std(b: &mut ProgramBuilder, x: ValueId, axes: &[u32], ddof: u32) -> Result<ValueId> {
    require(b, "std", "x", x, DTypeSet::FLOAT)?;
    let deviation = deviation(b, x, axes)?;
    let unit = unit(b, deviation, axes, 0.0)?;
    let scaled = in_units(b, deviation, unit, axes)?;
    let variance = mean_square(b, scaled, axes, ddof)?;
    // the root has no derivative at 0
    let zero = b.constant_like(variance, 0.0)?;
    let one = b.constant_like(variance, 1.0)?;
    let flat = b.compare(Comparison::Eq, variance, zero)?;
    let safe = b.select(flat, one, variance)?;
    let root = b.sqrt(safe)?;
    let root = b.select(flat, zero, root)?;
    b.mul(root, unit)
}

/// `x` minus its mean over axes.
fn deviation(b: &mut ProgramBuilder, x: ValueId, axes: &[u32]) -> Result<ValueId> {
    let mean = mean(b, x, axes)?;
    let mean = expand(b, mean, x, axes)?;
    b.sub(x, mean)
}

/// `sum(|x|^2) / (n - ddof)` over axes.
fn mean_square(b: &mut ProgramBuilder, x: ValueId, axes: &[u32], ddof: u32) -> Result<ValueId> {
    let conjugate = b.conj(x)?;
    let square = b.mul(x, conjugate)?;
    let square = b.real(square)?;
    let sum = b.sum(square, axes)?;
    let count = (points(b, x, axes) - i64::from(ddof)).maximum(&SymDim::constant(0));
    divided_by_size(b, sum, &count)
}

/// The number of entries over axes.
fn points(b: &ProgramBuilder, x: ValueId, axes: &[u32]) -> SymDim {
    let shape = &b.meta(x).shape;
    let extents = axes.iter().filter_map(|&a| shape.get(a as usize));
    extents.fold(SymDim::constant(1), |n, d| n * d)
}

fn divided_by_size(b: &mut ProgramBuilder, x: ValueId, size: &SymDim) -> Result<ValueId> {
    let meta = b.meta(x).clone();
    let size = b.size_value(size, meta.dtype)?;
    let size = b.broadcast_in_dim(size, &meta.shape, &[])?;
    b.div(x, size)
}

/// What to divide by before squaring: the largest modulus over axes if it is finite, but at least `least` and a number
/// that is not subnormal in a product with a few others. What is computed must not depend on it but by rounding:
/// derivatives take it for a constant.
fn unit(b: &mut ProgramBuilder, x: ValueId, axes: &[u32], least: f64) -> Result<ValueId> {
    let x = b.stop_gradient(x)?;
    let modulus = b.abs(x)?;
    let largest = b.max(modulus, axes)?;
    let finite = b.is_finite(largest)?;
    let safe = if b.meta(largest).dtype == DType::F32 { 1e-30 } else { 1e-290 };
    let least = b.constant_like(largest, least.max(safe))?;
    let above = b.compare(Comparison::Gt, largest, least)?;
    let usable = b.and(finite, above)?;
    b.select(usable, largest, least)
}

fn in_units(b: &mut ProgramBuilder, x: ValueId, unit: ValueId, axes: &[u32]) -> Result<ValueId> {
    let unit = b.convert(unit, b.meta(x).dtype)?;
    let unit = expand(b, unit, x, axes)?;
    b.div(x, unit)
}

/// `(x - mean) / sqrt(var + eps) gamma + beta` with the population variance over axes, which stay; `gamma` and `beta`
/// have the shape of those axes (Ba, Kiros and Hinton 2016). NaN where an entry is infinite.
///
/// # Errors
/// When an axis does not exist, dtypes or shapes differ, or the dtype is not a real float.
pub fn layer_norm(
    b: &mut ProgramBuilder,
    x: ValueId,
    gamma: Option<ValueId>,
    beta: Option<ValueId>,
    axes: &[u32],
    eps: f64,
) -> Result<ValueId> {
    let deviation = deviation(b, x, axes)?;
    let scaled = rms_norm(b, deviation, gamma, axes, eps)?;
    let Some(beta) = beta else { return Ok(scaled) };
    let shape = b.meta(x).shape.clone();
    let beta = b.broadcast_in_dim(beta, &shape, axes)?;
    b.add(scaled, beta)
}

/// `x / sqrt(mean(x^2) + eps) gamma` over axes, which stay; `gamma` has the shape of those axes (Zhang and Sennrich
/// 2019). Beside an infinite entry, which becomes NaN, the others are 0.
///
/// # Errors
/// When an axis does not exist, dtypes or shapes differ, or the dtype is not a real float.
pub fn rms_norm(b: &mut ProgramBuilder, x: ValueId, gamma: Option<ValueId>, axes: &[u32], eps: f64) -> Result<ValueId> {
    // neither the squares nor eps may leave the range of the dtype
    let unit = unit(b, x, axes, eps.sqrt())?;
    let scaled = in_units(b, x, unit, axes)?;
    let square = mean_square(b, scaled, axes, 0)?;
    let eps = b.constant_like(unit, eps)?;
    let eps = b.div(eps, unit)?;
    let eps = b.div(eps, unit)?;
    let sum = b.add(square, eps)?;
    let root = b.sqrt(sum)?;
    let root = expand(b, root, x, axes)?;
    let normal = b.div(scaled, root)?;
    let Some(gamma) = gamma else { return Ok(normal) };
    let shape = b.meta(x).shape.clone();
    let gamma = b.broadcast_in_dim(gamma, &shape, axes)?;
    b.mul(normal, gamma)
}

/// `log(sum(e^x))` over axes, which vanish; `-inf` with gradient 0 where every entry is `-inf`, `inf` with gradient NaN
/// at the entries that are `inf`.
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

/// `e^x / sum(e^x)` over axes, which stay; NaN where the largest entry is infinite, also if all are `-inf`.
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

/// [`softmax`] among the entries where `mask`, a bool of the shape of `x`, is true; 0 at the others, and everywhere
/// where none is true or all that are shown are `-inf`.
///
/// # Errors
/// When an axis does not exist, the shapes differ, or the dtype is not a real float.
pub fn masked_softmax(b: &mut ProgramBuilder, x: ValueId, mask: ValueId, axes: &[u32]) -> Result<ValueId> {
    let lowest = b.constant_like(x, f64::NEG_INFINITY)?;
    let zero = b.constant_like(x, 0.0)?;
    let shown = b.select(mask, x, lowest)?;
    let shown = b.stop_gradient(shown)?;
    let max = b.max(shown, axes)?;
    let none = b.constant_like(max, f64::NEG_INFINITY)?;
    let empty = b.compare(Comparison::Eq, max, none)?;
    let nothing = b.constant_like(max, 0.0)?;
    let shift = b.select(empty, nothing, max)?;
    let shift = expand(b, shift, x, axes)?;
    let shifted = b.sub(x, shift)?;
    // what is masked may overflow or be NaN
    let shifted = b.select(mask, shifted, zero)?;
    let terms = b.exp(shifted)?;
    let terms = b.select(mask, terms, zero)?;
    let total = b.sum(terms, axes)?;
    let one = b.constant_like(total, 1.0)?;
    let total = b.select(empty, one, total)?;
    let total = expand(b, total, x, axes)?;
    let shares = b.div(terms, total)?;
    // 0 also beside a total that is NaN
    b.select(mask, shares, zero)
}

/// `log(softmax(x))` over axes, which stay; NaN where the largest entry is infinite, also if all are `-inf`.
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
    let shape = b.known_meta(like)?.shape.clone();
    let kept: Vec<u32> = (0..shape.len() as u32).filter(|a| !axes.contains(a)).collect();
    b.broadcast_in_dim(reduced, &shape, &kept)
}

/// 1 where the index along a new last axis of extent `depth` is the given one, 0 elsewhere; an index that is not below
/// `depth` has no 1.
///
/// # Errors
/// When the indices are not integers, or the depth is a negative number.
pub fn one_hot(b: &mut ProgramBuilder, indices: ValueId, depth: &SymDim, dtype: DType) -> Result<ValueId> {
    require(b, "one_hot", "indices", indices, DTypeSet::INTEGER)?;
    if let Some(depth) = depth.as_const().filter(|depth| *depth < 0) {
        return Err(Error::argument("one_hot", "depth", format!("is {depth}, but an extent is not negative")));
    }
    let meta = b.meta(indices).clone();
    let rank = meta.rank() as u32;
    let shape: Vec<SymDim> = meta.shape.iter().chain([depth]).cloned().collect();
    let axes: Vec<u32> = (0..rank).collect();
    let wanted = b.broadcast_in_dim(indices, &shape, &axes)?;
    let index = b.op(CoreOp::Iota { shape: shape.into(), axis: rank, dtype: meta.dtype }, &[])?;
    let hot = b.compare(Comparison::Eq, index, wanted)?;
    b.convert(hot, dtype)
}

/// The index of the largest entry along one axis, the first of several.
///
/// # Errors
/// When the axis does not exist or has extent 0.
pub fn argmax(b: &mut ProgramBuilder, x: ValueId, axis: u32) -> Result<ValueId> {
    b.op(CoreOp::ArgMax { axis }, &[x])
}

/// Refuses other dtypes, and values of another builder.
fn require(b: &ProgramBuilder, op: &'static str, argument: &'static str, x: ValueId, accepted: DTypeSet) -> Result<()> {
    let actual = b.known_meta(x)?.dtype;
    if accepted.contains(actual) {
        return Ok(());
    }
    let expected = accepted.to_string().into();
    Err(Error::DType { op: op.into(), argument: argument.into(), expected, actual })
}

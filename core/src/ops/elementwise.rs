//! Rows of the elementwise operations. Derivatives: Griewank and Walther 2008, section 2; complex ones follow
//! the convention that a cotangent passes a holomorphic operation multiplied by the conjugate derivative.

use super::row::{Derivative, OpClass, OutputDType, Row};
use super::tangents::*;
use super::{Comparison, CoreOp};
use crate::dtype::{DType, DTypeSet};
use crate::error::Result;
use crate::extension::ShapeContext;
use crate::program::ValueId;
use crate::shape::SymDim;

const UNARY: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Elementwise,
    operands: &["x"],
    control: &[],
    dtypes: DTypeSet::FLOAT,
    output: OutputDType::Same,
    shape: equal_shapes,
    derivative: Derivative::Zero(""),
};
const BINARY: Row = Row { operands: &["a", "b"], dtypes: DTypeSet::NUMERIC, ..UNARY };
const STEP: Derivative = Derivative::Zero("it is piecewise constant");
const ROUNDING: Row = Row { dtypes: DTypeSet::REAL_FLOAT, derivative: STEP, ..UNARY };
const NOT_A_NUMBER: Derivative = Derivative::Zero("its result is not a number");

pub(super) const NEG: Row = Row {
    name: "neg",
    doc: "`-x`; integers wrap",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Linear(|t| one(t.b.neg(t.cotangent))),
    ..UNARY
};
pub(super) const ABS: Row = Row {
    name: "abs",
    doc: "`|x|`, the modulus of a complex number; gradient 0 at 0",
    dtypes: DTypeSet::NUMERIC,
    output: OutputDType::Real,
    derivative: Derivative::Nonlinear(|l| {
        let sign = l.b.sign(l.inputs[0])?;
        let conjugate = l.b.conj(sign)?;
        let product = times(l, conjugate)?;
        l.b.real(product).map(Some)
    }),
    ..UNARY
};
pub(super) const SIGN: Row = Row {
    name: "sign",
    doc: "`x / |x|`, 0 at 0 and at NaN",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Nonlinear(sign),
    ..UNARY
};
pub(super) const EXP: Row =
    Row { name: "exp", doc: "`e^x`", derivative: Derivative::Nonlinear(|l| some(times(l, l.output))), ..UNARY };
pub(super) const EXPM1: Row = Row {
    name: "expm1",
    doc: "`e^x - 1` without cancellation near 0",
    derivative: Derivative::Nonlinear(|l| {
        let one = constant(l, l.output, 1.0)?;
        let factor = l.b.add(l.output, one)?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const LOG: Row = Row {
    name: "log",
    doc: "the natural logarithm, principal branch",
    derivative: Derivative::Nonlinear(|l| some(divided_by(l, l.inputs[0]))),
    ..UNARY
};
pub(super) const LOG1P: Row = Row {
    name: "log1p",
    doc: "`log(1 + x)` without cancellation near 0",
    derivative: Derivative::Nonlinear(|l| {
        let one = constant(l, l.output, 1.0)?;
        let divisor = l.b.add(l.inputs[0], one)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const SIN: Row = Row {
    name: "sin",
    doc: "the sine of radians",
    derivative: Derivative::Nonlinear(|l| {
        let factor = l.b.cos(l.inputs[0])?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const COS: Row = Row {
    name: "cos",
    doc: "the cosine of radians",
    derivative: Derivative::Nonlinear(|l| {
        let sine = l.b.sin(l.inputs[0])?;
        let factor = l.b.neg(sine)?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const TAN: Row = Row {
    name: "tan",
    doc: "the tangent of radians",
    derivative: Derivative::Nonlinear(|l| {
        let square = l.b.mul(l.output, l.output)?;
        let one = constant(l, l.output, 1.0)?;
        let factor = l.b.add(one, square)?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const ASIN: Row = Row {
    name: "asin",
    doc: "the inverse sine, principal branch",
    derivative: Derivative::Nonlinear(|l| {
        let divisor = sine_of_arc(l)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const ACOS: Row = Row {
    name: "acos",
    doc: "the inverse cosine, principal branch",
    derivative: Derivative::Nonlinear(|l| {
        let sine = sine_of_arc(l)?;
        let divisor = l.b.neg(sine)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const ATAN: Row = Row {
    name: "atan",
    doc: "the inverse tangent, principal branch",
    derivative: Derivative::Nonlinear(|l| {
        let x = l.inputs[0];
        let one = constant(l, x, 1.0)?;
        if l.b.meta(x).dtype.is_complex() {
            // 1 + x^2 in factors, as it may overflow in both parts
            let i = l.b.imaginary_unit_like(x)?;
            let turned = l.b.mul(i, x)?;
            let (above, below) = (l.b.add(one, turned)?, l.b.sub(one, turned)?);
            let quotient = divided_by(l, above)?;
            return some(l.b.div(quotient, below));
        }
        let square = l.b.mul(x, x)?;
        let divisor = l.b.add(one, square)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const SINH: Row = Row {
    name: "sinh",
    doc: "the hyperbolic sine",
    derivative: Derivative::Nonlinear(|l| {
        let factor = l.b.cosh(l.inputs[0])?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const COSH: Row = Row {
    name: "cosh",
    doc: "the hyperbolic cosine",
    derivative: Derivative::Nonlinear(|l| {
        let factor = l.b.sinh(l.inputs[0])?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const TANH: Row = Row {
    name: "tanh",
    doc: "the hyperbolic tangent",
    derivative: Derivative::Nonlinear(|l| {
        let square = l.b.mul(l.output, l.output)?;
        let one = constant(l, l.output, 1.0)?;
        let factor = l.b.sub(one, square)?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const SQRT: Row = Row {
    name: "sqrt",
    doc: "the square root, principal branch",
    derivative: Derivative::Nonlinear(|l| {
        let divisor = l.b.add(l.output, l.output)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const RSQRT: Row = Row {
    name: "rsqrt",
    doc: "`1 / sqrt(x)`",
    derivative: Derivative::Nonlinear(|l| {
        let half = constant(l, l.output, -0.5)?;
        let square = l.b.mul(l.output, l.output)?;
        let cube = l.b.mul(square, l.output)?;
        let factor = l.b.mul(half, cube)?;
        some(times(l, factor))
    }),
    ..UNARY
};
pub(super) const CBRT: Row = Row {
    name: "cbrt",
    doc: "the cube root, negative for negative numbers",
    dtypes: DTypeSet::REAL_FLOAT,
    derivative: Derivative::Nonlinear(|l| {
        let three = constant(l, l.output, 3.0)?;
        let square = l.b.mul(l.output, l.output)?;
        let divisor = l.b.mul(three, square)?;
        some(divided_by(l, divisor))
    }),
    ..UNARY
};
pub(super) const ERF: Row = Row {
    name: "erf",
    doc: "the error function",
    dtypes: DTypeSet::REAL_FLOAT,
    derivative: Derivative::Nonlinear(|l| gauss(l, std::f64::consts::FRAC_2_SQRT_PI)),
    ..UNARY
};
pub(super) const ERFC: Row = Row {
    name: "erfc",
    doc: "`1 - erf(x)` without cancellation far out",
    dtypes: DTypeSet::REAL_FLOAT,
    derivative: Derivative::Nonlinear(|l| gauss(l, -std::f64::consts::FRAC_2_SQRT_PI)),
    ..UNARY
};
pub(super) const FLOOR: Row = Row { name: "floor", doc: "the next integer at or below", ..ROUNDING };
pub(super) const CEIL: Row = Row { name: "ceil", doc: "the next integer at or above", ..ROUNDING };
pub(super) const ROUND: Row = Row { name: "round", doc: "the nearest integer, of two the even one", ..ROUNDING };
pub(super) const CONJ: Row = Row {
    name: "conj",
    doc: "the complex conjugate; a real number stays",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Linear(|t| one(t.b.conj(t.cotangent))),
    ..UNARY
};
pub(super) const REAL: Row = Row {
    name: "real",
    doc: "the real part",
    dtypes: DTypeSet::NUMERIC,
    output: OutputDType::Real,
    derivative: Derivative::Linear(|t| {
        let dtype = t.meta(0).dtype;
        one(t.b.convert(t.cotangent, dtype))
    }),
    ..UNARY
};
pub(super) const IMAG: Row = Row {
    name: "imag",
    doc: "the imaginary part, 0 for a real number",
    dtypes: DTypeSet::NUMERIC,
    output: OutputDType::Real,
    derivative: Derivative::Linear(|t| {
        let dtype = t.meta(0).dtype;
        if !dtype.is_complex() {
            return one(t.b.zeros(&t.meta(0)));
        }
        let complex = t.b.convert(t.cotangent, dtype)?;
        let i = t.b.imaginary_unit_like(complex)?;
        one(t.b.mul(i, complex))
    }),
    ..UNARY
};
pub(super) const NOT: Row =
    Row { name: "not", doc: "logical negation", dtypes: DTypeSet::BOOL, derivative: NOT_A_NUMBER, ..UNARY };
pub(super) const IS_FINITE: Row = Row {
    name: "is_finite",
    doc: "neither infinite nor NaN",
    output: OutputDType::Fixed(DType::Bool),
    derivative: NOT_A_NUMBER,
    ..UNARY
};
pub(super) const CONVERT: Row = Row {
    name: "convert",
    doc: "to another dtype: to an integer truncates and saturates, to a real dtype takes the real part, to bool tests `!= 0`",
    dtypes: DTypeSet::ALL,
    output: OutputDType::Attribute(|op| if let CoreOp::Convert(dtype) = op { *dtype } else { DType::F64 }),
    derivative: Derivative::Multilinear(
        |l| match (l.op, l.tangents[0]) {
            (CoreOp::Convert(to), Some(t)) if to.is_float() => l.b.convert(t, *to).map(Some),
            _ => Ok(None),
        },
        |t| {
            let dtype = t.meta(0).dtype;
            one(t.b.convert(t.cotangent, dtype))
        },
    ),
    ..UNARY
};

pub(super) const ADD: Row = Row {
    name: "add",
    doc: "`a + b`; integers wrap",
    derivative: Derivative::Multilinear(
        |l| match (l.tangents[0], l.tangents[1]) {
            (Some(a), Some(b)) => l.b.add(a, b).map(Some),
            (a, b) => Ok(a.or(b)),
        },
        |t| Ok(t.linear.iter().map(|&linear| linear.then_some(t.cotangent)).collect()),
    ),
    ..BINARY
};
pub(super) const SUB: Row = Row {
    name: "sub",
    doc: "`a - b`; integers wrap",
    derivative: Derivative::Multilinear(
        |l| match (l.tangents[0], l.tangents[1]) {
            (Some(a), Some(b)) => l.b.sub(a, b).map(Some),
            (Some(a), None) => Ok(Some(a)),
            (None, Some(b)) => l.b.neg(b).map(Some),
            (None, None) => Ok(None),
        },
        |t| {
            let b = if t.linear[1] { Some(t.b.neg(t.cotangent)?) } else { None };
            Ok(vec![t.linear[0].then_some(t.cotangent), b])
        },
    ),
    ..BINARY
};
pub(super) const MUL: Row = Row {
    name: "mul",
    doc: "`a * b`; integers wrap",
    derivative: Derivative::Multilinear(
        |l| {
            let a = product(l.b, l.tangents[0], l.inputs[1])?;
            let b = product(l.b, l.tangents[1], l.inputs[0])?;
            sum(l.b, a, b)
        },
        |t| {
            let mut cotangent = |i: usize| -> Result<Option<ValueId>> {
                if !t.linear[i] {
                    return Ok(None);
                }
                let conjugate = t.b.conj(t.inputs[1 - i])?;
                t.b.mul(t.cotangent, conjugate).map(Some)
            };
            Ok(vec![cotangent(0)?, cotangent(1)?])
        },
    ),
    ..BINARY
};
pub(super) const DIV: Row = Row {
    name: "div",
    doc: "`a / b`; of integers truncated toward zero, and 0 where b is 0",
    derivative: Derivative::Multilinear(
        |l| {
            let a = match l.tangents[0] {
                Some(t) => Some(l.b.div(t, l.inputs[1])?),
                None => None,
            };
            let b = match l.tangents[1] {
                Some(t) => {
                    let ratio = l.b.div(l.output, l.inputs[1])?;
                    let scaled = l.b.mul(t, ratio)?;
                    Some(l.b.neg(scaled)?)
                }
                None => None,
            };
            sum(l.b, a, b)
        },
        |t| {
            let conjugate = t.b.conj(t.inputs[1])?;
            Ok(vec![Some(t.b.div(t.cotangent, conjugate)?), None])
        },
    ),
    ..BINARY
};
pub(super) const REM: Row = Row {
    name: "rem",
    doc: "the remainder of `a / b` with the sign of a (C's fmod); of integers a where b is 0",
    dtypes: DTypeSet::ORDERED,
    derivative: Derivative::Nonlinear(|l| {
        let b = match l.tangents[1] {
            Some(t) => {
                // -trunc(a / b); an infinite quotient is its own truncation
                let quotient = l.b.div(l.inputs[0], l.inputs[1])?;
                let one = constant(l, quotient, 1.0)?;
                let fraction = l.b.rem(quotient, one)?;
                let whole = l.b.sub(quotient, fraction)?;
                let finite = l.b.is_finite(quotient)?;
                let truncated = l.b.select(finite, whole, quotient)?;
                let truncated = l.b.stop_gradient(truncated)?;
                let factor = l.b.neg(truncated)?;
                Some(l.b.mul(t, factor)?)
            }
            None => None,
        };
        sum(l.b, l.tangents[0], b)
    }),
    ..BINARY
};
pub(super) const POW: Row = Row {
    name: "pow",
    doc: "`a^b`, C's pow for reals; gradient 0 for b where a is 0 and b >= 0",
    dtypes: DTypeSet::FLOAT,
    derivative: Derivative::Nonlinear(pow),
    ..BINARY
};
pub(super) const ATAN2: Row = Row {
    name: "atan2",
    doc: "the angle of the point (x, y), in [-pi, pi]; gradient 0 at the origin",
    operands: &["y", "x"],
    dtypes: DTypeSet::REAL_FLOAT,
    derivative: Derivative::Nonlinear(atan2),
    ..BINARY
};
pub(super) const COMPLEX: Row = Row {
    name: "complex",
    doc: "`re + i im`",
    operands: &["re", "im"],
    dtypes: DTypeSet::REAL_FLOAT,
    output: OutputDType::Complex,
    derivative: Derivative::Multilinear(
        |l| {
            let zero = constant(l, l.inputs[0], 0.0)?;
            some(l.b.complex(l.tangents[0].unwrap_or(zero), l.tangents[1].unwrap_or(zero)))
        },
        |t| {
            let re = if t.linear[0] { Some(t.b.real(t.cotangent)?) } else { None };
            let im = if t.linear[1] { Some(t.b.imag(t.cotangent)?) } else { None };
            Ok(vec![re, im])
        },
    ),
    ..BINARY
};
pub(super) const MAXIMUM: Row = Row {
    name: "maximum",
    doc: "the larger; NaN if either is; a tie gives half of the gradient to each",
    dtypes: DTypeSet::ORDERED,
    derivative: Derivative::Nonlinear(|l| extremum(l, Comparison::Lt)),
    ..BINARY
};
pub(super) const MINIMUM: Row = Row {
    name: "minimum",
    doc: "the smaller; NaN if either is; a tie gives half of the gradient to each",
    dtypes: DTypeSet::ORDERED,
    derivative: Derivative::Nonlinear(|l| extremum(l, Comparison::Gt)),
    ..BINARY
};
pub(super) const AND: Row =
    Row { name: "and", doc: "logical and", dtypes: DTypeSet::BOOL, derivative: NOT_A_NUMBER, ..BINARY };
pub(super) const OR: Row =
    Row { name: "or", doc: "logical or", dtypes: DTypeSet::BOOL, derivative: NOT_A_NUMBER, ..BINARY };
pub(super) const COMPARE_EQUALITY: Row = Row {
    name: "compare",
    doc: "whether two entries are equal, or whether they differ",
    dtypes: DTypeSet::ALL,
    output: OutputDType::Fixed(DType::Bool),
    derivative: STEP,
    ..BINARY
};
pub(super) const COMPARE_ORDER: Row = Row {
    doc: "how two entries are ordered; false where either is NaN",
    dtypes: DTypeSet::ORDERED,
    ..COMPARE_EQUALITY
};
pub(super) const SELECT: Row = Row {
    name: "select",
    doc: "the entry of a where the condition holds, of b elsewhere",
    operands: &["condition", "a", "b"],
    control: &[(0, DType::Bool)],
    dtypes: DTypeSet::ALL,
    derivative: Derivative::Multilinear(
        |l| {
            let zero = l.b.zeros(&l.b.meta(l.output).clone())?;
            let (a, b) = (l.tangents[1].unwrap_or(zero), l.tangents[2].unwrap_or(zero));
            l.b.select(l.inputs[0], a, b).map(Some)
        },
        |t| {
            let zero = t.b.zeros(&t.b.meta(t.cotangent).clone())?;
            let a = if t.linear[1] { Some(t.b.select(t.inputs[0], t.cotangent, zero)?) } else { None };
            let b = if t.linear[2] { Some(t.b.select(t.inputs[0], zero, t.cotangent)?) } else { None };
            Ok(vec![None, a, b])
        },
    ),
    ..UNARY
};

fn equal_shapes(_: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    ctx.equal_shapes()?;
    Ok(ctx.input(0).shape.to_vec())
}

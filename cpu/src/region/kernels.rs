//! The tile kernels of the elementwise operations: one plain loop over slices for each operation and dtype.

use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::{DType, Elements, with_dtype};
use tenferro_runtime::reference::scalar::{Analytic, Arithmetic, Convert, Ordered, RealFunction, convert};

use super::elements::{Element, ElementsMut};
use crate::dtypes::{float, numeric, ordered, over};

/// A kernel of one operand: input dtype, output dtype, function.
macro_rules! unary {
    ($A:ty, $O:ty, $f:expr) => {
        (|output, inputs| unary::<$A, $O>(output, inputs, $f)) as Kernel
    };
}

/// A kernel of two operands of one dtype.
macro_rules! binary {
    ($A:ty, $O:ty, $f:expr) => {
        (|output, inputs| binary::<$A, $O>(output, inputs, $f)) as Kernel
    };
}

/// Computes a tile. The output and all inputs are of one length and of the dtypes the kernel was chosen for.
pub(crate) type Kernel = fn(ElementsMut<'_>, &[Elements<'_>]);

/// The kernel of an operation on operands whose last has this dtype, `None` if there is none.
pub(crate) fn kernel(op: &CoreOp, dtype: DType) -> Option<Kernel> {
    match op {
        CoreOp::Neg => numeric!(dtype, T => unary!(T, T, Arithmetic::neg)),
        CoreOp::Abs => numeric!(dtype, T => unary!(T, Part<T>, Arithmetic::abs)),
        CoreOp::Sign => numeric!(dtype, T => unary!(T, T, Arithmetic::sign)),
        CoreOp::Conj => numeric!(dtype, T => unary!(T, T, Arithmetic::conj)),
        CoreOp::Real => numeric!(dtype, T => unary!(T, Part<T>, Arithmetic::real)),
        CoreOp::Imag => numeric!(dtype, T => unary!(T, Part<T>, Arithmetic::imag)),
        CoreOp::Exp => float!(dtype, T => unary!(T, T, Analytic::exp)),
        CoreOp::Expm1 => float!(dtype, T => unary!(T, T, Analytic::expm1)),
        CoreOp::Log => float!(dtype, T => unary!(T, T, Analytic::log)),
        CoreOp::Log1p => float!(dtype, T => unary!(T, T, Analytic::log1p)),
        CoreOp::Sin => float!(dtype, T => unary!(T, T, Analytic::sin)),
        CoreOp::Cos => float!(dtype, T => unary!(T, T, Analytic::cos)),
        CoreOp::Tan => float!(dtype, T => unary!(T, T, Analytic::tan)),
        CoreOp::Asin => float!(dtype, T => unary!(T, T, Analytic::asin)),
        CoreOp::Acos => float!(dtype, T => unary!(T, T, Analytic::acos)),
        CoreOp::Atan => float!(dtype, T => unary!(T, T, Analytic::atan)),
        CoreOp::Sinh => float!(dtype, T => unary!(T, T, Analytic::sinh)),
        CoreOp::Cosh => float!(dtype, T => unary!(T, T, Analytic::cosh)),
        CoreOp::Tanh => float!(dtype, T => unary!(T, T, Analytic::tanh)),
        CoreOp::Sqrt => float!(dtype, T => unary!(T, T, Analytic::sqrt)),
        CoreOp::Rsqrt => float!(dtype, T => unary!(T, T, Analytic::rsqrt)),
        CoreOp::IsFinite => float!(dtype, T => unary!(T, bool, Analytic::is_finite)),
        CoreOp::Cbrt => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::cbrt)),
        CoreOp::Erf => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::erf)),
        CoreOp::Erfc => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::erfc)),
        CoreOp::Floor => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::floor)),
        CoreOp::Ceil => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::ceil)),
        CoreOp::Round => over!([f32, f64], dtype, T => unary!(T, T, RealFunction::round)),
        CoreOp::Not => over!([bool], dtype, T => unary!(T, T, |x: T| !x)),
        CoreOp::Convert(target) => {
            Some(with_dtype!(dtype, S => with_dtype!(*target, T => converting::<S, T> as Kernel)))
        }
        CoreOp::Add => numeric!(dtype, T => binary!(T, T, Arithmetic::add)),
        CoreOp::Sub => numeric!(dtype, T => binary!(T, T, Arithmetic::sub)),
        CoreOp::Mul => numeric!(dtype, T => product::<T>()),
        CoreOp::Div => numeric!(dtype, T => binary!(T, T, Arithmetic::div)),
        CoreOp::Rem => ordered!(dtype, T => binary!(T, T, Ordered::rem)),
        CoreOp::Atan2 => over!([f32, f64], dtype, T => binary!(T, T, RealFunction::atan2)),
        CoreOp::Complex => over!([f32, f64], dtype, T => binary!(T, Whole<T>, RealFunction::complex)),
        CoreOp::Maximum => ordered!(dtype, T => binary!(T, T, Ordered::maximum)),
        CoreOp::Minimum => ordered!(dtype, T => binary!(T, T, Ordered::minimum)),
        CoreOp::Pow => float!(dtype, T => binary!(T, T, Analytic::pow)),
        CoreOp::And => over!([bool], dtype, T => binary!(T, T, |a: T, b: T| a & b)),
        CoreOp::Or => over!([bool], dtype, T => binary!(T, T, |a: T, b: T| a | b)),
        CoreOp::Compare(comparison) => compare(*comparison, dtype),
        CoreOp::Select => Some(with_dtype!(dtype, T => select::<T> as Kernel)),
        _ => None,
    }
}

/// The kernel of products, which contractions without a summed label use too.
pub(crate) fn product<T: Element + Arithmetic>() -> Kernel {
    |output, inputs| binary::<T, T>(output, inputs, Arithmetic::mul)
}

fn compare(comparison: Comparison, dtype: DType) -> Option<Kernel> {
    match comparison {
        Comparison::Eq => Some(with_dtype!(dtype, T => binary!(T, bool, |a: T, b: T| a == b))),
        Comparison::Ne => Some(with_dtype!(dtype, T => binary!(T, bool, |a: T, b: T| a != b))),
        Comparison::Lt => ordered!(dtype, T => binary!(T, bool, |a: T, b: T| a < b)),
        Comparison::Le => ordered!(dtype, T => binary!(T, bool, |a: T, b: T| a <= b)),
        Comparison::Gt => ordered!(dtype, T => binary!(T, bool, |a: T, b: T| a > b)),
        Comparison::Ge => ordered!(dtype, T => binary!(T, bool, |a: T, b: T| a >= b)),
    }
}

type Part<T> = <T as Arithmetic>::Part;
type Whole<T> = <T as RealFunction>::Whole;

#[inline(always)]
fn unary<A: Element, O: Element>(output: ElementsMut<'_>, inputs: &[Elements<'_>], f: impl Fn(A) -> O) {
    let a = A::of(inputs[0]);
    for (o, &a) in O::of_mut(output).iter_mut().zip(a) {
        *o = f(a);
    }
}

#[inline(always)]
fn binary<A: Element, O: Element>(output: ElementsMut<'_>, inputs: &[Elements<'_>], f: impl Fn(A, A) -> O) {
    let (a, b) = (A::of(inputs[0]), A::of(inputs[1]));
    for ((o, &a), &b) in O::of_mut(output).iter_mut().zip(a).zip(b) {
        *o = f(a, b);
    }
}

fn converting<S: Element + Convert, T: Element + Convert>(output: ElementsMut<'_>, inputs: &[Elements<'_>]) {
    unary::<S, T>(output, inputs, convert);
}

fn select<T: Element>(output: ElementsMut<'_>, inputs: &[Elements<'_>]) {
    let (condition, a, b) = (bool::of(inputs[0]), T::of(inputs[1]), T::of(inputs[2]));
    for (((o, &condition), &a), &b) in T::of_mut(output).iter_mut().zip(condition).zip(a).zip(b) {
        *o = if condition { a } else { b };
    }
}

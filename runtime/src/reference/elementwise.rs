//! Elementwise operations: one loop for each number of operands, around the functions of
//! [`scalar`](super::scalar).

use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::{DType, Scalar, with_dtype};

use super::kernel::{Kernel, for_dtype};
use super::scalar::{Analytic, Arithmetic, Ordered, RealFunction, convert};
use crate::prepare::PrepareRequest;

/// The kernel of an elementwise operation on these operands, if they have it.
pub(super) fn kernel(op: &CoreOp, request: &PrepareRequest<'_>) -> Option<Kernel> {
    let name = op.name();
    // Of a selection, that of the branches.
    let dtype = request.inputs().last()?.dtype;
    match op {
        CoreOp::Neg => for_dtype!(numeric: dtype, T => unary::<T, T>(name, Arithmetic::neg)),
        CoreOp::Abs => for_dtype!(numeric: dtype, T => unary::<T, _>(name, Arithmetic::abs)),
        CoreOp::Sign => for_dtype!(numeric: dtype, T => unary::<T, T>(name, Arithmetic::sign)),
        CoreOp::Conj => for_dtype!(numeric: dtype, T => unary::<T, T>(name, Arithmetic::conj)),
        CoreOp::Real => for_dtype!(numeric: dtype, T => unary::<T, _>(name, Arithmetic::real)),
        CoreOp::Imag => for_dtype!(numeric: dtype, T => unary::<T, _>(name, Arithmetic::imag)),
        CoreOp::Exp => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::exp)),
        CoreOp::Expm1 => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::expm1)),
        CoreOp::Log => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::log)),
        CoreOp::Log1p => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::log1p)),
        CoreOp::Sin => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::sin)),
        CoreOp::Cos => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::cos)),
        CoreOp::Tan => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::tan)),
        CoreOp::Asin => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::asin)),
        CoreOp::Acos => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::acos)),
        CoreOp::Atan => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::atan)),
        CoreOp::Sinh => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::sinh)),
        CoreOp::Cosh => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::cosh)),
        CoreOp::Tanh => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::tanh)),
        CoreOp::Sqrt => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::sqrt)),
        CoreOp::Rsqrt => for_dtype!(float: dtype, T => unary::<T, T>(name, Analytic::rsqrt)),
        CoreOp::IsFinite => for_dtype!(float: dtype, T => unary::<T, bool>(name, Analytic::is_finite)),
        CoreOp::Cbrt => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::cbrt)),
        CoreOp::Erf => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::erf)),
        CoreOp::Erfc => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::erfc)),
        CoreOp::Floor => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::floor)),
        CoreOp::Ceil => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::ceil)),
        CoreOp::Round => for_dtype!(real: dtype, T => unary::<T, T>(name, RealFunction::round)),
        CoreOp::Not => (dtype == DType::Bool).then(|| unary(name, |x: bool| !x)),
        CoreOp::Convert(to) => Some(with_dtype!(dtype, S => with_dtype!(*to, T => unary(name, convert::<S, T>)))),
        CoreOp::Add => for_dtype!(numeric: dtype, T => binary::<T, T>(name, Arithmetic::add)),
        CoreOp::Sub => for_dtype!(numeric: dtype, T => binary::<T, T>(name, Arithmetic::sub)),
        CoreOp::Mul => for_dtype!(numeric: dtype, T => binary::<T, T>(name, Arithmetic::mul)),
        CoreOp::Div => for_dtype!(numeric: dtype, T => binary::<T, T>(name, Arithmetic::div)),
        CoreOp::Rem => for_dtype!(ordered: dtype, T => binary::<T, T>(name, Ordered::rem)),
        CoreOp::Pow => for_dtype!(float: dtype, T => binary::<T, T>(name, Analytic::pow)),
        CoreOp::Atan2 => for_dtype!(real: dtype, T => binary::<T, T>(name, RealFunction::atan2)),
        CoreOp::Complex => for_dtype!(real: dtype, T => binary::<T, _>(name, RealFunction::complex)),
        CoreOp::Maximum => for_dtype!(ordered: dtype, T => binary::<T, T>(name, Ordered::maximum)),
        CoreOp::Minimum => for_dtype!(ordered: dtype, T => binary::<T, T>(name, Ordered::minimum)),
        CoreOp::And => (dtype == DType::Bool).then(|| binary(name, |a: bool, b| a && b)),
        CoreOp::Or => (dtype == DType::Bool).then(|| binary(name, |a: bool, b| a || b)),
        CoreOp::Compare(Comparison::Eq) => Some(with_dtype!(dtype, T => binary(name, |a: T, b| a == b))),
        CoreOp::Compare(Comparison::Ne) => Some(with_dtype!(dtype, T => binary(name, |a: T, b| a != b))),
        CoreOp::Compare(Comparison::Lt) => for_dtype!(ordered: dtype, T => binary(name, |a: T, b| a < b)),
        CoreOp::Compare(Comparison::Le) => for_dtype!(ordered: dtype, T => binary(name, |a: T, b| a <= b)),
        CoreOp::Compare(Comparison::Gt) => for_dtype!(ordered: dtype, T => binary(name, |a: T, b| a > b)),
        CoreOp::Compare(Comparison::Ge) => for_dtype!(ordered: dtype, T => binary(name, |a: T, b| a >= b)),
        CoreOp::Select => Some(with_dtype!(dtype, T => select::<T>(name))),
        _ => None,
    }
}

fn unary<S: Scalar, T: Scalar>(name: &'static str, f: impl Fn(S) -> T + Send + Sync + 'static) -> Kernel {
    Kernel::new(name, move |inputs, output| {
        let entries = inputs[0].iter::<S>()?;
        output.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(y, x)| *y = f(x));
        Ok(())
    })
}

fn binary<S: Scalar, T: Scalar>(name: &'static str, f: impl Fn(S, S) -> T + Send + Sync + 'static) -> Kernel {
    Kernel::new(name, move |inputs, output| {
        let entries = inputs[0].iter::<S>()?.zip(inputs[1].iter::<S>()?);
        output.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(y, (a, b))| *y = f(a, b));
        Ok(())
    })
}

fn select<T: Scalar>(name: &'static str) -> Kernel {
    Kernel::new(name, move |inputs, output| {
        let branches = inputs[1].iter::<T>()?.zip(inputs[2].iter::<T>()?);
        let entries = inputs[0].iter::<bool>()?.zip(branches);
        output.as_mut_slice::<T>()?.iter_mut().zip(entries).for_each(|(y, (c, (a, b)))| *y = if c { a } else { b });
        Ok(())
    })
}

//! The table of the language's functions: names, arities, dtypes, and what each lowers to.

use tenferro_core::composite;
use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::{DTypeSet, Result};

use crate::suggest::nearest;
use crate::syntax::{BinaryOp, UnaryOp};

/// One function.
pub struct Function {
    /// The name in the language.
    pub name: &'static str,
    /// How it acts on its arguments.
    pub kind: Kind,
    /// The dtypes that it accepts.
    pub domain: DTypeSet,
    /// The dtype of its result.
    pub result: ResultDType,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

type BuildElementwise = fn(&mut ProgramBuilder, &[ValueId]) -> Result<ValueId>;
type BuildReduce = fn(&mut ProgramBuilder, ValueId, &[u32]) -> Result<ValueId>;

/// How a function acts.
pub enum Kind {
    /// Element by element on operands of one shape.
    Elementwise { arity: usize, build: BuildElementwise },
    /// `select`: a bool condition chooses between the other two, element by element.
    Select,
    /// Over axes, which vanish, or stay if `keeps`.
    Reduce { keeps: bool, axes: AxisCount, build: BuildReduce },
    /// Handled by the checker: the arguments are no plain tensors.
    Special(Special),
}

/// How many axes a reduction takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisCount {
    Any,
    One,
}

/// Functions with a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Einsum,
    Transpose,
    Reshape,
    Broadcast,
}

/// The dtype of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultDType {
    /// That of the operands.
    Same,
    /// The real dtype below it.
    Real,
    /// `bool`.
    Bool,
    /// `i64`.
    Index,
}

/// The functions with this name; `min` and `max` are two each, told apart by the number of arguments.
pub fn lookup(name: &str) -> impl Iterator<Item = &'static Function> + use<'_> {
    FUNCTIONS.iter().filter(move |function| function.name == name)
}

/// The name of the language nearest to a misspelt one, among `others` too.
pub fn suggestion<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, FUNCTIONS.iter().map(|function| function.name).chain(others))
}

/// What an operator computes.
pub fn binary(op: BinaryOp) -> &'static Function {
    match op {
        BinaryOp::Add => &ADD,
        BinaryOp::Sub => &SUB,
        BinaryOp::Mul => &MUL,
        BinaryOp::Div => &DIV,
        BinaryOp::Rem => &REM,
        BinaryOp::And => &AND,
        BinaryOp::Or => &OR,
        BinaryOp::Eq => &EQ,
        BinaryOp::Ne => &NE,
        BinaryOp::Lt => &LT,
        BinaryOp::Le => &LE,
        BinaryOp::Gt => &GT,
        BinaryOp::Ge => &GE,
    }
}

/// What a prefix operator computes.
pub fn unary(op: UnaryOp) -> &'static Function {
    match op {
        UnaryOp::Neg => &NEG,
        UnaryOp::Not => &NOT,
    }
}

const NUMERIC: DTypeSet = DTypeSet::NUMERIC;
const FLOAT: DTypeSet = DTypeSet::FLOAT;
const REAL: DTypeSet = DTypeSet::REAL_FLOAT;
const ORDERED: DTypeSet = DTypeSet::ORDERED;
const BOOL: DTypeSet = DTypeSet::BOOL;
const ALL: DTypeSet = DTypeSet::ALL;

const fn elementwise(name: &'static str, arity: usize, domain: DTypeSet, build: BuildElementwise) -> Function {
    Function { name, kind: Kind::Elementwise { arity, build }, domain, result: ResultDType::Same }
}

const fn reduce(name: &'static str, domain: DTypeSet, build: BuildReduce) -> Function {
    let kind = Kind::Reduce { keeps: false, axes: AxisCount::Any, build };
    Function { name, kind, domain, result: ResultDType::Same }
}

const fn normalise(name: &'static str, domain: DTypeSet, build: BuildReduce) -> Function {
    let kind = Kind::Reduce { keeps: true, axes: AxisCount::Any, build };
    Function { name, kind, domain, result: ResultDType::Same }
}

const fn special(name: &'static str, special: Special) -> Function {
    Function { name, kind: Kind::Special(special), domain: ALL, result: ResultDType::Same }
}

const fn giving(function: Function, result: ResultDType) -> Function {
    Function { result, ..function }
}

static ADD: Function = elementwise("+", 2, NUMERIC, |b, x| b.op(CoreOp::Add, x));
static SUB: Function = elementwise("-", 2, NUMERIC, |b, x| b.op(CoreOp::Sub, x));
static MUL: Function = elementwise("*", 2, NUMERIC, |b, x| b.op(CoreOp::Mul, x));
static DIV: Function = elementwise("/", 2, NUMERIC, |b, x| b.op(CoreOp::Div, x));
static REM: Function = elementwise("%", 2, ORDERED, |b, x| b.op(CoreOp::Rem, x));
static NEG: Function = elementwise("-", 1, NUMERIC, |b, x| b.op(CoreOp::Neg, x));
static AND: Function = elementwise("&&", 2, BOOL, |b, x| b.op(CoreOp::And, x));
static OR: Function = elementwise("||", 2, BOOL, |b, x| b.op(CoreOp::Or, x));
static NOT: Function = elementwise("!", 1, BOOL, |b, x| b.op(CoreOp::Not, x));
static EQ: Function = comparison("==", ALL, |b, x| b.op(CoreOp::Compare(Comparison::Eq), x));
static NE: Function = comparison("!=", ALL, |b, x| b.op(CoreOp::Compare(Comparison::Ne), x));
static LT: Function = comparison("<", ORDERED, |b, x| b.op(CoreOp::Compare(Comparison::Lt), x));
static LE: Function = comparison("<=", ORDERED, |b, x| b.op(CoreOp::Compare(Comparison::Le), x));
static GT: Function = comparison(">", ORDERED, |b, x| b.op(CoreOp::Compare(Comparison::Gt), x));
static GE: Function = comparison(">=", ORDERED, |b, x| b.op(CoreOp::Compare(Comparison::Ge), x));

const fn comparison(name: &'static str, domain: DTypeSet, build: BuildElementwise) -> Function {
    giving(elementwise(name, 2, domain, build), ResultDType::Bool)
}

static FUNCTIONS: &[Function] = &[
    elementwise("exp", 1, FLOAT, |b, x| b.op(CoreOp::Exp, x)),
    elementwise("expm1", 1, FLOAT, |b, x| b.op(CoreOp::Expm1, x)),
    elementwise("log", 1, FLOAT, |b, x| b.op(CoreOp::Log, x)),
    elementwise("log1p", 1, FLOAT, |b, x| b.op(CoreOp::Log1p, x)),
    elementwise("sin", 1, FLOAT, |b, x| b.op(CoreOp::Sin, x)),
    elementwise("cos", 1, FLOAT, |b, x| b.op(CoreOp::Cos, x)),
    elementwise("tan", 1, FLOAT, |b, x| b.op(CoreOp::Tan, x)),
    elementwise("asin", 1, FLOAT, |b, x| b.op(CoreOp::Asin, x)),
    elementwise("acos", 1, FLOAT, |b, x| b.op(CoreOp::Acos, x)),
    elementwise("atan", 1, FLOAT, |b, x| b.op(CoreOp::Atan, x)),
    elementwise("atan2", 2, REAL, |b, x| b.op(CoreOp::Atan2, x)),
    elementwise("sinh", 1, FLOAT, |b, x| b.op(CoreOp::Sinh, x)),
    elementwise("cosh", 1, FLOAT, |b, x| b.op(CoreOp::Cosh, x)),
    elementwise("tanh", 1, FLOAT, |b, x| b.op(CoreOp::Tanh, x)),
    elementwise("sqrt", 1, FLOAT, |b, x| b.op(CoreOp::Sqrt, x)),
    elementwise("rsqrt", 1, FLOAT, |b, x| b.op(CoreOp::Rsqrt, x)),
    elementwise("cbrt", 1, REAL, |b, x| b.op(CoreOp::Cbrt, x)),
    elementwise("erf", 1, REAL, |b, x| b.op(CoreOp::Erf, x)),
    elementwise("erfc", 1, REAL, |b, x| b.op(CoreOp::Erfc, x)),
    elementwise("floor", 1, REAL, |b, x| b.op(CoreOp::Floor, x)),
    elementwise("ceil", 1, REAL, |b, x| b.op(CoreOp::Ceil, x)),
    elementwise("round", 1, REAL, |b, x| b.op(CoreOp::Round, x)),
    elementwise("sign", 1, NUMERIC, |b, x| b.op(CoreOp::Sign, x)),
    giving(elementwise("abs", 1, NUMERIC, |b, x| b.op(CoreOp::Abs, x)), ResultDType::Real),
    elementwise("conj", 1, NUMERIC, |b, x| b.op(CoreOp::Conj, x)),
    giving(elementwise("real", 1, NUMERIC, |b, x| b.op(CoreOp::Real, x)), ResultDType::Real),
    giving(elementwise("imag", 1, NUMERIC, |b, x| b.op(CoreOp::Imag, x)), ResultDType::Real),
    elementwise("pow", 2, FLOAT, |b, x| b.op(CoreOp::Pow, x)),
    elementwise("max", 2, ORDERED, |b, x| b.op(CoreOp::Maximum, x)),
    elementwise("maximum", 2, ORDERED, |b, x| b.op(CoreOp::Maximum, x)),
    elementwise("min", 2, ORDERED, |b, x| b.op(CoreOp::Minimum, x)),
    elementwise("minimum", 2, ORDERED, |b, x| b.op(CoreOp::Minimum, x)),
    elementwise("clamp", 3, ORDERED, |b, x| composite::clamp(b, x[0], x[1], x[2])),
    elementwise("sigmoid", 1, REAL, |b, x| composite::sigmoid(b, x[0])),
    elementwise("softplus", 1, REAL, |b, x| composite::softplus(b, x[0])),
    elementwise("silu", 1, REAL, |b, x| composite::silu(b, x[0])),
    elementwise("relu", 1, ORDERED, |b, x| composite::relu(b, x[0])),
    elementwise("gelu", 1, REAL, |b, x| composite::gelu(b, x[0])),
    elementwise("gelu_tanh", 1, REAL, |b, x| composite::gelu_tanh(b, x[0])),
    elementwise("stop_gradient", 1, ALL, |b, x| b.op(CoreOp::StopGradient, x)),
    Function { name: "select", kind: Kind::Select, domain: ALL, result: ResultDType::Same },
    reduce("sum", NUMERIC, ProgramBuilder::sum),
    reduce("prod", NUMERIC, ProgramBuilder::prod),
    reduce("max", ORDERED, ProgramBuilder::max),
    reduce("min", ORDERED, ProgramBuilder::min),
    reduce("mean", FLOAT, composite::mean),
    reduce("logsumexp", REAL, composite::logsumexp),
    normalise("softmax", REAL, composite::softmax),
    normalise("log_softmax", REAL, composite::log_softmax),
    scan("cumsum", |b, x, axes| b.cumsum(x, axes[0])),
    scan("cumprod", |b, x, axes| b.cumprod(x, axes[0])),
    argument("argmax", |b, x, axes| b.op(CoreOp::ArgMax { axis: axes[0] }, &[x])),
    argument("argmin", |b, x, axes| b.op(CoreOp::ArgMin { axis: axes[0] }, &[x])),
    special("einsum", Special::Einsum),
    special("transpose", Special::Transpose),
    special("reshape", Special::Reshape),
    special("broadcast", Special::Broadcast),
];

const fn scan(name: &'static str, build: BuildReduce) -> Function {
    let kind = Kind::Reduce { keeps: true, axes: AxisCount::One, build };
    Function { name, kind, domain: NUMERIC, result: ResultDType::Same }
}

const fn argument(name: &'static str, build: BuildReduce) -> Function {
    let kind = Kind::Reduce { keeps: false, axes: AxisCount::One, build };
    Function { name, kind, domain: ORDERED, result: ResultDType::Index }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenferro_core::DType;

    /// What the table says of dtypes is what the builder accepts and gives.
    #[test]
    fn every_function_builds_for_every_dtype_of_its_domain() {
        let operators = [&ADD, &SUB, &MUL, &DIV, &REM, &NEG, &AND, &OR, &NOT, &EQ, &NE, &LT, &LE, &GT, &GE];
        for function in FUNCTIONS.iter().chain(operators) {
            for dtype in function.domain.iter() {
                let mut b = ProgramBuilder::new(function.name);
                let n = b.size("n");
                let x = b.input("x", dtype, &[n]).unwrap();
                let mask = b.input("mask", DType::Bool, &b.meta(x).shape.clone()).unwrap();
                let value = match &function.kind {
                    Kind::Elementwise { arity, build } => build(&mut b, &vec![x; *arity]),
                    Kind::Select => b.op(CoreOp::Select, &[mask, x, x]),
                    Kind::Reduce { build, .. } => build(&mut b, x, &[0]),
                    Kind::Special(_) => continue,
                };
                let value = value.unwrap_or_else(|error| panic!("{function:?} of {dtype}: {error}"));
                let expected = match function.result {
                    ResultDType::Same => dtype,
                    ResultDType::Real => dtype.to_real(),
                    ResultDType::Bool => DType::Bool,
                    ResultDType::Index => DType::I64,
                };
                assert_eq!(b.meta(value).dtype, expected, "{function:?} of {dtype}");
                let vanishes = matches!(function.kind, Kind::Reduce { keeps: false, .. });
                assert_eq!(b.meta(value).rank(), usize::from(!vanishes), "{function:?}");
            }
        }
    }
}

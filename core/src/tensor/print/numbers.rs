//! The text of an element, aligned with the others that are shown.

use std::fmt::{Display, LowerExp};

use num_complex::Complex;

use crate::dtype::Elements;

/// What prints the element at a position.
pub(super) type Format<'a> = Box<dyn Fn(usize) -> String + 'a>;

/// A format for the elements, such that those at the positions `shown` are aligned.
pub(super) fn format_of<'a>(elements: Elements<'a>, shown: &[usize], precision: usize) -> Format<'a> {
    match elements {
        Elements::F32(data) => real(data, shown, precision),
        Elements::F64(data) => real(data, shown, precision),
        Elements::C32(data) => complex(data, shown, precision),
        Elements::C64(data) => complex(data, shown, precision),
        Elements::I32(data) => right_aligned(data, shown, i32::to_string),
        Elements::I64(data) => right_aligned(data, shown, i64::to_string),
        Elements::Bool(data) => right_aligned(data, shown, |&b| if b { " True" } else { "False" }.into()),
    }
}

fn right_aligned<'a, T>(data: &'a [T], shown: &[usize], text: fn(&T) -> String) -> Format<'a> {
    let lengths = shown.iter().map(|&position| text(&data[position]).len());
    let width = lengths.max().unwrap_or(0);
    Box::new(move |position| format!("{:>width$}", text(&data[position])))
}

fn real<'a, F: Decimal>(data: &'a [F], shown: &[usize], precision: usize) -> Format<'a> {
    let shown: Vec<F> = shown.iter().map(|&position| data[position]).collect();
    let format = RealFormat::new(&shown, precision, false);
    Box::new(move |position| format.text(data[position]))
}

fn complex<'a, F: Decimal>(data: &'a [Complex<F>], shown: &[usize], precision: usize) -> Format<'a> {
    let re: Vec<F> = shown.iter().map(|&position| data[position].re).collect();
    let im: Vec<F> = shown.iter().map(|&position| data[position].im).collect();
    let re = RealFormat::new(&re, precision, false);
    let im = RealFormat::new(&im, precision, true);
    Box::new(move |position| {
        let imaginary = im.text(data[position].im);
        let number = imaginary.trim_end();
        let padding = &imaginary[number.len()..];
        format!("{}{number}j{padding}", re.text(data[position].re))
    })
}

/// A real float, printed as the shortest decimal that reads back.
trait Decimal: Copy + Display + LowerExp + Into<f64> {
    /// From this modulus on numbers are printed with an exponent: the digits after it would mean nothing.
    const LARGE: f64;
}

impl Decimal for f32 {
    const LARGE: f64 = 1e6;
}

impl Decimal for f64 {
    const LARGE: f64 = 1e8;
}

/// How a set of reals is printed: all with an exponent or none, decimal points below each other.
struct RealFormat {
    /// Whether there are exponents, and the digits of the longest.
    exponent_digits: Option<usize>,
    precision: usize,
    /// Columns before the decimal point.
    left: usize,
    /// Columns behind the decimal point.
    right: usize,
    /// Whether positive numbers have a sign.
    plus: bool,
}

impl RealFormat {
    fn new<F: Decimal>(shown: &[F], precision: usize, plus: bool) -> RealFormat {
        let is_finite = |x: &F| Into::<f64>::into(*x).is_finite();
        let finite: Vec<F> = shown.iter().copied().filter(is_finite).collect();
        let mut format = RealFormat { exponent_digits: None, precision, left: 0, right: 0, plus };
        if needs_exponents(&finite) {
            let numbers: Vec<_> = finite.iter().map(|&x| scientific(x, precision)).collect();
            let digits = numbers.iter().map(|n| n.exponent.unsigned_abs().to_string().len());
            let digits = digits.max().unwrap_or(0).max(2);
            let decimals = numbers.iter().map(|n| n.fraction.len()).max().unwrap_or(0);
            format.exponent_digits = Some(digits);
            format.precision = decimals;
            format.left = longest(numbers.iter().map(|n| &n.whole), plus);
            format.right = decimals + "e+".len() + digits;
        } else {
            let numbers: Vec<_> = finite.iter().map(|&x| positional(x, precision)).collect();
            format.left = longest(numbers.iter().map(|n| &n.whole), plus);
            format.right = numbers.iter().map(|n| n.fraction.len()).max().unwrap_or(0);
        }
        for x in shown.iter().filter(|x| !is_finite(x)) {
            let needed = format.special((*x).into()).len();
            format.left = format.left.max(needed.saturating_sub(format.right + 1));
        }
        format
    }

    fn text<F: Decimal>(&self, x: F) -> String {
        let (left, right) = (self.left, self.right);
        if !x.into().is_finite() {
            return format!("{:>1$}", self.special(x.into()), left + 1 + right);
        }
        let (number, tail) = match self.exponent_digits {
            Some(digits) => {
                // To full precision: the digits after the shortest decimal need not be 0 in an `f32`.
                let number = parse_scientific(&format!("{x:.0$e}", self.precision));
                let sign = if number.exponent < 0 { '-' } else { '+' };
                let padding = "0".repeat(self.precision.saturating_sub(number.fraction.len()));
                let exponent = number.exponent.unsigned_abs();
                (number, format!("{padding}e{sign}{exponent:0digits$}"))
            }
            None => (positional(x, self.precision), String::new()),
        };
        let sign = if self.plus && !number.whole.starts_with('-') { "+" } else { "" };
        let whole = format!("{sign}{}", number.whole);
        let fraction = number.fraction + &tail;
        format!("{whole:>left$}.{fraction:<right$}")
    }

    fn special(&self, x: f64) -> String {
        let sign = match x {
            _ if x < 0.0 => "-",
            _ if self.plus => "+",
            _ => "",
        };
        format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" })
    }
}

/// The length of the longest whole part, its sign included.
fn longest<'a>(wholes: impl Iterator<Item = &'a String>, plus: bool) -> usize {
    let length = |whole: &String| whole.len() + usize::from(plus && !whole.starts_with('-'));
    wholes.map(length).max().unwrap_or(0)
}

/// Whether some number is too large or too small to be told without an exponent, or they differ too much.
fn needs_exponents<F: Decimal>(finite: &[F]) -> bool {
    let moduli = finite.iter().map(|&x| Into::<f64>::into(x).abs());
    let non_zero = moduli.filter(|&x| x != 0.0);
    let (min, max) = non_zero.fold((f64::INFINITY, 0.0_f64), |(min, max), x| (min.min(x), max.max(x)));
    max > 0.0 && (max >= F::LARGE || min < 1e-4 || max / min > 1e3)
}

/// The parts of a decimal.
struct Number {
    /// Before the point, with the sign if negative.
    whole: String,
    /// Behind the point, without zeros at the end.
    fraction: String,
    exponent: i32,
}

fn positional<F: Decimal>(x: F, precision: usize) -> Number {
    let shortest = split(&format!("{x}"), 0);
    if shortest.fraction.len() <= precision {
        return shortest;
    }
    split(&format!("{x:.precision$}"), 0)
}

fn scientific<F: Decimal>(x: F, precision: usize) -> Number {
    let shortest = parse_scientific(&format!("{x:e}"));
    if shortest.fraction.len() <= precision {
        return shortest;
    }
    parse_scientific(&format!("{x:.precision$e}"))
}

fn parse_scientific(text: &str) -> Number {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    split(mantissa, exponent.parse().unwrap_or(0))
}

fn split(decimal: &str, exponent: i32) -> Number {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    Number { whole: whole.to_owned(), fraction: fraction.trim_end_matches('0').to_owned(), exponent }
}

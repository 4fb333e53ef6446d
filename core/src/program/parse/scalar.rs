//! Scalars: what [`constant`](crate::ops::CoreOp::Constant) prints.

use num_complex::Complex;

use super::ParseError;
use super::cursor::Cursor;
use crate::dtype::{DType, ScalarValue};

type Result<T> = std::result::Result<T, ParseError>;

/// A float that is read from decimals, or from bits where it is a NaN.
trait FromText: Sized + std::str::FromStr {
    const NAN: Self;
    fn is_infinite(&self) -> bool;
    /// The NaN of these bits; `None` if they are no NaN's.
    fn nan(bits: u64) -> Option<Self>;
}

impl FromText for f32 {
    const NAN: Self = f32::NAN;
    fn is_infinite(&self) -> bool {
        f32::is_infinite(*self)
    }
    fn nan(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok().map(f32::from_bits).filter(|x| x.is_nan())
    }
}

impl FromText for f64 {
    const NAN: Self = f64::NAN;
    fn is_infinite(&self) -> bool {
        f64::is_infinite(*self)
    }
    fn nan(bits: u64) -> Option<Self> {
        Some(f64::from_bits(bits)).filter(|x| x.is_nan())
    }
}

impl Cursor<'_> {
    /// A scalar of a dtype.
    pub fn scalar(&mut self, dtype: DType) -> Result<ScalarValue> {
        self.skip();
        Ok(match dtype {
            DType::F32 => ScalarValue::F32(self.float()?),
            DType::F64 => ScalarValue::F64(self.float()?),
            DType::C32 => ScalarValue::C32(self.complex()?),
            DType::C64 => ScalarValue::C64(self.complex()?),
            DType::I32 => ScalarValue::I32(self.integer()?),
            DType::I64 => ScalarValue::I64(self.integer()?),
            DType::Bool if self.take("true") => ScalarValue::Bool(true),
            DType::Bool if self.take("false") => ScalarValue::Bool(false),
            DType::Bool => return Err(self.expected("`true` or `false`")),
        })
    }

    /// The bytes that come next without a blank, as long as `accept` says so of them and the one before.
    fn run(&mut self, accept: impl Fn(u8, u8) -> bool) -> &str {
        let bytes = self.rest().as_bytes();
        let mut end = 0;
        while end < bytes.len() && accept(if end == 0 { b' ' } else { bytes[end - 1] }, bytes[end]) {
            end += 1;
        }
        // Only ASCII is accepted, so this is a character boundary.
        self.at += end;
        &self.source[self.at - end..self.at]
    }

    /// An integer of a type, with a sign or without.
    pub fn integer<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.skip();
        let start = self.at;
        let text = self.run(|before, c| c.is_ascii_digit() || (before == b' ' && c == b'-'));
        match text.parse() {
            Ok(value) => Ok(value),
            Err(_) if start == self.at => Err(self.expected("an integer")),
            Err(_) => Err(self.error(start..self.at, "this integer is out of range")),
        }
    }

    fn complex<T: FromText>(&mut self) -> Result<Complex<T>> {
        let re = self.float()?;
        if !self.rest().starts_with(['+', '-']) {
            return Err(self.expected("`+` or `-` and the imaginary part"));
        }
        let im = self.float()?;
        self.expect("i")?;
        Ok(Complex { re, im })
    }

    fn float<T: FromText>(&mut self) -> Result<T> {
        let start = self.at;
        let sign = usize::from(self.rest().starts_with(['+', '-']));
        if self.rest()[sign..].starts_with("NaN") {
            self.at += sign + 3;
            return if self.rest().starts_with('(') { self.nan_bits(start) } else { Ok(T::NAN) };
        }
        let infinite = self.rest()[sign..].starts_with("inf");
        let text = if infinite {
            self.at += sign + 3;
            &self.source[start..self.at]
        } else {
            self.run(|before, c| match c {
                b'+' | b'-' => matches!(before, b' ' | b'e'),
                c => c.is_ascii_digit() || matches!(c, b'.' | b'e'),
            })
        };
        match text.parse::<T>() {
            Ok(value) if value.is_infinite() && !infinite => {
                Err(self.error(start..self.at, "this number is out of range; infinity is `inf`"))
            }
            Ok(value) => Ok(value),
            Err(_) if text.is_empty() => Err(self.expected("a number")),
            Err(_) => Err(self.error(start..self.at, "this is no number")),
        }
    }

    /// `(0x7ff8000000000001)` after `NaN`.
    fn nan_bits<T: FromText>(&mut self, start: usize) -> Result<T> {
        self.expect("(")?;
        self.expect("0x")?;
        let bits = u64::from_str_radix(self.run(|_, c| c.is_ascii_hexdigit()), 16);
        self.expect(")")?;
        let value = bits.ok().and_then(T::nan);
        value.ok_or_else(|| self.error(start..self.at, "these are not the bits of a NaN of the dtype of the result"))
    }
}

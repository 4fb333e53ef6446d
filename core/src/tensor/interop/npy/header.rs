//! The header: a magic number, a version, and a Python dictionary of dtype, order and shape.

use std::io::Read;

use super::Order;
use super::bytes::Endian;
use crate::dtype::DType;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The elements start at a multiple of this.
const ALIGNMENT: usize = 64;

/// Headers of arrays, unlike those of records, have no reason to be longer.
const LONGEST: usize = 1 << 16;

/// What a file says of its array.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub dtype: DType,
    pub endian: Endian,
    pub order: Order,
    pub shape: Vec<usize>,
}

impl Header {
    /// Reads up to the first element. What is wrong is said as a predicate of the file.
    pub fn read(source: &mut impl Read) -> Result<Header, String> {
        let magic: [u8; 8] = exactly(source)?;
        if &magic[..6] != MAGIC {
            return Err("is no .npy file: it does not start with \\x93NUMPY".to_owned());
        }
        let len = match (magic[6], magic[7]) {
            (1, 0) => usize::from(u16::from_le_bytes(exactly(source)?)),
            (2 | 3, 0) => u32::from_le_bytes(exactly(source)?) as usize,
            (major, minor) => return Err(format!("has version {major}.{minor} of the format, known are 1.0 to 3.0")),
        };
        if len > LONGEST {
            return Err(format!("has a header of {len} bytes, at most {LONGEST} are read"));
        }
        let mut text = vec![0; len];
        source.read_exact(&mut text).map_err(|error| format!("cannot be read: {error}"))?;
        let text = std::str::from_utf8(&text).map_err(|_| "has a header that is not UTF-8".to_owned())?;
        Dictionary { rest: text }.header().map_err(|message| format!("{message} in the header `{}`", text.trim()))
    }
}

/// A header and the padding after it, in version 1.0 where that has room for it.
pub(super) fn write(dtype: DType, order: Order, shape: &[usize]) -> Vec<u8> {
    let descr = match dtype {
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C32 => "<c8",
        DType::C64 => "<c16",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::Bool => "|b1",
    };
    let fortran_order = if order == Order::ColMajor { "True" } else { "False" };
    let shape = match shape {
        // A tuple of one has a comma.
        [extent] => format!("{extent},"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': ({shape}), }}");
    let long = text.len() + ALIGNMENT > usize::from(u16::MAX);
    let before = MAGIC.len() + 2 + if long { 4 } else { 2 };
    let unpadded = before + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    if long {
        header.extend_from_slice(&[2, 0]);
        header.extend_from_slice(&(text.len() as u32).to_le_bytes());
    } else {
        header.extend_from_slice(&[1, 0]);
        header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    }
    header.extend_from_slice(text.as_bytes());
    header
}

fn exactly<const LEN: usize>(source: &mut impl Read) -> Result<[u8; LEN], String> {
    let mut bytes = [0; LEN];
    source.read_exact(&mut bytes).map_err(|error| format!("is no .npy file: {error}"))?;
    Ok(bytes)
}

/// The dtype of a description such as `<f8`.
fn dtype(descr: &str) -> Option<(DType, Endian)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let dtype = match kind {
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C32,
        "c16" => DType::C64,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "b1" => DType::Bool,
        _ => return None,
    };
    let endian = match order {
        "<" => Endian::Little,
        ">" => Endian::Big,
        "=" if cfg!(target_endian = "big") => Endian::Big,
        "=" => Endian::Little,
        // One byte has no order.
        "|" if dtype == DType::Bool => Endian::Little,
        _ => return None,
    };
    Some((dtype, endian))
}

/// The part of the dictionary that has not been read.
struct Dictionary<'a> {
    rest: &'a str,
}

impl<'a> Dictionary<'a> {
    fn header(mut self) -> Result<Header, String> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.skip("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" if self.rest.trim_start().starts_with(['[', '(']) => {
                    return Err("has a dtype of records".to_owned());
                }
                "descr" => descr = Some(self.string()?),
                "fortran_order" => order = Some(self.order()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(format!("has an unknown key `{key}`")),
            }
            if !self.skip(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err(format!("has `{}` after the dictionary", self.rest.trim()));
        }
        let missing = |key: &str| format!("has no key `{key}`");
        let (descr, order) = (descr.ok_or_else(|| missing("descr"))?, order.ok_or_else(|| missing("fortran_order"))?);
        let shape = shape.ok_or_else(|| missing("shape"))?;
        let Some((dtype, endian)) = dtype(descr) else {
            return Err(format!(
                "holds an array of dtype `{descr}` and shape {shape:?}, which is none of f4, f8, c8, c16, i4, i8 and b1,"
            ));
        };
        Ok(Header { dtype, endian, order, shape })
    }

    /// Whether the text goes on with that, which is then skipped.
    fn skip(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) { Ok(()) } else { Err(format!("has no `{token}` before `{}`", self.rest.trim())) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.skip("'") { '\'' } else { self.expect("\"").map(|()| '"')? };
        match self.rest.split_once(quote) {
            Some((text, rest)) => {
                self.rest = rest;
                Ok(text)
            }
            None => Err("has a string without an end".to_owned()),
        }
    }

    fn order(&mut self) -> Result<Order, String> {
        if self.skip("True") { Ok(Order::ColMajor) } else { self.expect("False").map(|()| Order::RowMajor) }
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.skip(")") {
            shape.push(self.extent()?);
            if !self.skip(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn extent(&mut self) -> Result<usize, String> {
        let text = self.rest.trim_start();
        let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        // Python 2 wrote long integers with an `L`.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().map_err(|_| format!("has an extent that is no size before `{}`", self.rest.trim()))
    }
}

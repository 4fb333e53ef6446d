//! The sizes: the header, and where each is read.

use std::ops::Range;

use super::extent::extent;
use super::{Parser, Result, ValueName};
use crate::dtype::DType;
use crate::program::builder::{NOT_COPIED, bind_sizes, is_unbound, unbound};
use crate::program::{Size, SizeBinding, SizeNames, ValueId};
use crate::shape::SymDim;

/// A size of the header with its place in the text.
pub(super) struct Declared {
    span: Range<usize>,
    place: Place,
}

/// Where a size is read.
enum Place {
    /// Where the inputs imply.
    Implied,
    Axis(u32, String),
    Value(ValueName, SymDim),
}

/// A size that is read off a value which is not passed yet.
pub(super) struct Unread {
    span: Range<usize>,
    value: ValueName,
}

impl Parser<'_> {
    pub(super) fn header(&mut self) -> Result<Vec<Declared>> {
        self.list(">", usize::MAX, |p| {
            p.cursor.skip();
            let start = p.cursor.at;
            let name = p.cursor.name("the name of a size")?;
            let span = start..p.cursor.at;
            if p.sizes.ids.contains_key(&name) {
                return Err(p.cursor.error(span, format!("two sizes are named `{name}`")));
            }
            let place = if p.cursor.take("=") { p.place()? } else { Place::Implied };
            // Only now, so that a bound does not mention its own size.
            p.sizes.declare(name);
            Ok(Declared { span: start..p.cursor.at, place })
        })
    }

    fn place(&mut self) -> Result<Place> {
        let value = self.value_name("`axis` or a value")?;
        self.cursor.skip();
        match value {
            // An input may have this name too: only the number tells.
            ValueName::Input(name)
                if name == "axis" && self.cursor.rest().starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let axis = self.cursor.number()?;
                self.cursor.keyword("of")?;
                Ok(Place::Axis(axis, self.cursor.name("the name of an input")?))
            }
            value => {
                self.cursor.expect("<=")?;
                Ok(Place::Value(value, extent(&mut self.cursor, &mut self.sizes)?))
            }
        }
    }

    /// Binds the sizes of axes, and notes those of values.
    pub(super) fn bind(&mut self, header: Option<Vec<Declared>>) -> Result<()> {
        let mut sizes: Vec<Size> = self.sizes.names.iter().map(|n| unbound(n.clone())).collect();
        let header = header.unwrap_or_default();
        let of_axes = header.iter().filter(|size| !matches!(size.place, Place::Value(..))).count();
        for (size, Declared { span, place }) in sizes.iter_mut().zip(&header) {
            let Place::Value(_, bound) = place else { continue };
            if bound.sizes_needed() > of_axes {
                let message = "a bound is made of sizes that are read off axes, which stand before all others";
                return Err(self.cursor.error(span.clone(), message));
            }
            size.binding = SizeBinding::Value { value: NOT_COPIED, bound: bound.clone() };
        }
        bind_sizes(&mut sizes, self.values.iter());
        for (i, Declared { span, place }) in header.into_iter().enumerate() {
            let refuse = |message: String| Err(self.cursor.error(span.clone(), message));
            match place {
                Place::Value(value, _) => self.unread.push_back(Unread { span, value }),
                _ if !self.unread.is_empty() => {
                    return refuse("sizes of axes stand before those of values".to_string());
                }
                Place::Implied => {}
                Place::Axis(axis, input) => {
                    let Some(&value) = self.inputs.get(&input) else {
                        return refuse(format!("there is no input `{input}`"));
                    };
                    let dim = self.values[value.index()].shape.get(axis as usize).and_then(SymDim::as_affine);
                    let Some((_, scale, offset)) = dim.filter(|(id, ..)| id.0 as usize == i) else {
                        return refuse(format!("axis {axis} of `{input}` does not determine this size"));
                    };
                    sizes[i].binding = SizeBinding::Axis { input: value.0, axis, scale, offset };
                }
            }
        }
        if let Some(size) = sizes.iter().find(|size| is_unbound(size)) {
            let at = self.cursor.at;
            let message = format!("size `{}` is not determined by any input", size.name);
            return Err(self.cursor.error(at - 1..at, message));
        }
        self.size_table = sizes;
        Ok(())
    }

    /// Reads the sizes of the values that are passed.
    pub(super) fn read_sizes(&mut self) -> Result<()> {
        while let Some(Unread { span, value }) = self.unread.front() {
            let Some(found) = self.value_named(value) else { return Ok(()) };
            let refuse = |message: String| Err(self.cursor.error(span.clone(), message));
            let meta = &self.values[found.index()];
            if meta.rank() != 0 || !matches!(meta.dtype, DType::I32 | DType::I64) {
                let meta = SizeNames(&self.size_table).meta(meta);
                return refuse(format!("the value of a size is an i32 or i64 scalar, not {meta}"));
            }
            let i = self.size_table.len() - self.unread.len();
            if i > 0 && self.last_read(i - 1).is_some_and(|last| found < last) {
                return refuse("this size is known before one that it stands after".to_string());
            }
            if let SizeBinding::Value { value, .. } = &mut self.size_table[i].binding {
                *value = found;
            }
            self.unread.pop_front();
        }
        Ok(())
    }

    fn last_read(&self, size: usize) -> Option<ValueId> {
        match self.size_table[size].binding {
            SizeBinding::Axis { .. } => None,
            SizeBinding::Value { value, .. } => Some(value),
        }
    }

    pub(super) fn all_sizes_read(&self) -> Result<()> {
        match self.unread.front() {
            None => Ok(()),
            Some(Unread { span, .. }) => Err(self.cursor.error(span.clone(), "there is no value that is this size")),
        }
    }
}

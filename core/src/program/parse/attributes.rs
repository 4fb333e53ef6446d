//! The attributes of a node.

use super::extent::extent;
use super::{ParseError, Parser, RANK, Result};
use crate::dtype::{DType, ScalarValue};
use crate::ops::{Axes, Comparison, Dims};
use crate::program::ValueMeta;
use crate::program::attributes::{COMPARISONS, ReadAttributes};
use crate::shape::SymDim;

/// Reads the attributes of one node.
pub(super) struct Attributes<'p, 'a> {
    pub parser: &'p mut Parser<'a>,
    pub result: &'p ValueMeta,
}

impl Attributes<'_, '_> {
    fn key(&mut self, key: &str) -> Result<()> {
        if key.is_empty() {
            return Ok(());
        }
        self.parser.cursor.keyword(key)?;
        self.parser.cursor.expect("=")
    }
}

impl ReadAttributes for Attributes<'_, '_> {
    type Error = ParseError;

    fn scalar(&mut self, key: &str) -> Result<ScalarValue> {
        self.key(key)?;
        self.parser.cursor.scalar(self.result.dtype)
    }

    fn dim(&mut self, _: &str) -> Result<SymDim> {
        extent(&mut self.parser.cursor, &mut self.parser.sizes)
    }

    fn dims(&mut self, key: &str) -> Result<Dims> {
        self.key(key)?;
        self.parser.cursor.expect("[")?;
        let dims = self.parser.list("]", RANK, |p| extent(&mut p.cursor, &mut p.sizes))?;
        Ok(dims.into())
    }

    fn list(&mut self, key: &str) -> Result<Axes> {
        self.key(key)?;
        self.parser.cursor.expect("[")?;
        Ok(self.parser.list("]", RANK, |p| p.cursor.number())?.into())
    }

    fn number(&mut self, key: &str) -> Result<u32> {
        self.key(key)?;
        self.parser.cursor.number()
    }

    fn integer(&mut self, key: &str) -> Result<i64> {
        self.key(key)?;
        self.parser.cursor.integer()
    }

    fn comparison(&mut self, key: &str) -> Result<Comparison> {
        self.key(key)?;
        let cursor = &mut self.parser.cursor;
        cursor.skip();
        let start = cursor.at;
        let name = cursor.op_name();
        let found = COMPARISONS.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| {
            cursor.at = start;
            cursor.expected("`eq`, `ne`, `lt`, `le`, `gt` or `ge`")
        })
    }

    fn result_shape(&mut self, _: &str) -> Result<Dims> {
        Ok(self.result.shape.clone())
    }

    fn result_dtype(&mut self, _: &str) -> Result<DType> {
        Ok(self.result.dtype)
    }
}

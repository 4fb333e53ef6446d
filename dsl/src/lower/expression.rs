//! Expressions to values of a program.

use std::collections::HashMap;

use tenferro_core::ops::CoreOp;
use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::{DType, Error, Result, ScalarValue};

use crate::check::tree::{Elem, Expr, Kind, Local};
use crate::functions;

/// The state of lowering one body.
pub struct Lowering {
    pub b: ProgramBuilder,
    /// The values of arguments and locals.
    pub values: HashMap<usize, ValueId>,
    /// The dtype that stands for the kernel's parameter.
    pub generic: Option<DType>,
}

impl Lowering {
    /// The dtype of an expression in this variant; a literal without context has its own.
    pub fn dtype(&self, elem: Elem) -> DType {
        match elem {
            Elem::Fixed(dtype) => dtype,
            Elem::Generic(_) => self.generic.unwrap_or(DType::F64),
            Elem::AnyNumber => DType::I64,
            Elem::AnyFloat => DType::F64,
        }
    }

    /// Equal operations are shared by the builder, so an expression may be lowered wherever it is used.
    pub fn expr(&mut self, expr: &Expr) -> Result<ValueId> {
        let dtype = self.dtype(expr.elem);
        match &expr.kind {
            Kind::Local(Local(local)) => self.values.get(local).copied().ok_or_else(|| Error::Malformed {
                program: "kernel".to_string(),
                message: format!("local {local} is used before it is computed"),
            }),
            Kind::Integer(value) => self.b.constant(integer(*value, dtype)),
            Kind::Float(value) => self.b.constant(ScalarValue::from_f64(*value, dtype)),
            Kind::Bool(value) => self.b.constant(ScalarValue::Bool(*value)),
            Kind::Size(dim) => self.b.size_value(dim, dtype),
            Kind::Elementwise(function, args) => {
                let args: Vec<ValueId> = args.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
                match function.kind {
                    functions::Kind::Elementwise { build, .. } => build(&mut self.b, &args),
                    _ => self.b.op(CoreOp::Select, &args),
                }
            }
            Kind::Reduce(function, axes, arg) => {
                let arg = self.expr(arg)?;
                match function.kind {
                    functions::Kind::Reduce { build, .. } => build(&mut self.b, arg, axes),
                    _ => Ok(arg),
                }
            }
            Kind::Cast(arg) => {
                let arg = self.expr(arg)?;
                self.b.convert(arg, dtype)
            }
            Kind::Core(op, arg) => {
                let arg = self.expr(arg)?;
                self.b.op(op.clone(), &[arg])
            }
            Kind::Einsum(op, args) => {
                let args: Vec<ValueId> = args.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
                let results = self.b.extension(op.clone(), &args)?;
                Ok(results[0]) // an einsum has one result
            }
        }
    }
}

/// An integer literal in the dtype that the context wants; i64 keeps every digit.
fn integer(value: i64, dtype: DType) -> ScalarValue {
    match dtype {
        DType::I64 => ScalarValue::I64(value),
        _ => ScalarValue::from_f64(value as f64, dtype),
    }
}

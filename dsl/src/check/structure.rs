//! Functions that only change the shape: `transpose`, `reshape`, `broadcast`.

use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;

use super::body::Checker;
use super::elementwise::Operand;
use super::sizes::{Agreement, not_negative};
use super::tree::Expr;
use crate::functions::Special;
use crate::syntax::{self, Call, ExprKind};

impl Checker<'_> {
    pub(super) fn structure(&mut self, function: Special, call: &Call) -> Option<Expr> {
        let (options, usage, arguments): (&[&str], _, _) = match function {
            Special::Transpose => (&["axes"], "transpose(x), transpose(x, axes = (1, 0, 2))", 1..=1),
            Special::Reshape => (&[], "reshape(x, [n, m])", 2..=2),
            _ => (&["axes"], "broadcast(x, [n, m], axes = (1))", 2..=2),
        };
        self.no_options(call, options)?;
        if !arguments.contains(&call.args.len()) {
            self.error(&call.name, format!("`{}` is written as `{usage}`", call.name));
            return None;
        }
        let value = self.value(&call.args[0])?;
        let operand = Operand::new(value, &call.args[0], || format!("argument 0 of `{}`", call.name));
        match function {
            Special::Transpose => self.transpose(call, operand),
            Special::Reshape => self.reshape(call, operand),
            _ => self.broadcast(call, operand),
        }
    }

    fn transpose(&mut self, call: &Call, operand: Operand) -> Option<Expr> {
        let rank = operand.value.rank();
        let axes: Vec<usize> = match call.options.first() {
            None => (0..rank).rev().collect(),
            Some((option, written)) => {
                let axes = self.axes(written, &operand)?;
                if axes.len() != rank {
                    let message = format!("`transpose` needs every axis once: {}", self.operand_text(&operand));
                    self.error(option, message);
                    return None;
                }
                axes.into_iter().map(|axis| axis as usize).collect()
            }
        };
        Some(operand.value.transpose(&axes))
    }

    fn reshape(&mut self, call: &Call, operand: Operand) -> Option<Expr> {
        let shape = self.shape(&call.args[1])?;
        let count = |shape: &[SymDim]| shape.iter().fold(SymDim::constant(1), |count, dim| &count * dim);
        let (from, to) = (count(&operand.value.shape), count(&shape));
        let possible = (&from - &to).as_const().is_none_or(|difference| difference == 0);
        if !possible
            || (self.compare(&from, &to) == Agreement::Never && from.as_affine().is_some() && to.as_affine().is_some())
        {
            let message = format!(
                "`reshape` keeps the number of entries: {} has {}, {} has {}",
                self.operand_text(&operand),
                self.sizes().dim_text(&from),
                self.sizes().shape_text(&shape),
                self.sizes().dim_text(&to)
            );
            self.error(call.args[1].place, message);
            return None;
        }
        self.require_equal(&from, &to, "`reshape`");
        Some(operand.value.core(CoreOp::Reshape { shape: shape.clone().into() }, shape))
    }

    fn broadcast(&mut self, call: &Call, operand: Operand) -> Option<Expr> {
        let shape = self.shape(&call.args[1])?;
        let axes = match call.options.first() {
            None => Vec::new(),
            Some((_, written)) => {
                let like = Operand { value: Expr { shape: shape.clone(), ..operand.value.clone() }, ..operand.clone() };
                self.axes(written, &like)?
            }
        };
        if axes.len() != operand.value.rank() {
            let message = format!(
                "`broadcast` needs for each axis of its argument the axis of the result, as `axes = (1)`: {}",
                self.operand_text(&operand)
            );
            self.error(&call.name, message);
            return None;
        }
        let wanted: Vec<SymDim> = axes.iter().map(|&axis| shape[axis as usize].clone()).collect();
        if !self.agree(&operand.value.shape, &wanted, "`broadcast`") {
            let message = format!(
                "`broadcast` to {} keeps the extents that are there: {}",
                self.sizes().shape_text(&shape),
                self.operand_text(&operand)
            );
            self.error(&call.name, message);
            return None;
        }
        let op = CoreOp::BroadcastInDim { shape: shape.clone().into(), axes: axes.into() };
        Some(operand.value.core(op, shape))
    }

    fn shape(&mut self, written: &syntax::Expr) -> Option<Vec<SymDim>> {
        let (ExprKind::List(list) | ExprKind::Tuple(list)) = &written.kind else {
            self.error(written.place, "expected a shape, as `[n, m]`");
            return None;
        };
        let dims: Vec<Option<SymDim>> =
            list.iter().map(|dim| not_negative(self.extent(dim)?, dim.place, self.diagnostics)).collect();
        dims.into_iter().collect()
    }
}

//! `einsum("ij,jk->ik", a, b, path = [(0, 1)])`: the literal is read and checked while compiling.

use tenferro_core::DTypeSet;
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, NotationError, SizeRule};

use super::body::Checker;
use super::elementwise::Operand;
use super::sizes::Agreement;
use super::tree::{Expr, Kind};
use crate::diagnostics::Place;
use crate::functions::{self, Function};
use crate::suggest::nearest;
use crate::syntax::{self, BinaryOp, Call, ExprKind};

impl Checker<'_> {
    pub(super) fn einsum(&mut self, call: &Call) -> Option<Expr> {
        self.no_options(call, &["path", "optimize"])?;
        let Some((literal, ExprKind::Text(text))) = call.args.first().map(|first| (first, &first.kind)) else {
            let place = call.args.first().map_or(Place::from(&call.name), |arg| arg.place);
            self.error(place, "the first argument of `einsum` is a string literal: `einsum(\"ij,jk->ik\", a, b)`");
            return None;
        };
        let written = &call.args[1..];
        let values: Vec<Option<Expr>> = written.iter().map(|arg| self.value(arg)).collect();
        let notation = match EinsumNotation::parse(text) {
            Ok(notation) => notation,
            Err(error) => {
                self.error(literal.place, format!("einsum: {error}"));
                return None;
            }
        };
        if notation.operand_count() != written.len() {
            let count = |n: usize| format!("{n} operand{}", if n == 1 { "" } else { "s" });
            let message = format!(
                "einsum: the notation \"{text}\" has {}, but {} {} given",
                count(notation.operand_count()),
                count(written.len()),
                if written.len() == 1 { "is" } else { "are" }
            );
            self.error(literal.place, message);
            return None;
        }
        let mut operands = Vec::new();
        for (i, (value, written)) in values.into_iter().zip(written).enumerate() {
            operands.push(value.map(|value| Operand::new(value, written, || format!("operand {i}"))));
        }
        let mut operands: Vec<Operand> = operands.into_iter().collect::<Option<_>>()?;
        let elem = self.common_dtype(einsum_function(), &mut operands, Place::from(&call.name))?;
        let shapes: Vec<&[SymDim]> = operands.iter().map(|operand| operand.value.shape.as_slice()).collect();
        let rule =
            SizeRule { agree: &|a, b| self.compare(a, b) != Agreement::Never, show: &|dim| self.sizes().dim_text(dim) };
        let op = match EinsumOp::symbolic(&notation, &shapes, &rule) {
            Ok(op) => op,
            Err(error) => {
                self.notation_error(&error, &operands, literal);
                return None;
            }
        };
        let op = self.planned(op, call, notation.fixes_order())?;
        let shape = output_shape(&op, &operands);
        let args = operands.into_iter().map(|operand| operand.value).collect();
        Some(Expr::new(Kind::Einsum(op, args), elem, shape))
    }

    /// The error with the place in the literal; on the operand, if it is about one.
    fn notation_error(&mut self, error: &NotationError, operands: &[Operand], literal: &syntax::Expr) {
        let types: Vec<String> = operands.iter().map(|operand| self.operand_text(operand)).collect();
        let place = error.operand().map_or(literal.place, |operand| operands[operand].place);
        self.error(place, format!("einsum: {error}\n{}", types.join("\n")));
    }

    /// The einsum with the plan that `path = ..` or `optimize = ..` asks for.
    fn planned(&mut self, op: EinsumOp, call: &Call, fixed: bool) -> Option<EinsumOp> {
        let Some((option, value)) = call.options.first() else { return Some(op) };
        if call.options.len() > 1 {
            self.error(&call.options[1].0, "give either `path` or `optimize`, not both");
            return None;
        }
        if fixed {
            self.error(option, format!("parentheses in the notation fix the order already: leave out `{option}`"));
            return None;
        }
        let plan = if option == "path" { self.path(value)? } else { self.method(value)? };
        match op.with_plan(plan) {
            Ok(op) => Some(op),
            Err(error) => {
                self.error(value.place, error.to_string());
                None
            }
        }
    }

    fn path(&mut self, value: &syntax::Expr) -> Option<EinsumOptimize> {
        let usage = "a path is a list of pairs of positions: `path = [(0, 1), (0, 1)]`";
        let ExprKind::List(pairs) = &value.kind else {
            self.error(value.place, usage);
            return None;
        };
        let mut path = Vec::new();
        for pair in pairs {
            let ExprKind::Tuple(positions) = &pair.kind else {
                self.error(pair.place, usage);
                return None;
            };
            let [left, right] = positions.as_slice() else {
                self.error(pair.place, usage);
                return None;
            };
            let (left, right) = (self.integer(left)?, self.integer(right)?);
            let (Ok(left), Ok(right)) = (u32::try_from(left), u32::try_from(right)) else {
                self.error(pair.place, usage);
                return None;
            };
            path.push((left, right));
        }
        Some(EinsumOptimize::Path(path.into()))
    }

    fn method(&mut self, value: &syntax::Expr) -> Option<EinsumOptimize> {
        let methods = [
            ("auto", EinsumOptimize::Auto),
            ("greedy", EinsumOptimize::Greedy),
            ("left_to_right", EinsumOptimize::LeftToRight),
            ("pairwise", EinsumOptimize::Pairwise),
            ("optimal", EinsumOptimize::Optimal),
        ];
        let names = methods.each_ref().map(|(name, _)| *name);
        let ExprKind::Name(name) = &value.kind else {
            self.error(value.place, format!("expected a method: {}", names.join(", ")));
            return None;
        };
        let text = name.to_string();
        if let Some((_, plan)) = methods.into_iter().find(|(known, _)| *known == text) {
            return Some(plan);
        }
        let message = match nearest(&text, names.into_iter()) {
            Some(near) => format!("unknown method `{text}`: did you mean `{near}`?"),
            None => format!("unknown method `{text}`: the methods are {}", names.join(", ")),
        };
        self.error(name, message);
        None
    }
}

/// Products are what einsum sums, so it takes the dtypes of `*` and says so in its own name.
fn einsum_function() -> &'static Function {
    static EINSUM: Function = Function {
        name: "einsum",
        kind: functions::Kind::Special(functions::Special::Einsum),
        domain: DTypeSet::NUMERIC,
        result: functions::ResultDType::Same,
    };
    debug_assert_eq!(functions::binary(BinaryOp::Mul).domain, EINSUM.domain);
    &EINSUM
}

/// The extents of the output's labels, from axes that do not stretch where there are any.
pub fn output_shape(op: &EinsumOp, operands: &[Operand]) -> Vec<SymDim> {
    let extent = |label: u32| {
        let axes = || {
            op.inputs
                .iter()
                .enumerate()
                .flat_map(|(i, labels)| labels.iter().enumerate().map(move |(axis, l)| (i, axis, *l)))
        };
        let found = axes()
            .find(|&(i, axis, l)| l == label && !op.stretches(i, axis))
            .or_else(|| axes().find(|&(_, _, l)| l == label));
        found.map_or(SymDim::constant(1), |(i, axis, _)| operands[i].value.shape[axis].clone())
    };
    op.output.iter().map(|&label| extent(label)).collect()
}

//! Reading: which operands an indexed expression has, and that every index fits its axis.

use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;

use super::{Indices, Label, Labelled, Node};
use crate::check::body::Checker;
use crate::check::elementwise::Operand;
use crate::check::expression::is_indexed;
use crate::check::tree::{Expr, Kind};
use crate::diagnostics::Place;
use crate::functions;
use crate::syntax::{self, BinaryOp, Call, ExprKind, IndexExpr, UnaryOp};

impl Checker<'_> {
    pub(super) fn read(&mut self, expr: &syntax::Expr, indices: &mut Indices) -> Option<Node> {
        if !is_indexed(expr) {
            return self.scalar(expr, indices);
        }
        let place = expr.place;
        match &expr.kind {
            ExprKind::Access(base, written) => self.access(expr, base, written, indices),
            ExprKind::Paren(inner) => {
                let node = self.read(inner, indices)?;
                Some(match node {
                    Node::Product { left, right, divides, place, .. } => {
                        Node::Product { left, right, divides, grouped: true, place }
                    }
                    other => other,
                })
            }
            ExprKind::Unary(UnaryOp::Neg, value) => {
                Some(Node::Negative { value: Box::new(self.read(value, indices)?), place })
            }
            ExprKind::Unary(op, value) => {
                Some(Node::Apply { function: functions::unary(*op), args: vec![self.read(value, indices)?], place })
            }
            ExprKind::Cast(value, dtype) => {
                let value = self.read(value, indices);
                let elem = self.cast_dtype(dtype);
                Some(Node::Cast { value: Box::new(value?), elem: elem?, place })
            }
            ExprKind::Binary(left, op, place, right) => {
                let (left, right) = (self.read(left, indices), self.read(right, indices));
                let (left, right, place) = (Box::new(left?), Box::new(right?), *place);
                let function = functions::binary(*op);
                Some(match op {
                    BinaryOp::Mul | BinaryOp::Div => {
                        Node::Product { left, right, divides: *op == BinaryOp::Div, grouped: false, place }
                    }
                    BinaryOp::Add | BinaryOp::Sub => Node::Sum { function, left, right, place },
                    _ => Node::Apply { function, args: vec![*left, *right], place },
                })
            }
            ExprKind::Call(call) => self.indexed_call(expr, call, indices),
            // Tuples and lists.
            _ => {
                self.error(place, "an indexed expression is one value: bind each part by itself");
                None
            }
        }
    }

    /// A part without indices must be a scalar.
    fn scalar(&mut self, expr: &syntax::Expr, indices: &Indices) -> Option<Node> {
        if let ExprKind::Name(name) = &expr.kind {
            let text = name.to_string();
            let unknown = self.find(&text).is_none() && self.sizes().find(&text).is_none();
            if unknown && indices.find(&text).is_some() {
                self.error(name, format!("`{text}` is an index: it selects entries, but has no value of its own"));
                return None;
            }
        }
        let value = self.value(expr)?;
        let operand = Operand::new(value, expr, || "this".to_string());
        if operand.value.rank() > 0 {
            let names = self.index_names(&operand.value.shape).join(", ");
            let hint = match &expr.unparenthesised().kind {
                ExprKind::Name(name) => format!("`{name}[{names}]`"),
                _ => format!("`let t = ..;` before, then `t[{names}]`"),
            };
            let message = format!(
                "in an indexed expression every axis has its index: {}, write {hint}",
                self.operand_text(&operand)
            );
            self.error(expr.place, message);
            return None;
        }
        Some(Node::Scalar(operand))
    }

    fn access(
        &mut self,
        expr: &syntax::Expr,
        base: &syntax::Expr,
        written: &[IndexExpr],
        indices: &mut Indices,
    ) -> Option<Node> {
        let value = self.value(base)?;
        let mut operand = Operand::new(value, base, || "the indexed value".to_string());
        let mut names = Vec::new();
        for index in written {
            // Anything but names has been reported for the whole expression.
            let IndexExpr::Name(name) = index else { return None };
            if matches!(self.find(&name.to_string()), Some(Some(Expr { kind: Kind::Integer(_), .. }))) {
                let message = format!(
                    "`{name}` stands for an integer, not for an index: give the index another name; fixed positions \
                     are not supported yet"
                );
                self.error(name, message);
                return None;
            }
            names.push((name.to_string(), Place::from(name)));
        }
        let rank = operand.value.rank();
        if names.len() != rank {
            let message = format!(
                "{}, so it has {rank} {}, not {}",
                self.operand_text(&operand),
                if rank == 1 { "index" } else { "indices" },
                names.len()
            );
            self.error(expr.place, message);
            return None;
        }
        let mut labels = Vec::new();
        let mut fine = true;
        for (axis, (name, place)) in names.iter().enumerate() {
            let label = indices.label(name);
            let text = format!("axis {axis} of {}", operand.text);
            let extent = operand.value.shape[axis].clone();
            fine &= self.occurrence(indices, label, &extent, *place, text);
            labels.push(label);
        }
        if !fine {
            return None;
        }
        if let Some(name) = operand.text.strip_prefix('`').and_then(|text| text.strip_suffix('`')) {
            let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            operand.text = format!("`{name}[{}]`", names.join(", "));
        }
        operand.place = expr.place;
        let (value, labels) = diagonals(operand.value, labels);
        Some(Node::Tensor(Labelled { operand: Operand { value, ..operand }, labels }))
    }

    fn indexed_call(&mut self, expr: &syntax::Expr, call: &Call, indices: &mut Indices) -> Option<Node> {
        let name = &call.name;
        if self.callee(call).is_some() {
            // A kernel of that name hides the function, and takes whole tensors.
            self.error(
                expr.place,
                format!("`{name}` is a kernel and takes whole tensors: bind its arguments by `let` first"),
            );
            return None;
        }
        let function = self.function(call)?;
        self.no_options(call, &[])?;
        let place = Place::from(name);
        match (&function.kind, &call.indices) {
            (functions::Kind::Reduce { keeps, axes, .. }, Some(over)) => {
                let value = self.read(&call.args[0], indices)?;
                let free = value.free();
                let mut labels: Vec<Label> = Vec::new();
                for index in over {
                    let text = index.to_string();
                    let label = indices.find(&text).filter(|label| free.contains(label));
                    let message = match label {
                        Some(label) if !labels.contains(&label) => {
                            labels.push(label);
                            continue;
                        }
                        Some(_) => format!("index `{text}` is there twice"),
                        None => format!("index `{text}` does not stand in the argument of `{name}[{text}]`"),
                    };
                    self.error(index, message);
                    return None;
                }
                if labels.is_empty() || (*axes == functions::AxisCount::One && labels.len() > 1) {
                    self.error(
                        name,
                        format!(
                            "`{name}[..]` needs {} index, as `{name}[j](..)`",
                            if labels.is_empty() { "an" } else { "one" }
                        ),
                    );
                    return None;
                }
                Some(Node::Reduce { function, keeps: *keeps, over: labels, value: Box::new(value), place })
            }
            (functions::Kind::Reduce { .. }, None) => {
                self.error(
                    name,
                    format!("in an indexed expression `{name}` names what it reduces: write `{name}[j](..)`"),
                );
                None
            }
            (functions::Kind::Special(_), _) => {
                self.error(
                    expr.place,
                    format!("`{name}` takes whole tensors: bind its result by `let` first, then index it"),
                );
                None
            }
            _ => {
                let args: Vec<Option<Node>> = call.args.iter().map(|arg| self.read(arg, indices)).collect();
                Some(Node::Apply { function, args: args.into_iter().collect::<Option<_>>()?, place })
            }
        }
    }
}

/// The diagonals that repeated labels stand for.
fn diagonals(mut value: Expr, mut labels: Vec<Label>) -> (Expr, Vec<Label>) {
    loop {
        let repeated = labels.iter().enumerate().find_map(|(b, label)| {
            let a = labels[..b].iter().position(|other| other == label)?;
            Some((a, b))
        });
        let Some((a, b)) = repeated else { return (value, labels) };
        let label = labels[a];
        let mut shape: Vec<SymDim> = Vec::new();
        let mut rest = Vec::new();
        for (axis, dim) in value.shape.iter().enumerate() {
            if axis != a && axis != b {
                shape.push(dim.clone());
                rest.push(labels[axis]);
            }
        }
        shape.push(value.shape[a].clone());
        rest.push(label);
        value = value.core(CoreOp::ExtractDiag { axis_a: a as u32, axis_b: b as u32 }, shape);
        labels = rest;
    }
}

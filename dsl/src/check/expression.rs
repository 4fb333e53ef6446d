//! Expressions over whole tensors.

use tenferro_core::DTypeSet;
use tenferro_core::shape::SymDim;

use super::body::Checker;
use super::elementwise::Operand;
use super::signature;
use super::tree::{Elem, Expr, Kind};
use crate::diagnostics::Place;
use crate::functions;
use crate::suggest::nearest;
use crate::syntax::{self, BinaryOp, ExprKind, IndexExpr};

impl Checker<'_> {
    /// A value: a whole-tensor expression, or an indexed one with its target.
    pub(super) fn value(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        if let Some((place, message)) = unsupported_index(expr) {
            self.error(place, message);
            return None;
        }
        if is_indexed(expr) {
            let hint = suffix_hint(expr);
            self.error(
                expr.place,
                format!(
                    "an indexed expression needs a target, which fixes its axes: write `let y{hint} = ..;` or `(..) -> {hint}`"
                ),
            );
            return None;
        }
        self.whole(expr)
    }

    /// An expression without indices.
    fn whole(&mut self, expr: &syntax::Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Integer(value) => Some(Expr::new(Kind::Integer(*value), Elem::AnyNumber, Vec::new())),
            ExprKind::Float(value) => Some(Expr::new(Kind::Float(*value), Elem::AnyFloat, Vec::new())),
            ExprKind::Bool(value) => Some(Expr::new(Kind::Bool(*value), Elem::BOOL, Vec::new())),
            ExprKind::Name(name) => self.named(name),
            ExprKind::Paren(inner) => self.whole(inner),
            ExprKind::Suffix(value, target) => self.index_notation(value, target),
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::Cast(value, dtype) => {
                let value = self.whole(value);
                let elem = self.cast_dtype(dtype);
                self.cast(value?, elem?, expr.place)
            }
            ExprKind::Unary(op, value) => {
                let operand = Operand::new(self.whole(value)?, value, || "the operand".to_string());
                self.elementwise(functions::unary(*op), vec![operand], expr.place)
            }
            ExprKind::Binary(left, op, place, right) => {
                let (a, b) = (self.whole(left), self.whole(right));
                let operands = vec![
                    Operand::new(a?, left, || "the left operand".to_string()),
                    Operand::new(b?, right, || "the right operand".to_string()),
                ];
                self.elementwise(functions::binary(*op), operands, *place)
            }
            ExprKind::Access(..) => {
                self.error(expr.place, "an index stands here without a target: write `(..) -> [i]`");
                None
            }
            ExprKind::Text(_) => {
                self.error(expr.place, "a string is no value: it stands only in `einsum(\"ij,jk->ik\", a, b)`");
                None
            }
            ExprKind::Tuple(_) => {
                self.error(expr.place, "a tuple is no value: bind it, as `let (a, b) = ..;`, or return it");
                None
            }
            ExprKind::List(_) => {
                self.error(expr.place, "a list is no value: pass tensors as arguments");
                None
            }
        }
    }

    /// What a name stands for: a value, or a size as a scalar.
    pub(super) fn named(&mut self, name: &syn::Ident) -> Option<Expr> {
        let text = name.to_string();
        if let Some(value) = self.find(&text) {
            return value.cloned();
        }
        if let Some(size) = self.sizes().find(&text) {
            return Some(Expr::new(Kind::Size(size), Elem::AnyNumber, Vec::new()));
        }
        let known = self.names().chain(self.sizes().names().iter().map(String::as_str));
        let hint = match nearest(&text, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if functions::lookup(&text).next().is_some() => {
                format!("the function of that name is called as `{text}(..)`")
            }
            None => "no argument, `let` or size has that name".to_string(),
        };
        self.error(name, format!("unknown name `{text}`: {hint}"));
        None
    }

    pub(super) fn cast_dtype(&mut self, dtype: &syn::Ident) -> Option<Elem> {
        let generic = self.signature.generic.as_ref();
        let dtype = signature::dtype(dtype, generic, self.diagnostics)?;
        Some(signature::elem(dtype, generic))
    }

    /// A conversion; a literal simply takes the dtype.
    pub(super) fn cast(&mut self, mut value: Expr, elem: Elem, place: Place) -> Option<Expr> {
        if value.fits(elem) {
            value.adapt(elem);
            return Some(value);
        }
        if !self.literals_fit(&value, elem, place) {
            return None;
        }
        value.settle();
        let complex = |elem: Elem| elem.dtypes().iter().any(|dtype| dtype.is_complex());
        if elem == Elem::BOOL {
            self.error(place, "a number is no bool: write the comparison, as `x != 0`");
            return None;
        }
        if value.elem != elem && complex(value.elem) && !elem.within(DTypeSet::COMPLEX) {
            let (from, to) = (self.elem_text(value.elem), self.elem_text(elem));
            let message = format!("{from} may be complex, {to} is not: write `real(..)`, `imag(..)` or `abs(..)`");
            self.error(place, message);
            return None;
        }
        let shape = value.shape.clone();
        Some(Expr::new(Kind::Cast(Box::new(value)), elem, shape))
    }

    /// An extent written as an expression, as in `reshape(x, [n * m])`.
    pub(super) fn extent(&mut self, expr: &syntax::Expr) -> Option<SymDim> {
        match &expr.kind {
            ExprKind::Integer(value) => Some(SymDim::constant(*value)),
            ExprKind::Paren(inner) => self.extent(inner),
            ExprKind::Name(name) => {
                let text = name.to_string();
                if let Some(size) = self.sizes().find(&text) {
                    return Some(size);
                }
                if let Some(Some(Expr { kind: Kind::Integer(value), .. })) = self.find(&text) {
                    return Some(SymDim::constant(*value));
                }
                let message = self.sizes().unknown(&text);
                self.error(name, message);
                None
            }
            ExprKind::Binary(left, op, _, right) => {
                let (a, b) = (self.extent(left), self.extent(right));
                let (a, b) = (a?, b?);
                match op {
                    BinaryOp::Add => Some(a + b),
                    BinaryOp::Sub => Some(a - b),
                    BinaryOp::Mul => Some(a * b),
                    BinaryOp::Div => {
                        self.signature.sizes.quotient(&a, &b, expr.place, &mut self.guards, self.diagnostics)
                    }
                    _ => {
                        self.error(expr.place, "expected a size: names and integers under `+ - * /`");
                        None
                    }
                }
            }
            _ => {
                self.error(expr.place, "expected a size: names and integers under `+ - * /`");
                None
            }
        }
    }
}

/// Whether indices stand in an expression that are not closed by a target.
pub fn is_indexed(expr: &syntax::Expr) -> bool {
    match &expr.kind {
        ExprKind::Access(..) => true,
        ExprKind::Suffix(..) => false,
        ExprKind::Call(call) => {
            call.indices.is_some()
                || (functions::lookup(&call.name.to_string()).next().is_some() && call.args.iter().any(is_indexed))
        }
        _ => expr.children().into_iter().any(is_indexed),
    }
}

/// An index that is no name, and what to say of it.
pub fn unsupported_index(expr: &syntax::Expr) -> Option<(Place, &'static str)> {
    let own = match &expr.kind {
        ExprKind::Access(_, indices) => indices.iter().find_map(|index| match index {
            IndexExpr::Name(_) => None,
            IndexExpr::Position(place) => {
                Some((*place, "fixed positions are not supported yet: an index is a name, as in `x[i, j]`"))
            }
            IndexExpr::Other(place) => {
                Some((*place, "affine indices are not supported yet: an index is a name, as in `x[i, j]`"))
            }
        }),
        _ => None,
    };
    own.or_else(|| expr.children().into_iter().find_map(unsupported_index))
}

/// The target that Einstein's rule would give: the indices that stand once.
fn suffix_hint(expr: &syntax::Expr) -> String {
    fn collect(expr: &syntax::Expr, names: &mut Vec<String>) {
        if let ExprKind::Access(_, indices) = &expr.kind {
            names.extend(indices.iter().filter_map(|index| match index {
                IndexExpr::Name(name) => Some(name.to_string()),
                IndexExpr::Position(_) | IndexExpr::Other(_) => None,
            }));
        }
        if !matches!(expr.kind, ExprKind::Suffix(..)) {
            expr.children().into_iter().for_each(|child| collect(child, names));
        }
    }
    let mut names = Vec::new();
    collect(expr, &mut names);
    let once: Vec<&str> = names
        .iter()
        .filter(|name| names.iter().filter(|other| other == name).count() == 1)
        .map(String::as_str)
        .collect();
    format!("[{}]", once.join(", "))
}

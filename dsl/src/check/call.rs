//! Calls: which function or kernel is meant, and reductions over whole tensors.

use tenferro_core::DType;

use super::body::Checker;
use super::elementwise::Operand;
use super::tree::{Elem, Expr, Kind};
use crate::diagnostics::Place;
use crate::functions::{self, AxisCount, Function, ResultDType, Special};
use crate::syntax::{self, Call, ExprKind};

impl Checker<'_> {
    /// The kernel of this block that a call means. Within itself a kernel's name is the function of the language,
    /// where there is one.
    pub(super) fn callee(&self, call: &Call) -> Option<usize> {
        let kernel = self.signatures.iter().position(|signature| signature.name == call.name)?;
        let itself = call.name == self.signature.name;
        let function = itself && functions::lookup(&call.name.to_string()).next().is_some();
        (!function).then_some(kernel)
    }

    /// A call with one value.
    pub(super) fn call(&mut self, expr: &syntax::Expr, call: &Call) -> Option<Expr> {
        if self.callee(call).is_some() {
            let mut values = self.kernel_call(expr, call)?;
            if values.len() != 1 {
                let names =
                    ["a", "b", "c", "d", "e", "f"].iter().take(values.len()).copied().collect::<Vec<_>>().join(", ");
                let message =
                    format!("`{0}` has {1} results: write `let ({names}) = {0}(..);`", call.name, values.len());
                self.error(expr.place, message);
                return None;
            }
            return values.pop();
        }
        let function = self.function(call)?;
        match &function.kind {
            functions::Kind::Elementwise { .. } | functions::Kind::Select => {
                self.no_options(call, &[])?;
                let operands = self.operands(call)?;
                self.elementwise(function, operands, Place::from(&call.name))
            }
            functions::Kind::Reduce { .. } => self.reduction(function, call),
            functions::Kind::Special(Special::Einsum) => self.einsum(call),
            functions::Kind::Special(special) => self.structure(*special, call),
        }
    }

    /// The function of a call, chosen by name and number of arguments.
    pub(super) fn function(&mut self, call: &Call) -> Option<&'static Function> {
        let mut name = call.name.to_string();
        let mut candidates: Vec<&'static Function> = functions::lookup(&name).collect();
        if candidates.is_empty() {
            let message = if self.find(&name).is_some() {
                format!("`{name}` is a value, not a function: write `*` for a product, `{name}[i, j]` for its entries")
            } else {
                let hint = match name.as_str() {
                    "dot" | "inner" | "vdot" => "write `x[i] * y[i] -> []`",
                    "matmul" | "mm" => "write `a[i, j] * b[j, k] -> [i, k]`, or `einsum(\"ij,jk->ik\", a, b)`",
                    "outer" => "write `x[i] * y[j] -> [i, j]`",
                    _ => "",
                };
                let kernels = self.signatures.iter().map(|signature| signature.name.to_string()).collect::<Vec<_>>();
                match functions::suggestion(&name, kernels.iter().map(String::as_str)) {
                    _ if !hint.is_empty() => format!("unknown function `{name}`: {hint}"),
                    Some(near) => format!("unknown function `{name}`: did you mean `{near}`?"),
                    None => format!(
                        "unknown function `{name}`: no function of the language or kernel of this block has that name"
                    ),
                }
            };
            self.error(&call.name, message);
            return None;
        }
        let fits = |function: &Function| arity(function).is_none_or(|arity| arity == call.args.len());
        let reduces = |function: &Function| matches!(function.kind, functions::Kind::Reduce { .. });
        if let Some(indices) = &call.indices {
            candidates.retain(|function| reduces(function));
            let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
            name = format!("{name}[{}]", indices.join(", "));
        }
        let found = candidates.iter().copied().find(|function| fits(function));
        if found.is_none() {
            let message = if candidates.is_empty() {
                format!("`{0}` works element by element and reduces nothing: write `{0}(..)`", call.name)
            } else {
                let arities: Vec<String> =
                    candidates.iter().filter_map(|function| arity(function)).map(|arity| arity.to_string()).collect();
                let plural = if arities.as_slice() == ["1"] { "" } else { "s" };
                let reduces = call.indices.is_none() && candidates.iter().any(|function| reduces(function));
                let axis = match reduces && call.args.len() == 2 {
                    true => format!("; an axis is named, as `{name}(x, axis = 1)`"),
                    false => String::new(),
                };
                format!("`{name}` takes {} argument{plural}, not {}{axis}", arities.join(" or "), call.args.len())
            };
            self.error(&call.name, message);
        }
        found
    }

    /// The arguments of a call, as operands called by name or number.
    fn operands(&mut self, call: &Call) -> Option<Vec<Operand>> {
        let values: Vec<Option<Expr>> = call.args.iter().map(|arg| self.value(arg)).collect();
        let operand = |(i, value): (usize, Option<Expr>)| {
            Some(Operand::new(value?, &call.args[i], || format!("argument {i} of `{}`", call.name)))
        };
        values.into_iter().enumerate().map(operand).collect()
    }

    /// An error unless every option is one of those allowed.
    pub(super) fn no_options(&mut self, call: &Call, allowed: &[&str]) -> Option<()> {
        let mut fine = Some(());
        for (i, (option, _)) in call.options.iter().enumerate() {
            let message = if call.options[..i].iter().any(|(other, _)| other == option) {
                format!("the option `{option}` is there twice")
            } else if allowed.contains(&option.to_string().as_str()) {
                continue;
            } else if allowed.is_empty() {
                format!("`{}` has no option `{option}`: it takes none", call.name)
            } else {
                let known: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
                format!("`{}` has no option `{option}`: it takes {}", call.name, known.join(" and "))
            };
            self.error(option, message);
            fine = None;
        }
        fine
    }

    /// `sum(x)`, `sum(x, axis = 1)`, `sum(x, axis = (0, 1))`.
    fn reduction(&mut self, function: &'static Function, call: &Call) -> Option<Expr> {
        self.no_options(call, &["axis"])?;
        let mut operands = self.operands(call)?;
        let operand = operands.pop()?;
        let axes = match call.options.first() {
            Some((_, value)) => self.axes(value, &operand)?,
            None => (0..operand.value.rank() as u32).collect(),
        };
        let one = matches!(function.kind, functions::Kind::Reduce { axes: AxisCount::One, .. });
        if one && axes.len() != 1 {
            let message = format!(
                "`{0}` needs one axis: {1}; write `{0}(.., axis = {2})`",
                function.name,
                self.operand_text(&operand),
                operand.value.rank().saturating_sub(1)
            );
            self.error(&call.name, message);
            return None;
        }
        self.reduce(function, operand, axes, Place::from(&call.name))
    }

    /// A reduction over axes that exist.
    pub(super) fn reduce(
        &mut self,
        function: &'static Function,
        operand: Operand,
        axes: Vec<u32>,
        place: Place,
    ) -> Option<Expr> {
        let functions::Kind::Reduce { keeps, axes: count, .. } = function.kind else { return None };
        let none = |&axis: &u32| operand.value.shape[axis as usize].as_const() == Some(0);
        if count == AxisCount::One && axes.iter().any(none) {
            self.error(place, format!("`{}` needs an entry: {}", function.name, self.operand_text(&operand)));
            return None;
        }
        let mut operands = [operand];
        let elem = self.common_dtype(function, &mut operands, place)?;
        let [operand] = operands;
        let mut value = operand.value;
        let elem = match function.result {
            ResultDType::Index => {
                value.settle();
                Elem::Fixed(DType::I64)
            }
            _ => elem,
        };
        let kept = |(axis, dim)| (keeps || !axes.contains(&(axis as u32))).then_some(dim);
        let shape = value.shape.clone().into_iter().enumerate().filter_map(kept).collect();
        Some(Expr::new(Kind::Reduce(function, axes, Box::new(value)), elem, shape))
    }

    /// One axis or several, each in range and there once.
    pub(super) fn axes(&mut self, written: &syntax::Expr, operand: &Operand) -> Option<Vec<u32>> {
        let list: Vec<&syntax::Expr> = match &written.unparenthesised().kind {
            ExprKind::Tuple(list) | ExprKind::List(list) => list.iter().collect(),
            _ => vec![written],
        };
        let rank = operand.value.rank();
        let mut axes = Vec::new();
        for expr in list {
            let axis = self.integer(expr)?;
            let known = u32::try_from(axis).ok().filter(|&axis| (axis as usize) < rank);
            let message = match (known, rank) {
                (Some(axis), _) if !axes.contains(&axis) => {
                    axes.push(axis);
                    continue;
                }
                (Some(axis), _) => format!("axis {axis} is there twice"),
                (None, 0) => format!("there is no axis {axis}: {}, a scalar", self.operand_text(operand)),
                (None, 1) => format!("there is no axis {axis}: {}, whose only axis is 0", self.operand_text(operand)),
                (None, _) => {
                    format!("there is no axis {axis}: {}, whose axes are 0 to {}", self.operand_text(operand), rank - 1)
                }
            };
            self.error(expr.place, message);
            return None;
        }
        Some(axes)
    }

    /// An integer that is known while compiling.
    pub(super) fn integer(&mut self, expr: &syntax::Expr) -> Option<i64> {
        let known = match &expr.unparenthesised().kind {
            ExprKind::Integer(value) => Some(*value),
            ExprKind::Unary(syntax::UnaryOp::Neg, inner) => match inner.kind {
                ExprKind::Integer(value) => Some(-value),
                _ => None,
            },
            ExprKind::Name(name) => match self.find(&name.to_string()) {
                Some(Some(Expr { kind: Kind::Integer(value), .. })) => Some(*value),
                _ => None,
            },
            _ => None,
        };
        if known.is_none() {
            self.error(expr.place, "expected an integer that is known while compiling, such as `1`");
        }
        known
    }
}

/// The number of arguments, where it is fixed.
fn arity(function: &Function) -> Option<usize> {
    match function.kind {
        functions::Kind::Elementwise { arity, .. } => Some(arity),
        functions::Kind::Select => Some(3),
        functions::Kind::Reduce { .. } => Some(1),
        functions::Kind::Special(_) => None,
    }
}

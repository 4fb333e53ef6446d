//! What operands of an elementwise function must have in common: dtype and shape.

use tenferro_core::DType;
use tenferro_core::shape::SymDim;

use super::body::Checker;
use super::sizes::Agreement;
use super::tree::{Elem, Expr, Guard, Kind};
use crate::diagnostics::Place;
use crate::functions::{self, Function, ResultDType};
use crate::lowered::Bound;
use crate::syntax::{self, ExprKind};

/// An operand with its place and how messages call it.
#[derive(Clone, Debug)]
pub struct Operand {
    pub value: Expr,
    pub place: Place,
    pub text: String,
}

impl Operand {
    /// An operand called by its name, or else by its role, as "the left operand".
    pub fn new(value: Expr, written: &syntax::Expr, role: impl FnOnce() -> String) -> Self {
        let text = match &written.unparenthesised().kind {
            ExprKind::Name(name) => format!("`{name}`"),
            ExprKind::Float(number) => format!("`{number:?}`"),
            ExprKind::Integer(number) => format!("`{number}`"),
            ExprKind::Cast(literal, dtype) => match literal.kind {
                ExprKind::Float(number) => format!("`{number:?}{dtype}`"),
                ExprKind::Integer(number) => format!("`{number}{dtype}`"),
                _ => role(),
            },
            _ => role(),
        };
        Self { value, place: written.place, text }
    }

    /// The name, if messages call it by one that is valid in the language.
    fn name(&self) -> Option<&str> {
        let name = self.text.strip_prefix('`')?.strip_suffix('`')?;
        (!name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }
}

impl Expr {
    /// Whether this can have the dtype: it has it, or it adapts and everything in it accepts the dtype.
    pub fn fits(&self, elem: Elem) -> bool {
        if self.elem == elem {
            return true;
        }
        if !self.elem.adapts() || !elem.within(self.elem.dtypes()) {
            return false;
        }
        match &self.kind {
            Kind::Elementwise(function, args) => {
                elem.within(function.domain) && args.iter().all(|arg| !arg.elem.adapts() || arg.fits(elem))
            }
            Kind::Reduce(function, _, arg) => elem.within(function.domain) && arg.fits(elem),
            Kind::Core(_, arg) => arg.fits(elem),
            Kind::Einsum(_, args) => args.iter().all(|arg| arg.fits(elem)),
            Kind::Integer(value) => !elem.dtypes().contains(DType::I32) || i32::try_from(*value).is_ok(),
            _ => true,
        }
    }

    fn is_literal(&self) -> bool {
        matches!(self.kind, Kind::Integer(_) | Kind::Float(_))
    }

    /// An integer in what adapts that keeps it from fitting.
    fn too_large(&self, elem: Elem) -> Option<i64> {
        match &self.kind {
            _ if !self.elem.adapts() => None,
            Kind::Integer(value) => (!self.fits(elem)).then_some(*value),
            Kind::Elementwise(_, args) | Kind::Einsum(_, args) => args.iter().find_map(|arg| arg.too_large(elem)),
            Kind::Reduce(_, _, arg) | Kind::Core(_, arg) => arg.too_large(elem),
            _ => None,
        }
    }

    /// Gives what still adapts the dtype that it has by itself.
    pub fn settle(&mut self) {
        let elem = match self.elem {
            Elem::AnyNumber => Elem::Fixed(DType::I64),
            Elem::AnyFloat => Elem::Fixed(DType::F64),
            _ => return,
        };
        self.adapt(elem);
    }
}

impl Checker<'_> {
    /// `f64`, `T`, or what a literal is.
    pub(super) fn elem_text(&self, elem: Elem) -> String {
        match elem {
            Elem::Fixed(dtype) => dtype.name().to_string(),
            Elem::Generic(_) => self.signature.generic.as_ref().map_or("T".to_string(), |g| g.ident.to_string()),
            Elem::AnyNumber => "an integer".to_string(),
            Elem::AnyFloat => "a float".to_string(),
        }
    }

    /// `f64[n, d]`, `f64` for a scalar.
    pub(super) fn type_text(&self, elem: Elem, shape: &[SymDim]) -> String {
        let elem = self.elem_text(elem);
        if shape.is_empty() { elem } else { format!("{elem}{}", self.sizes().shape_text(shape)) }
    }

    pub(super) fn operand_text(&self, operand: &Operand) -> String {
        format!("{} is {}", operand.text, self.type_text(operand.value.elem, &operand.value.shape))
    }

    /// Whether two shapes are equal; what only the inputs can tell becomes a guard.
    pub(super) fn agree(&mut self, a: &[SymDim], b: &[SymDim], reason: &str) -> bool {
        if a.len() != b.len() || a.iter().zip(b).any(|(a, b)| self.compare(a, b) == Agreement::Never) {
            return false;
        }
        for (a, b) in a.iter().zip(b) {
            self.require_equal(a, b, reason);
        }
        true
    }

    /// Whether two extents are equal; what a guard says already is taken for granted.
    pub(super) fn compare(&self, a: &SymDim, b: &SymDim) -> Agreement {
        let states = |guard: &Guard| (&guard.left, &guard.right) == (a, b) || (&guard.left, &guard.right) == (b, a);
        if self.guards.iter().any(states) { Agreement::Always } else { self.sizes().compare(a, b) }
    }

    /// Demands that two extents are equal, when inputs arrive if it is not settled now.
    pub(super) fn require_equal(&mut self, a: &SymDim, b: &SymDim, reason: &str) {
        if self.compare(a, b) != Agreement::Always {
            self.guards.push(Guard { left: a.clone(), right: b.clone(), reason: reason.to_string() });
        }
    }

    /// Whether every integer literal in the value fits into the dtype; reported where not.
    pub(super) fn literals_fit(&mut self, value: &Expr, elem: Elem, place: Place) -> bool {
        let Some(number) = value.too_large(elem).filter(|_| elem.dtypes().contains(DType::I32)) else { return true };
        let which = match elem {
            Elem::Generic(_) => format!("i32, which `{}` may be", self.elem_text(elem)),
            _ => "i32".to_string(),
        };
        self.error(place, format!("the integer {number} does not fit into {which}"));
        false
    }

    /// A function of whole tensors of equal shape, or of tensors and scalars.
    pub(super) fn elementwise(
        &mut self,
        function: &'static Function,
        mut operands: Vec<Operand>,
        place: Place,
    ) -> Option<Expr> {
        let elem = self.common_dtype(function, &mut operands, place)?;
        let shape = self.common_shape(function, &operands, place)?;
        let args = operands.into_iter().map(|operand| operand.value).collect();
        Some(apply(function, args, elem, shape))
    }

    /// The operands' dtype, given to those that adapt.
    pub(super) fn common_dtype(
        &mut self,
        function: &'static Function,
        operands: &mut [Operand],
        place: Place,
    ) -> Option<Elem> {
        let name = function.name;
        let chooses = matches!(function.kind, functions::Kind::Select);
        let (condition, data) = operands.split_at_mut(usize::from(chooses));
        if let Some(condition) = condition.first()
            && condition.value.elem != Elem::BOOL
        {
            let message = format!(
                "`select` chooses by a bool: {}; write a comparison, as `select(x > 0.0, a, b)`",
                self.operand_text(condition)
            );
            self.error(condition.place, message);
            return None;
        }
        // The one that the others are best converted to.
        let widest = |&i: &usize| std::cmp::Reverse(data[i].value.elem.width());
        let fixed = (0..data.len()).filter(|&i| !data[i].value.elem.adapts()).min_by_key(widest);
        let elem = match fixed {
            Some(first) => data[first].value.elem,
            None if data.iter().any(|operand| operand.value.elem == Elem::AnyFloat) => Elem::AnyFloat,
            None if function.domain.contains(DType::I64) => Elem::AnyNumber,
            None => Elem::AnyFloat,
        };
        if !self.in_domain(function, &data[fixed.unwrap_or(0)], elem, place) {
            return None;
        }
        let position = fixed.unwrap_or(0);
        let first = data[position].clone();
        for (i, operand) in data.iter_mut().enumerate() {
            if operand.value.fits(elem) || (elem == Elem::AnyFloat && operand.value.elem == Elem::AnyNumber) {
                operand.value.adapt(elem);
                continue;
            }
            if !self.literals_fit(&operand.value, elem, operand.place) {
                return None;
            }
            let message = match (operand.value.elem, elem) {
                (Elem::AnyFloat, Elem::Generic(Bound::Num)) => format!(
                    "{} is a float, but {}, which may be an integer: bound it by `Real` or `Float`",
                    operand.text,
                    self.operand_text(&first)
                ),
                (Elem::AnyFloat, _) => format!(
                    "{} is a float, but {}: convert it with `{} as f64`",
                    operand.text,
                    self.operand_text(&first),
                    first.name().unwrap_or("(..)")
                ),
                _ => {
                    let operands = if i < position { [&*operand, &first] } else { [&first, &*operand] };
                    let hint = match operands.iter().find(|operand| operand.value.is_literal()) {
                        Some(literal) => format!(
                            "drop the suffix of {}, and it takes the dtype that its context wants",
                            literal.text
                        ),
                        None => format!(
                            "convert one, as `{} as {}`",
                            operand.name().unwrap_or("(..)"),
                            self.elem_text(elem)
                        ),
                    };
                    format!(
                        "`{name}` needs equal dtypes: {}; {hint}",
                        operands.map(|operand| self.operand_text(operand)).join(", "),
                    )
                }
            };
            self.error(place, message);
            return None;
        }
        Some(elem)
    }

    /// Whether the function accepts the dtype.
    pub(super) fn in_domain(
        &mut self,
        function: &'static Function,
        operand: &Operand,
        elem: Elem,
        place: Place,
    ) -> bool {
        let name = function.name;
        let real_of_complex =
            function.result == ResultDType::Real && matches!(elem, Elem::Generic(bound) if bound != Bound::Real);
        if real_of_complex {
            let dtype = self.elem_text(elem);
            let message =
                format!("`{name}` of `{dtype}` has another dtype where `{dtype}` is complex: bound it by `Real`");
            self.error(place, message);
            return false;
        }
        if elem.within(function.domain) || (elem.adapts() && function.domain.contains(DType::F64)) {
            return true;
        }
        let operand_text = self.operand_text(operand);
        let hint = match elem {
            Elem::AnyNumber | Elem::AnyFloat => ": write a comparison, or `true`".to_string(),
            Elem::Generic(bound) => format!(", which may be {}", bound.dtypes()),
            Elem::Fixed(DType::Bool) if function.domain.contains(DType::F64) => {
                format!(": convert it with `{} as f64`", operand.name().unwrap_or("(..)"))
            }
            Elem::Fixed(dtype) if dtype.is_integer() => {
                format!(": convert it with `{} as f64`", operand.name().unwrap_or("(..)"))
            }
            _ => String::new(),
        };
        self.error(place, format!("`{name}` takes {}, but {operand_text}{hint}", function.domain));
        false
    }

    /// The shape of the operands that are no scalars.
    fn common_shape(&mut self, function: &Function, operands: &[Operand], place: Place) -> Option<Vec<SymDim>> {
        let mut tensors = operands.iter().filter(|operand| operand.value.rank() > 0);
        let Some(first) = tensors.next() else { return Some(Vec::new()) };
        for other in tensors {
            let reason = format!("`{}` of {} and {}", function.name, first.text, other.text);
            if !self.agree(&first.value.shape, &other.value.shape, &reason) {
                let hint = self.shape_hint(function, operands, first, other);
                let message = format!(
                    "`{}` needs equal shapes: {}, {}{hint}",
                    function.name,
                    self.operand_text(first),
                    self.operand_text(other)
                );
                self.error(place, message);
                return None;
            }
        }
        Some(first.value.shape.clone())
    }

    /// The index form that says what a mismatch may have meant, or else that names tell sizes apart.
    fn shape_hint(&self, function: &Function, operands: &[Operand], first: &Operand, other: &Operand) -> String {
        // Where it is in the way, an axis of extent 1 is taken away.
        let [one, two] = [first, other].map(|operand| squeezed(&operand.value.shape));
        let (large, small, kept) = if one.len() >= two.len() { (first, other, two) } else { (other, first, one) };
        let as_it_is = placement(&small.value.shape, &large.value.shape);
        let reshaped = as_it_is.is_none().then(|| self.sizes().shape_text(&kept));
        if let Some(axes) = as_it_is.or_else(|| placement(&kept, &large.value.shape)) {
            let indices = self.index_names(&large.value.shape);
            let written = |operand: &Operand, letter: &str| {
                let name = operand.name().unwrap_or(letter);
                match operand.value.rank() {
                    0 => operand.text.trim_matches('`').to_string(),
                    rank if rank == indices.len() && operand.value.shape == large.value.shape => {
                        format!("{name}[{}]", indices.join(", "))
                    }
                    _ => {
                        let chosen: Vec<&str> = axes.iter().map(|&axis| indices[axis].as_str()).collect();
                        let indices =
                            if chosen.is_empty() { String::new() } else { format!("[{}]", chosen.join(", ")) };
                        match &reshaped {
                            Some(shape) => format!("reshape({name}, {shape}){indices}"),
                            None => format!("{name}{indices}"),
                        }
                    }
                }
            };
            let texts: Vec<String> =
                operands.iter().zip(["a", "b", "c"]).map(|(operand, letter)| written(operand, letter)).collect();
            let value = match texts.as_slice() {
                [left, right] if !function.name.starts_with(char::is_alphabetic) => {
                    format!("{left} {} {right}", function.name)
                }
                texts => format!("{}({})", function.name, texts.join(", ")),
            };
            let target = self.target.as_deref().unwrap_or("y");
            return format!("; write the indices: `let {target}[{}] = {value};`", indices.join(", "));
        }
        let differing = first.value.shape.iter().zip(&other.value.shape).find(|(a, b)| a != b);
        match differing {
            Some((a, b)) if first.value.rank() == other.value.rank() && a.as_size().and(b.as_size()).is_some() => {
                let (a, b) = (self.sizes().dim_text(a), self.sizes().dim_text(b));
                format!("; if `{a}` and `{b}` are one size, give them one name")
            }
            _ => String::new(),
        }
    }

    /// One index for each axis: the size's own name where it is a name and not taken.
    pub(super) fn index_names(&self, shape: &[SymDim]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for dim in shape {
            let own = dim.as_size().map(|_| self.sizes().dim_text(dim)).filter(|name| !names.contains(name));
            let name = own.unwrap_or_else(|| {
                let fresh = ["i", "j", "k", "l", "p", "q", "r", "s"].into_iter();
                let free = |name: &&str| !names.iter().any(|n| n == name) && self.sizes().find(name).is_none();
                fresh.clone().find(free).unwrap_or("i").to_string()
            });
            names.push(name);
        }
        names
    }
}

/// The function applied to operands that agree; scalars among them are repeated to the shape.
pub fn apply(function: &'static Function, args: Vec<Expr>, elem: Elem, shape: Vec<SymDim>) -> Expr {
    let mut args: Vec<Expr> =
        args.into_iter().map(|arg| if arg.rank() == 0 { arg.broadcast(&shape, Vec::new()) } else { arg }).collect();
    let elem = match function.result {
        ResultDType::Same => elem,
        ResultDType::Real => match elem {
            Elem::Fixed(dtype) => Elem::Fixed(dtype.to_real()),
            other => other,
        },
        ResultDType::Bool | ResultDType::Index => {
            args.iter_mut().for_each(Expr::settle);
            Elem::Fixed(if function.result == ResultDType::Bool { DType::Bool } else { DType::I64 })
        }
    };
    Expr::new(Kind::Elementwise(function, args), elem, shape)
}

/// The extents but those that are 1.
fn squeezed(shape: &[SymDim]) -> Vec<SymDim> {
    shape.iter().filter(|dim| dim.as_const() != Some(1)).cloned().collect()
}

/// For each axis of `small` a different axis of `large` with the same extent, the last ones first.
fn placement(small: &[SymDim], large: &[SymDim]) -> Option<Vec<usize>> {
    let mut axes = vec![0; small.len()];
    let mut taken = vec![false; large.len()];
    for (i, dim) in small.iter().enumerate().rev() {
        let axis = (0..large.len()).rev().find(|&axis| !taken[axis] && large[axis] == *dim)?;
        taken[axis] = true;
        axes[i] = axis;
    }
    Some(axes)
}

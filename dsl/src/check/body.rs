//! Bodies: statements, names and their scopes, results.

use std::collections::HashSet;

use syn::Ident;
use tenferro_core::shape::SymDim;

use super::signature::Signature;
use super::sizes::Sizes;
use super::tree::{Body, Elem, Expr, Guard, Kind, Local, Step};
use crate::diagnostics::{Diagnostics, Place};
use crate::syntax::{self, ExprKind, Statement};

/// Checks one body; also says which kernels it calls.
pub fn check(
    kernel: &syntax::Kernel,
    this: usize,
    signatures: &[Signature],
    diagnostics: &mut Diagnostics,
) -> (Option<Body>, Vec<usize>) {
    let errors = diagnostics.len();
    let signature = &signatures[this];
    let mut checker = Checker {
        diagnostics,
        signatures,
        signature,
        scope: Vec::new(),
        locals: signature.params.len(),
        steps: Vec::new(),
        guards: signature.guards.clone(),
        calls: Vec::new(),
        turns: 0,
        target: None,
    };
    for (i, (param, ty)) in kernel.params.iter().zip(&signature.param_types).enumerate() {
        let binding = ty.as_ref().map(|ty| Expr::new(Kind::Local(Local(i)), ty.elem, ty.shape.clone()));
        checker.bind(&param.name, binding);
    }
    checker.statements(&kernel.body.statements);
    let results = checker.results(&kernel.body);
    checker.unused_arguments(kernel);
    let Checker { steps, guards, calls, diagnostics, .. } = checker;
    let body = results.filter(|_| diagnostics.len() == errors && kernel.body.whole);
    (body.map(|results| Body { steps, results, guards }), calls)
}

/// The state of checking one body.
pub struct Checker<'a> {
    pub(super) diagnostics: &'a mut Diagnostics,
    pub(super) signatures: &'a [Signature],
    /// The signature of the kernel that is checked.
    pub(super) signature: &'a Signature,
    /// Names with what they stand for, the innermost last; `None` if that was wrong.
    scope: Vec<(String, Option<Expr>)>,
    locals: usize,
    steps: Vec<Step>,
    pub(super) guards: Vec<Guard>,
    calls: Vec<usize>,
    /// The turns of loops so far.
    turns: usize,
    /// The name that is being bound, for suggestions.
    pub(super) target: Option<String>,
}

impl Checker<'_> {
    pub(super) fn error(&mut self, place: impl Into<Place>, message: impl Into<String>) {
        self.diagnostics.error(place, message);
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.signature.sizes
    }

    /// What a name stands for: nothing, something wrong, or a value.
    pub(super) fn find(&self, name: &str) -> Option<Option<&Expr>> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_ref())
    }

    /// The names in scope.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.scope.iter().map(|(name, _)| name.as_str())
    }

    fn bind(&mut self, name: &Ident, value: Option<Expr>) {
        self.scope.push((name.to_string(), value));
    }

    fn rebind(&mut self, name: &str, value: Option<Expr>) {
        if let Some((_, binding)) = self.scope.iter_mut().rev().find(|(known, _)| known == name) {
            *binding = value;
        }
    }

    fn new_local(&mut self) -> Local {
        self.locals += 1;
        Local(self.locals - 1)
    }

    /// Computes a value once and refers to it. What adapts to its context is no value yet and stays as it is, unless
    /// it has grown so large that repeating it would be costly: then it takes the dtype that it has by itself.
    pub(super) fn stored(&mut self, mut value: Expr) -> Expr {
        const ADAPTING: usize = 100;
        if value.elem.adapts() && value.nodes() > ADAPTING {
            value.settle();
        }
        if value.elem.adapts() || matches!(value.kind, Kind::Local(_)) {
            return value;
        }
        let local = self.new_local();
        let reference = Expr::new(Kind::Local(local), value.elem, value.shape.clone());
        self.steps.push(Step::Let(local, value));
        reference
    }

    /// Records the call of a kernel and refers to its results.
    pub(super) fn call_step(
        &mut self,
        kernel: usize,
        generic: Option<Elem>,
        args: Vec<Expr>,
        types: Vec<(Elem, Vec<SymDim>)>,
    ) -> Vec<Expr> {
        let results: Vec<Expr> =
            types.into_iter().map(|(elem, shape)| Expr::new(Kind::Local(self.new_local()), elem, shape)).collect();
        let locals = (self.locals - results.len()..self.locals).map(Local).collect();
        self.steps.push(Step::Call { kernel, generic, args, results: locals });
        results
    }

    /// Remembers that the body calls a kernel.
    pub(super) fn note_call(&mut self, kernel: usize) {
        if !self.calls.contains(&kernel) {
            self.calls.push(kernel);
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { names, tuple: false, value } => {
                let [name] = names.as_slice() else { return };
                let value = self.assigned(name, value);
                self.bind(name, value);
            }
            Statement::Let { names, tuple: true, value } => self.let_tuple(names, value),
            Statement::LetIndexed { name, target, value } => {
                self.target = Some(name.to_string());
                let value = self.index_notation(value, target).map(|value| self.stored(value));
                self.bind(name, value);
            }
            Statement::Assign { name, value } => {
                let known = self.find(&name.to_string()).is_some();
                let value = self.assigned(name, value);
                if known {
                    self.rebind(&name.to_string(), value);
                } else {
                    self.error(name, format!("`{name}` is not bound yet: write `let {name} = ..;`"));
                    self.bind(name, None);
                }
            }
            Statement::For { name, start, end, place, body } => self.unroll(name, *start..*end, *place, body),
            Statement::Broken { names, .. } => names.iter().for_each(|name| self.bind(name, None)),
        }
    }

    fn assigned(&mut self, name: &Ident, value: &syntax::Expr) -> Option<Expr> {
        self.target = Some(name.to_string());
        let value = self.value(value)?;
        Some(self.stored(value))
    }

    fn let_tuple(&mut self, names: &[Ident], value: &syntax::Expr) {
        self.target = None;
        let values = self.values(value);
        if let Some(values) = values
            && self.count(value.place, values.len(), names.len())
        {
            for (name, value) in names.iter().zip(values) {
                let value = self.stored(value);
                self.bind(name, Some(value));
            }
            return;
        }
        names.iter().for_each(|name| self.bind(name, None));
    }

    fn count(&mut self, place: Place, values: usize, names: usize) -> bool {
        if values != names {
            let plural = if values == 1 { "" } else { "s" };
            self.error(place, format!("this has {values} value{plural}, but {names} are bound"));
        }
        values == names
    }

    /// A loop, its body once a turn; after a turn with errors the others would only repeat them.
    fn unroll(&mut self, name: &Ident, turns: std::ops::Range<i64>, place: Place, body: &[Statement]) {
        const LIMIT: usize = 4096;
        let depth = self.scope.len();
        let errors = self.diagnostics.len();
        for turn in turns {
            self.turns += 1;
            if self.turns > LIMIT {
                self.error(place, format!("loops are unrolled while compiling: at most {LIMIT} turns in a kernel"));
                return;
            }
            self.bind(name, Some(Expr::new(Kind::Integer(turn), Elem::AnyNumber, Vec::new())));
            self.statements(body);
            self.scope.truncate(depth);
            if self.diagnostics.len() > errors {
                return;
            }
        }
    }

    /// The values of an expression that may have several: a tuple, or a call of a kernel.
    fn values(&mut self, expr: &syntax::Expr) -> Option<Vec<Expr>> {
        match &expr.unparenthesised().kind {
            ExprKind::Tuple(list) => {
                let values: Vec<Option<Expr>> = list.iter().map(|expr| self.value(expr)).collect();
                values.into_iter().collect()
            }
            ExprKind::Call(call) if self.callee(call).is_some() => self.kernel_call(expr, call),
            _ => Some(vec![self.value(expr)?]),
        }
    }

    fn results(&mut self, body: &syntax::Body) -> Option<Vec<Expr>> {
        self.target = None;
        let Some(expr) = &body.value else {
            if body.whole {
                self.error(body.end, "the body has no result: end it with an expression, without `;`");
            }
            return None;
        };
        let values = self.values(expr)?;
        let declared = self.signature.output_types.len();
        if values.len() != declared {
            let (are, s) = if values.len() == 1 { ("is", "") } else { ("are", "s") };
            let message = format!(
                "`{}` has {declared} result{}, but here {are} {} value{s}",
                self.signature.name,
                if declared == 1 { "" } else { "s" },
                values.len()
            );
            self.error(expr.place, message);
            return None;
        }
        let places: Vec<Place> = match &expr.unparenthesised().kind {
            ExprKind::Tuple(list) => list.iter().map(|expr| expr.place).collect(),
            _ => vec![expr.place; declared],
        };
        let signature = self.signature;
        let results: Vec<Option<Expr>> = values
            .into_iter()
            .zip(&signature.output_types)
            .zip(places)
            .enumerate()
            .map(|(i, ((value, declared), place))| {
                let declared = declared.as_ref()?;
                let what = match (&signature.outputs.list[i].name, signature.outputs.list.len()) {
                    (Some(name), _) => format!("the result `{name}` of `{}`", signature.name),
                    (None, 1) => format!("the result of `{}`", signature.name),
                    (None, _) => format!("result {i} of `{}`", signature.name),
                };
                self.conform(value, declared.elem, &declared.shape, place, &what)
            })
            .collect();
        results.into_iter().collect()
    }

    /// The value as one of a declared type.
    pub(super) fn conform(
        &mut self,
        mut value: Expr,
        elem: Elem,
        shape: &[SymDim],
        place: Place,
        what: &str,
    ) -> Option<Expr> {
        let declared = self.type_text(elem, shape);
        let actual = self.type_text(value.elem, &value.shape);
        if value.fits(elem) {
            value.adapt(elem);
        }
        if !self.literals_fit(&value, elem, place) {
            return None;
        }
        if value.elem != elem {
            let same_shape = value.shape == shape;
            let hint = match (elem, same_shape) {
                (Elem::Fixed(dtype), true) => format!(": convert with `as {dtype}`"),
                _ => String::new(),
            };
            self.error(place, format!("{what} is {declared}, but this is {actual}{hint}"));
            return None;
        }
        let reason = what.to_string();
        if !self.agree(&value.shape, shape, &reason) {
            let hint = self.result_hint(&value.shape, shape);
            self.error(place, format!("{what} is {declared}, but this is {actual}{hint}"));
            return None;
        }
        Some(value)
    }

    /// How to come from a shape to another one, if one step does it.
    fn result_hint(&self, actual: &[SymDim], declared: &[SymDim]) -> String {
        if actual.len() == 2 && declared.len() == 2 && actual[0] == declared[1] && actual[1] == declared[0] {
            return ": write `transpose(..)`, or the indices in the other order".to_string();
        }
        if actual.is_empty() && !declared.is_empty() {
            return format!(": write `broadcast(.., {})`", self.sizes().shape_text(declared));
        }
        String::new()
    }

    fn unused_arguments(&mut self, kernel: &syntax::Kernel) {
        let mut used = HashSet::new();
        used_names(&kernel.body.statements, &mut used);
        kernel.body.value.iter().for_each(|value| names_in(value, &mut used));
        for param in &kernel.params {
            let name = param.name.to_string();
            if !name.starts_with('_') && !used.contains(&name) {
                let message = format!("the argument `{name}` is not used: remove it, or call it `_{name}`");
                self.error(&param.name, message);
            }
        }
    }
}

fn used_names(statements: &[Statement], used: &mut HashSet<String>) {
    for statement in statements {
        match statement {
            Statement::Let { value, .. } | Statement::LetIndexed { value, .. } | Statement::Assign { value, .. } => {
                names_in(value, used);
            }
            Statement::For { body, .. } => used_names(body, used),
            Statement::Broken { used: names, .. } => used.extend(names.iter().map(ToString::to_string)),
        }
    }
}

fn names_in(expr: &syntax::Expr, used: &mut HashSet<String>) {
    if let ExprKind::Name(name) = &expr.kind {
        used.insert(name.to_string());
    }
    for child in expr.children() {
        names_in(child, used);
    }
}

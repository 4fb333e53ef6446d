//! `einsum("ij,jk->ik", a, b, path = [(0, 1)])`: the literal is read and checked while compiling.

use tenferro_core::DTypeSet;
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Goal, Nested, NotationError, Objective, SizeRule};

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
        self.no_options(call, &["path", "nested", "optimize", "objective", "memory_limit"])?;
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

    /// The einsum with the plan that `path = ..`, `nested = ..` or `optimize = ..` asks for, and the goal of
    /// `objective = ..` and `memory_limit = ..`.
    fn planned(&mut self, mut op: EinsumOp, call: &Call, fixed: bool) -> Option<EinsumOp> {
        let mut goal = Goal::DEFAULT;
        let mut order: Option<String> = None;
        for (option, value) in &call.options {
            let name = option.to_string();
            match name.as_str() {
                "objective" => goal.objective = self.objective(value)?,
                "memory_limit" => goal.memory_limit = Some(self.natural(value, "a number of elements")?),
                _ => {
                    if let Some(other) = &order {
                        self.error(option, format!("give either `{other}` or `{name}`, not both"));
                        return None;
                    }
                    if fixed {
                        let message =
                            format!("parentheses in the notation fix the order already: leave out `{option}`");
                        self.error(option, message);
                        return None;
                    }
                    let plan = match name.as_str() {
                        "path" => self.path(value)?,
                        "nested" => EinsumOptimize::Nested(self.nested(value)?),
                        _ => self.method(value)?,
                    };
                    op = self.accepted(value, op.with_plan(plan))?;
                    order = Some(name);
                }
            }
        }
        match call.options.last() {
            Some((_, value)) if goal != Goal::DEFAULT => self.accepted(value, op.with_goal(goal)),
            _ => Some(op),
        }
    }

    fn accepted(&mut self, value: &syntax::Expr, op: tenferro_core::Result<EinsumOp>) -> Option<EinsumOp> {
        op.map_err(|error| self.error(value.place, error.to_string())).ok()
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

    /// `((0, 1), 2)`: operands by number, groups in parentheses.
    fn nested(&mut self, value: &syntax::Expr) -> Option<Nested> {
        let members = match &value.unparenthesised().kind {
            ExprKind::Tuple(members) => members,
            _ => return Some(Nested::Operand(self.small(value, "the number of an operand")?)),
        };
        let members: Option<Vec<Nested>> = members.iter().map(|member| self.nested(member)).collect();
        Some(Nested::Group(members?.into()))
    }

    fn objective(&mut self, value: &syntax::Expr) -> Option<Objective> {
        const OBJECTIVES: [&str; 4] = ["time", "flops", "size", "weighted"];
        let (name, numbers) = self.choice(value, "an objective", &OBJECTIVES)?;
        let mut numbers = Numbers { checker: self, value, name: &name, given: numbers };
        let objective = match name.as_str() {
            "flops" => Objective::Flops,
            "size" => Objective::Size,
            "weighted" => Objective::Weighted { flops: numbers.small("flops")?, size: numbers.small("size")? },
            _ => Objective::Time,
        };
        numbers.finish()?;
        Some(objective)
    }

    fn method(&mut self, value: &syntax::Expr) -> Option<EinsumOptimize> {
        const METHODS: [&str; 7] =
            ["auto", "greedy", "left_to_right", "pairwise", "optimal", "random_greedy", "tree_sa"];
        let (name, numbers) = self.choice(value, "a method", &METHODS)?;
        let mut numbers = Numbers { checker: self, value, name: &name, given: numbers };
        let plan = match name.as_str() {
            "greedy" => EinsumOptimize::Greedy,
            "left_to_right" => EinsumOptimize::LeftToRight,
            "pairwise" => EinsumOptimize::Pairwise,
            "optimal" => EinsumOptimize::Optimal,
            "random_greedy" => {
                EinsumOptimize::RandomGreedy { trials: numbers.small("trials")?, seed: numbers.take("seed")? }
            }
            "tree_sa" => EinsumOptimize::TreeSA {
                nbetas: numbers.small("nbetas")?,
                ntrials: numbers.small("ntrials")?,
                niters: numbers.small("niters")?,
                seed: numbers.take("seed")?,
            },
            _ => EinsumOptimize::Auto,
        };
        numbers.finish()?;
        Some(plan)
    }

    /// `name` or `name(key = number, ..)`, with one of the known names.
    fn choice(&mut self, value: &syntax::Expr, what: &str, known: &[&str]) -> Option<(String, Vec<(String, u64)>)> {
        let (name, options) = match &value.kind {
            ExprKind::Name(name) => (name, &[][..]),
            ExprKind::Call(call) if call.args.is_empty() && call.indices.is_none() => {
                (&call.name, call.options.as_slice())
            }
            _ => {
                self.error(value.place, format!("expected {what}: {}", known.join(", ")));
                return None;
            }
        };
        let text = name.to_string();
        if !known.contains(&text.as_str()) {
            let kind = what.split(' ').next_back().unwrap_or(what);
            let message = match nearest(&text, known.iter().copied()) {
                Some(near) => format!("unknown {kind} `{text}`: did you mean `{near}`?"),
                None => format!("unknown {kind} `{text}`: there are {}", known.join(", ")),
            };
            self.error(name, message);
            return None;
        }
        let mut numbers = Vec::new();
        for (key, number) in options {
            numbers.push((key.to_string(), self.natural(number, "a number")?));
        }
        Some((text, numbers))
    }

    /// An integer that is not negative.
    fn natural(&mut self, value: &syntax::Expr, what: &str) -> Option<u64> {
        let count = u64::try_from(self.integer(value)?).ok();
        if count.is_none() {
            self.error(value.place, format!("expected {what}, not below 0"));
        }
        count
    }

    fn small(&mut self, value: &syntax::Expr, what: &str) -> Option<u32> {
        let small = u32::try_from(self.natural(value, what)?).ok();
        if small.is_none() {
            self.error(value.place, format!("expected {what}, below 2^32"));
        }
        small
    }
}

/// The numbers given to a method, each taken once.
struct Numbers<'a, 'b, 'c> {
    checker: &'a mut Checker<'c>,
    value: &'b syntax::Expr,
    name: &'b str,
    given: Vec<(String, u64)>,
}

impl Numbers<'_, '_, '_> {
    fn take(&mut self, key: &str) -> Option<u64> {
        let Some(place) = self.given.iter().position(|(name, _)| name == key) else {
            self.checker.error(self.value.place, format!("`{}` needs `{key} = ..`", self.name));
            return None;
        };
        Some(self.given.swap_remove(place).1)
    }

    fn small(&mut self, key: &str) -> Option<u32> {
        let number = u32::try_from(self.take(key)?).ok();
        if number.is_none() {
            self.checker.error(self.value.place, format!("`{key}` of `{}` must be below 2^32", self.name));
        }
        number
    }

    /// Nothing is left.
    fn finish(self) -> Option<()> {
        let Some((key, _)) = self.given.first() else { return Some(()) };
        self.checker.error(self.value.place, format!("`{}` has no `{key}`, or has it twice", self.name));
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

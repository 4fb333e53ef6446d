//! The payload in the text form of a program: what [`EinsumOp`] prints, read back.

use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;

use tenferro_core::Error;
use tenferro_core::extension::ExtensionRef;
use tenferro_core::program::{PayloadError, PayloadParser};

use crate::notation::EinsumNotation;
use crate::objective::{Goal, Objective};
use crate::op::{EinsumOp, FAMILY_ID};
use crate::planning::{EinsumOptimize, NESTED_DEPTH, Nested};
use crate::tree::ContractionTree;

/// Reads einsums in the text form of a program, for
/// [`SemanticProgram::parse_with`](tenferro_core::program::SemanticProgram::parse_with).
///
/// ```
/// use tenferro_core::program::SemanticProgram;
/// use tenferro_einsum::EinsumPayloads;
/// let text = "\
/// program product(x: f64[n, m], y: f64[m, k]) -> f64[n, k] {
///   %2 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[n, k]
///   return %2
/// }
/// ";
/// assert_eq!(SemanticProgram::parse_with(text, &[&EinsumPayloads])?.to_string(), text);
/// # Ok::<(), tenferro_core::program::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EinsumPayloads;

impl PayloadParser for EinsumPayloads {
    fn family_id(&self) -> &str {
        FAMILY_ID
    }

    fn parse_payload(&self, text: &str) -> Result<(ExtensionRef, usize), PayloadError> {
        let (op, rest) = read(text).map_err(|(span, message)| PayloadError::new(span, message))?;
        Ok((op.into(), text.len() - rest.len()))
    }
}

/// A place in the text and what is wrong there.
type Refusal = (Range<usize>, String);

/// The einsum at the start of a text, and what follows it.
fn read(text: &str) -> Result<(EinsumOp, &str), Refusal> {
    let notation = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let Some((notation, rest)) = notation else {
        return Err((0..text.len().min(1), "expected an einsum notation between quotes".to_owned()));
    };
    let end = text.len() - rest.len();
    let (plan, goal, after) = options(rest).map_err(|message| (end..text.len(), message))?;
    let op = einsum(notation, plan).map_err(|(span, message)| (span.start + 1..span.end + 1, message))?;
    let op = op.with_goal(goal).map_err(|error| (end..text.len(), error.to_string()))?;
    Ok((op, after))
}

/// The einsum of a notation without ellipsis and parentheses: a payload has neither.
fn einsum(notation: &str, plan: EinsumOptimize) -> Result<EinsumOp, Refusal> {
    let all = 0..notation.len();
    let parsed = EinsumNotation::parse(notation).map_err(|error| (error.span(), error.message().to_owned()))?;
    if let Some(at) = notation.find(['.', '(', ')']) {
        return Err((at..at + 1, "a payload has no ellipsis and no parentheses".to_owned()));
    }
    let operands = notation.split_once("->").map_or(notation, |(operands, _)| operands);
    let axes = |term: &str| term.chars().filter(|c| c.is_alphabetic()).count();
    let ranks: Vec<usize> = operands.split(',').map(axes).collect();
    let mut stretch = Vec::new();
    for (operand, term) in operands.split(',').enumerate() {
        let mut axis = 0u32;
        for c in term.chars() {
            match c {
                '#' => stretch.push((operand as u32, axis)),
                c => axis += u32::from(c.is_alphabetic()),
            }
        }
    }
    let labels = parsed.resolve(&ranks).map_err(|error| (error.span(), error.message().to_owned()))?;
    EinsumOp::new(labels, &stretch, plan).map_err(|error| (all, error.to_string()))
}

/// The text of an einsum: its payload's, as it prints.
impl FromStr for EinsumOp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (op, rest) = read(text).map_err(|error| refused(text, &error))?;
        if rest.trim().is_empty() {
            return Ok(op);
        }
        Err(Error::argument("einsum", "text", format!("goes on after the einsum: `{}`", rest.trim())))
    }
}

/// The text of a plan, as it prints: `optimize = greedy`, `path = [(0, 1)]`.
impl FromStr for EinsumOptimize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |message: String| Error::argument("einsum", "plan", message);
        let written = format!(", {text}");
        let (plan, goal, rest) = options(&written).map_err(refuse)?;
        if goal != Goal::DEFAULT || !rest.trim().is_empty() {
            return Err(refuse(format!("is no plan: `{text}`")));
        }
        Ok(plan)
    }
}

/// The text of a goal, as it prints: `objective = flops, memory_limit = 1000`, or nothing.
impl FromStr for Goal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |message: String| Error::argument("einsum", "goal", message);
        let written = if text.trim().is_empty() { String::new() } else { format!(", {text}") };
        let (plan, goal, rest) = options(&written).map_err(refuse)?;
        if plan != EinsumOptimize::Auto || !rest.trim().is_empty() {
            return Err(refuse(format!("is no goal: `{text}`")));
        }
        goal.check()?;
        Ok(goal)
    }
}

/// The text of a tree, as [`ContractionTree::to_text`] gives it: with the tree in it, so that nothing is searched for.
impl FromStr for ContractionTree {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (op, rest) = read(text).map_err(|error| refused(text, &error))?;
        let mut cursor = Cursor(rest);
        if !matches!(op.plan, EinsumOptimize::Tree { .. }) {
            let message = format!("has no `tree = ..`, but `{}`", op.plan);
            return Err(Error::argument("einsum", "text", message));
        }
        let refuse = |message: String| Error::argument("einsum", "shapes", message);
        let mut shapes = Vec::new();
        cursor.expect(':').map_err(refuse)?;
        while !cursor.blank() {
            shapes.push(cursor.list('[', ']', Cursor::number::<usize>).map_err(refuse)?);
        }
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        op.tree(&shapes)
    }
}

impl ContractionTree {
    /// The tree as one line of text, which [`str::parse`] reads back: the einsum with the tree as its plan, and the
    /// shapes of the operands. It is the same in every process, so a plan that took long can be kept. Of more than
    /// 86,000 labels the last have no letters, and a text that cannot be read back.
    ///
    /// ```
    /// use tenferro_einsum::{ContractionTree, EinsumNotation, EinsumOp};
    /// let shapes: [&[usize]; 3] = [&[2, 3], &[3, 4], &[4]];
    /// let tree = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,k->i")?, &shapes)?.tree(&shapes)?;
    /// let text = tree.to_text();
    /// assert_eq!(text, "\"ij,jk,k->i\", tree = [(1, 2), (0, 3)] : [2, 3] [3, 4] [4]");
    /// assert_eq!(text.parse::<ContractionTree>()?.steps(), tree.steps());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_text(&self) -> String {
        let op = EinsumOp { plan: self.plan(), ..self.op().clone() };
        let mut text = format!("{op} :");
        for shape in self.shapes() {
            text += &format!(" {shape:?}");
        }
        text
    }
}

fn refused(text: &str, (span, message): &Refusal) -> Error {
    Error::argument("einsum", "text", format!("is no einsum: {message}: `{}`", text.get(span.clone()).unwrap_or(text)))
}

/// The plan and goal after the notation, `, optimize = greedy, memory_limit = 1000`, and what follows them.
fn options(text: &str) -> Result<(EinsumOptimize, Goal, &str), String> {
    let mut cursor = Cursor(text);
    let (mut plan, mut goal) = (None, Goal::DEFAULT);
    let mut seen: Vec<&str> = Vec::new();
    while cursor.eat(',') {
        let key = cursor.word();
        cursor.expect('=').map_err(|_| "expected `optimize = ..` or `path = ..`".to_owned())?;
        let is_plan = matches!(key, "optimize" | "path" | "nested" | "tree");
        if seen.contains(&key) || (is_plan && plan.is_some()) {
            return Err(format!("`{key}` is one option too many"));
        }
        seen.push(key);
        match (key, &mut plan) {
            ("optimize", _) => plan = Some(method(&mut cursor)?),
            ("path", _) => plan = Some(EinsumOptimize::Path(cursor.list('[', ']', positions)?.into())),
            ("nested", _) => plan = Some(EinsumOptimize::Nested(nested(&mut cursor, 0)?)),
            ("tree", _) => {
                let pairs = cursor.list('[', ']', positions)?.into();
                plan = Some(EinsumOptimize::Tree { pairs, slices: Cow::Borrowed(&[]) });
            }
            ("slices", Some(EinsumOptimize::Tree { slices, .. })) => {
                *slices = cursor.list('[', ']', Cursor::number::<u32>)?.into();
            }
            ("objective", _) => goal.objective = objective(&mut cursor)?,
            ("memory_limit", _) => goal.memory_limit = Some(cursor.number()?),
            (key, _) => return Err(format!("there is no option `{key}` here; there are {OPTIONS}")),
        }
    }
    Ok((plan.unwrap_or_default(), goal, cursor.0))
}

const OPTIONS: &str = "`optimize`, `path`, `nested`, `tree` with `slices`, `objective` and `memory_limit`";

/// `greedy`, `random_greedy(trials = 8, seed = 1)`
fn method(cursor: &mut Cursor<'_>) -> Result<EinsumOptimize, String> {
    Ok(match cursor.word() {
        "auto" => EinsumOptimize::Auto,
        "greedy" => EinsumOptimize::Greedy,
        "left_to_right" => EinsumOptimize::LeftToRight,
        "pairwise" => EinsumOptimize::Pairwise,
        "optimal" => EinsumOptimize::Optimal,
        "random_greedy" => {
            let [trials, seed] = cursor.numbers(["trials", "seed"])?;
            EinsumOptimize::RandomGreedy { trials: small("trials", trials)?, seed }
        }
        "tree_sa" => {
            let [nbetas, ntrials, niters, seed] = cursor.numbers(["nbetas", "ntrials", "niters", "seed"])?;
            let (nbetas, ntrials) = (small("nbetas", nbetas)?, small("ntrials", ntrials)?);
            EinsumOptimize::TreeSA { nbetas, ntrials, niters: small("niters", niters)?, seed }
        }
        name => return Err(format!("there is no plan `{name}`")),
    })
}

fn objective(cursor: &mut Cursor<'_>) -> Result<Objective, String> {
    Ok(match cursor.word() {
        "time" => Objective::Time,
        "flops" => Objective::Flops,
        "size" => Objective::Size,
        "weighted" => {
            let [flops, size] = cursor.numbers(["flops", "size"])?;
            Objective::Weighted { flops: small("flops", flops)?, size: small("size", size)? }
        }
        name => return Err(format!("there is no objective `{name}`")),
    })
}

fn small(name: &str, value: u64) -> Result<u32, String> {
    value.try_into().map_err(|_| format!("`{name}` is {value}, which is too large"))
}

/// `(0, 1)`
fn positions(cursor: &mut Cursor<'_>) -> Result<(u32, u32), String> {
    let expected = |_| "expected pairs of positions as `(0, 1)`".to_owned();
    let pair = cursor.list('(', ')', Cursor::number).map_err(expected)?;
    let [left, right] = pair[..] else { return Err(expected(String::new())) };
    Ok((left, right))
}

/// `((0, 1), 2)`
fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Nested, String> {
    if depth > NESTED_DEPTH {
        return Err(format!("more than {NESTED_DEPTH} groups in each other"));
    }
    if cursor.next_is('(') {
        return Ok(Nested::Group(cursor.list('(', ')', |cursor| nested(cursor, depth + 1))?.into()));
    }
    Ok(Nested::Operand(cursor.number()?))
}

/// What is left to read.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn blank(&mut self) -> bool {
        self.0 = self.0.trim_start();
        self.0.is_empty()
    }

    fn next_is(&mut self, c: char) -> bool {
        self.0.trim_start().starts_with(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.eat(c) { Ok(()) } else { Err(format!("expected `{c}`")) }
    }

    /// Letters, digits and underscores, perhaps none.
    fn word(&mut self) -> &'a str {
        let text = self.0.trim_start();
        let end = text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        word
    }

    fn number<N: FromStr>(&mut self) -> Result<N, String> {
        let word = self.word();
        word.parse().map_err(|_| format!("expected a number, not `{word}`"))
    }

    /// Items between brackets with commas between them, and perhaps one after the last.
    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// `(trials = 8, seed = 1)`: each of the names once, in any order.
    fn numbers<const N: usize>(&mut self, names: [&str; N]) -> Result<[u64; N], String> {
        let given = self.list('(', ')', |cursor| {
            let name = cursor.word();
            cursor.expect('=')?;
            Ok((name, cursor.number()?))
        })?;
        let mut numbers = [0; N];
        for (place, name) in names.iter().enumerate() {
            let mut values = given.iter().filter(|(other, _)| other == name);
            numbers[place] = values.next().ok_or_else(|| format!("`{name}` is missing"))?.1;
        }
        if given.len() > N {
            return Err(format!("expected {}, each once", names.join(", ")));
        }
        Ok(numbers)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::subscripts::Subscripts;

    fn parse(text: &str) -> Result<(EinsumOp, usize), PayloadError> {
        let (op, length) = EinsumPayloads.parse_payload(text)?;
        Ok((op.as_any().downcast_ref::<EinsumOp>().unwrap().clone(), length))
    }

    fn op() -> impl Strategy<Value = EinsumOp> {
        let term = || proptest::collection::vec(0u32..60, 0..5);
        let marks = proptest::collection::vec((0u32..4, 0u32..5), 0..4);
        let choices = (0usize..11, 0usize..8);
        (proptest::collection::vec(term(), 1..5), term(), marks, choices).prop_map(
            |(inputs, output, marks, choices)| {
                let (plan, limit) = choices;
                let known = |label: &u32| inputs.iter().any(|labels| labels.contains(label));
                let output: Vec<u32> = output.into_iter().filter(known).collect();
                let exists =
                    |&(i, axis): &(u32, u32)| inputs.get(i as usize).is_some_and(|l| (axis as usize) < l.len());
                let marks: Vec<(u32, u32)> = marks.into_iter().filter(exists).collect();
                let count = inputs.len() as u32;
                let first = inputs.iter().flatten().next().map(|_| 0);
                let pairs: Vec<(u32, u32)> =
                    (1..count).map(|next| (if next == 1 { 0 } else { count + next - 2 }, next)).collect();
                let nested = Nested::Group((0..count).map(Nested::Operand).collect());
                let plans = [
                    EinsumOptimize::Auto,
                    EinsumOptimize::Greedy,
                    EinsumOptimize::LeftToRight,
                    EinsumOptimize::Pairwise,
                    EinsumOptimize::Optimal,
                    EinsumOptimize::Path(vec![(0, 1); inputs.len() - 1].into()),
                    EinsumOptimize::RandomGreedy { trials: 3, seed: u64::MAX },
                    EinsumOptimize::tree_sa(5),
                    EinsumOptimize::Nested(Nested::Group(vec![nested].into())),
                    EinsumOptimize::Tree { pairs: pairs.clone().into(), slices: Cow::Borrowed(&[]) },
                    EinsumOptimize::Tree { pairs: pairs.into(), slices: first.into_iter().collect() },
                ];
                let goal = Goal {
                    objective: [
                        Objective::Time,
                        Objective::Flops,
                        Objective::Size,
                        Objective::Weighted { flops: 2, size: 1 },
                    ][limit % 4],
                    memory_limit: (limit > 3).then_some(limit as u64),
                };
                let labels = Subscripts::new(inputs, output);
                EinsumOp::new(labels, &marks, plans[plan].clone()).unwrap().with_goal(goal).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn payloads_are_read_back(op in op()) {
            let text = op.to_string();
            prop_assert_eq!(parse(&text), Ok((op.clone(), text.len())));
            prop_assert_eq!(&text.parse::<EinsumOp>().unwrap(), &op);
            prop_assert_eq!(&op.plan.to_string().parse::<EinsumOptimize>().unwrap(), &op.plan);
            prop_assert_eq!(op.goal.to_string().parse::<Goal>().unwrap(), op.goal);
            prop_assert_eq!(parse(&format!("{text} x \"y, z\" : f64")), Ok((op, text.len())));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}", start in "\"[a-c#,. ()->]{0,20}(\"|, )?") {
            for text in [&text, &start, &format!("{start}{text}")] {
                if let Ok((op, length)) = parse(text) {
                    prop_assert_eq!(parse(&op.to_string()).unwrap().0, op);
                    prop_assert!(text.is_char_boundary(length));
                }
            }
        }
    }

    #[test]
    fn errors_have_a_place() {
        for (text, span, part) in [
            ("x", 0..1, "between quotes"),
            ("\"ij,jk->im\" x", 9..10, "`m` is on no operand"),
            ("\"...i->i\" x", 1..2, "no ellipsis"),
            ("\"ij->\", optimize = best x", 6..25, "no plan `best`"),
            ("\"ij->\", path = [(0)] x", 6..22, "pairs of positions"),
            ("\"ij->\", order = 1", 6..17, "no option `order`"),
            ("\"ij->\", slices = [0]", 6..20, "no option `slices`"),
            ("\"ij->\", path = [], optimize = auto", 6..34, "one option too many"),
            ("\"ij->\", optimize = tree_sa(seed = 1)", 6..36, "`nbetas` is missing"),
            ("\"ij->\", optimize = random_greedy(trials = 1, seed = 1, trials = 2)", 6..66, "each once"),
            ("\"ij->\", objective = speed", 6..25, "no objective `speed`"),
            ("\"ij->\", memory_limit = 0", 6..24, "is 0"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.span == span && error.message.contains(part), "{text}: {error:?}");
        }
    }
}

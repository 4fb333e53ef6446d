//! Reading the text form of a program.
//!
//! ```text
//! program   := "program" name sizes? "(" (input ("," input)*)? ")" "->" outputs "{" guard* node* return "}"
//! sizes     := "<" size ("," size)* ">"            where the inputs alone do not tell order and binding
//! size      := name ("=" ("axis" number "of" name | operand "<=" extent))?
//! input     := name ":" type
//! outputs   := type | "(" ((name ":")? type, ..)? ")"
//! type      := dtype ("[" extent ("," extent)* "]")?
//! guard     := "guard" extent ("==" | "<=") extent "," string
//! node      := (result ("," result)* "=")? op attributes operand* ":" (type ("," type)*)?
//!              where the attributes of a checkpointed call are the program that it calls
//! result    := "%" number
//! operand   := result | name
//! return    := "return" (operand ("," operand)*)?
//! ```
//!
//! A name is an identifier, or a string as Rust writes it. Blanks and line ends have no meaning between words, `//`
//! starts a comment; only the payload of an extension ends with its line. Numbers of results need not be in order.
//! Everything an operation implies is inferred and compared with what is written.

mod attributes;
mod cursor;
mod error;
mod extent;
mod payload;
mod scalar;
mod sizes;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::str::FromStr;

use super::attributes as core_attributes;
use super::builder::infer;
use super::finish::extent_guards;
use super::{
    Fingerprint, Guard, Input, Node, Op, Output, Relation, SemanticProgram, Size, SizeNames, ValueId, ValueMeta,
};
use crate::ad::Checkpoint;
use crate::dtype::DType;
use crate::extension::ExtensionRef;
use crate::shape::SymDim;
use attributes::Attributes;
use cursor::Cursor;
use extent::{SizeTable, extent};
use sizes::Unread;

pub(super) use cursor::name_text;
pub use error::ParseError;
pub use payload::{PayloadError, PayloadParser};

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// The largest rank, and the longest list of an attribute.
const RANK: usize = 64;
/// How many programs a program may stand in.
const DEPTH: usize = 64;
/// The largest number of operands, of results, and of terms in the product of the extents of a shape.
const COUNT: usize = 4096;

impl SemanticProgram {
    /// Reads the text form of a program that has no extension; [`parse_with`](Self::parse_with) reads others.
    ///
    /// `SemanticProgram::parse(&p.to_string())` is `p`, to the bits of its constants. The time is proportional to the
    /// length of the text. Ranks over 64, nodes of over 64 results or 4096 operands, extents of over 256 factors, and
    /// checkpointed programs within over 64 others are refused.
    ///
    /// # Errors
    /// A text that is no program or whose types or shapes do not fit, with the place.
    ///
    /// ```
    /// use tenferro_core::program::SemanticProgram;
    /// let program = SemanticProgram::parse("
    ///     program relu(x: f64[n]) -> f64[n] {
    ///       %1 = constant 0.0 : f64
    ///       %2 = broadcast_in_dim axes=[] %1 : f64[n]
    ///       %3 = maximum x %2 : f64[n]
    ///       return %3
    ///     }")?;
    /// assert_eq!(SemanticProgram::parse(&program.to_string())?, program);
    /// let error = SemanticProgram::parse("program f(x: f64) -> f64 { return y }").unwrap_err();
    /// assert_eq!(error.to_string(), "\
    /// line 1, column 35: there is no value `y`
    ///     program f(x: f64) -> f64 { return y }
    ///                                       ^");
    /// # Ok::<(), tenferro_core::program::ParseError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with(text, &[])
    }

    /// Reads the text form of a program whose extensions belong to the families of `families`.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and for an extension of another family.
    pub fn parse_with(text: &str, families: &[&dyn PayloadParser]) -> Result<Self> {
        let mut parser = Parser::new(Cursor { source: text, at: 0 }, families, 0);
        let program = parser.program()?;
        parser.cursor.skip();
        match parser.cursor.rest() {
            "" => Ok(program),
            _ => Err(parser.cursor.expected("the end of the text")),
        }
    }
}

impl FromStr for SemanticProgram {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    families: &'a [&'a dyn PayloadParser],
    /// How many programs this one stands in.
    depth: usize,
    sizes: SizeTable,
    size_table: Vec<Size>,
    /// The sizes, the last of the table, whose values are not read yet.
    unread: VecDeque<Unread>,
    values: Vec<ValueMeta>,
    /// The inputs by name, the results by the number after `%`.
    inputs: HashMap<String, ValueId>,
    results: HashMap<u32, ValueId>,
    guards: Vec<Guard>,
    stated: HashSet<(SymDim, Relation, SymDim)>,
}

impl<'a> Parser<'a> {
    fn new(cursor: Cursor<'a>, families: &'a [&'a dyn PayloadParser], depth: usize) -> Self {
        Self {
            cursor,
            families,
            depth,
            sizes: SizeTable::default(),
            size_table: Vec::new(),
            unread: VecDeque::new(),
            values: Vec::new(),
            inputs: HashMap::new(),
            results: HashMap::new(),
            guards: Vec::new(),
            stated: HashSet::new(),
        }
    }

    fn program(&mut self) -> Result<SemanticProgram> {
        self.cursor.keyword("program")?;
        let name = self.cursor.name("the name of the program")?;
        let header = if self.cursor.take("<") { Some(self.header()?) } else { None };
        self.sizes.open = header.is_none();
        let inputs = self.inputs()?;
        self.sizes.open = false;
        self.bind(header)?;
        self.read_sizes()?;
        self.cursor.expect("->")?;
        let results = self.outputs()?;
        self.cursor.expect("{")?;

        let mut nodes = Vec::new();
        let outputs = loop {
            self.cursor.skip();
            let start = self.cursor.at;
            match self.cursor.op_name() {
                "guard" => self.guard()?,
                "return" => break self.returned(results, start)?,
                _ => {
                    self.cursor.at = start;
                    nodes.push(self.node()?);
                    self.read_sizes()?;
                }
            }
        };
        self.all_sizes_read()?;
        self.cursor.expect("}")?;
        let extents: Vec<Guard> = extent_guards(&self.values, &self.size_table).collect();
        extents.into_iter().for_each(|guard| self.state(guard, false));
        let mut program = SemanticProgram {
            name: name.into(),
            sizes: std::mem::take(&mut self.size_table).into(),
            inputs: inputs.into(),
            values: std::mem::take(&mut self.values).into(),
            nodes: nodes.into(),
            outputs: outputs.into(),
            guards: std::mem::take(&mut self.guards).into(),
            fingerprint: Fingerprint(0),
        };
        program.fingerprint = program.compute_fingerprint();
        if cfg!(debug_assertions) {
            let whole = 0..0;
            program.verify().map_err(|error| self.cursor.error(whole, error.to_string()))?;
        }
        Ok(program)
    }

    /// The items of a list that `close` ends, the opening mark having been passed.
    fn list<T>(&mut self, close: &str, limit: usize, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let start = self.cursor.at;
        let mut items = Vec::new();
        if self.cursor.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if items.len() > limit {
                return Err(self.cursor.error(start..self.cursor.at, format!("a list has at most {limit} entries")));
            }
            if !self.cursor.take(",") {
                self.cursor.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn inputs(&mut self) -> Result<Vec<Input>> {
        self.cursor.expect("(")?;
        self.list(")", usize::MAX, |p| {
            p.cursor.skip();
            let start = p.cursor.at;
            let name = p.cursor.name("the name of an input")?;
            let span = start..p.cursor.at;
            p.cursor.expect(":")?;
            let meta = p.type_()?;
            let value = p.push(meta);
            if p.inputs.insert(name.clone(), value).is_some() {
                return Err(p.cursor.error(span, format!("two inputs are named `{name}`")));
            }
            Ok(Input { name: name.into() })
        })
    }

    fn push(&mut self, meta: ValueMeta) -> ValueId {
        let value = ValueId(self.values.len() as u32);
        self.values.push(meta);
        value
    }

    fn outputs(&mut self) -> Result<Vec<(Option<String>, ValueMeta)>> {
        if !self.cursor.take("(") {
            return Ok(vec![(None, self.type_()?)]);
        }
        self.list(")", usize::MAX, |p| {
            // A dtype may be a name too: only the colon tells.
            let start = p.cursor.at;
            if p.cursor.peek_name() {
                let name = p.cursor.name("a name")?;
                if p.cursor.take(":") {
                    return Ok((Some(name), p.type_()?));
                }
                p.cursor.at = start;
            }
            Ok((None, p.type_()?))
        })
    }

    fn type_(&mut self) -> Result<ValueMeta> {
        self.cursor.skip();
        let start = self.cursor.at;
        let word = self.cursor.op_name();
        let Some(dtype) = DType::from_name(word) else {
            self.cursor.at = start;
            return Err(match word {
                "" => self.cursor.expected("a type"),
                _ => self.cursor.error(start..start + word.len(), format!("there is no dtype `{word}`")),
            });
        };
        if !self.cursor.take("[") {
            return Ok(ValueMeta::new(dtype, Vec::new()));
        }
        let shape = self.list("]", RANK, |p| extent(&mut p.cursor, &mut p.sizes))?;
        // Shape rules multiply extents: the product must stay small.
        let terms = |d: &SymDim| (d.terms.len() + usize::from(d.constant != 0)).max(1);
        if shape.iter().try_fold(1usize, |n, d| n.checked_mul(terms(d)).filter(|n| *n <= COUNT)).is_none() {
            let message = format!("the product of these extents has over {COUNT} terms");
            return Err(self.cursor.error(start..self.cursor.at, message));
        }
        Ok(ValueMeta::new(dtype, shape))
    }

    fn guard(&mut self) -> Result<()> {
        let lhs = extent(&mut self.cursor, &mut self.sizes)?;
        let relation = match () {
            () if self.cursor.take(Relation::Eq.symbol()) => Relation::Eq,
            () if self.cursor.take(Relation::Le.symbol()) => Relation::Le,
            () => return Err(self.cursor.expected("`==` or `<=`")),
        };
        let rhs = extent(&mut self.cursor, &mut self.sizes)?;
        self.cursor.expect(",")?;
        let reason = self.cursor.string()?.into();
        self.state(Guard { lhs, relation, rhs, reason }, true);
        Ok(())
    }

    /// Adds a guard; one that is implied only if it is not stated yet.
    fn state(&mut self, guard: Guard, written: bool) {
        if self.stated.insert((guard.lhs.clone(), guard.relation, guard.rhs.clone())) || written {
            self.guards.push(guard);
        }
    }

    fn node(&mut self) -> Result<Node> {
        let mut results = Vec::new();
        while self.cursor.take("%") {
            let start = self.cursor.at - 1;
            let number = self.cursor.number()?;
            if self.results.contains_key(&number) || results.contains(&number) {
                return Err(self.cursor.error(start..self.cursor.at, format!("%{number} is defined twice")));
            }
            results.push(number);
            if results.len() > RANK {
                return Err(self.cursor.error(start..self.cursor.at, format!("a node has at most {RANK} results")));
            }
            if !self.cursor.take(",") {
                self.cursor.expect("=")?;
                break;
            }
        }
        self.cursor.skip();
        let start = self.cursor.at;
        let name = self.cursor.op_name();
        let span = start..self.cursor.at;
        if name.is_empty() {
            return Err(self.cursor.expected("a node, a guard or `return`"));
        }
        let (op, inputs, types) =
            if name.contains('.') { self.extension(name, &span, &results)? } else { self.core(name, &span)? };

        let metas: Vec<&ValueMeta> = inputs.iter().map(|v| &self.values[v.index()]).collect();
        let (inferred, guards) = infer(&op, &metas, SizeNames(&self.size_table))
            .map_err(|error| self.cursor.error(span.clone(), error.to_string()))?;
        if inferred.len() != results.len() || inferred.len() != types.len() {
            let (have, written) = (inferred.len(), results.len());
            let message = format!("{name} has {have} results; {written} are written, and {} types", types.len());
            return Err(self.cursor.error(span, message));
        }
        for (inferred, (meta, span)) in inferred.iter().zip(&types) {
            if inferred != meta {
                let message = format!("{name} gives {}", SizeNames(&self.size_table).meta(inferred));
                return Err(self.cursor.error(span.clone(), message));
            }
        }
        let attributes = if let Op::Core(op) = &op { op.dims() } else { Vec::new() };
        let mut dims = attributes.into_iter().chain(inferred.iter().flat_map(|meta| meta.shape.iter()));
        let known = self.size_table.len() - self.unread.len();
        if let Some(early) = dims.find(|dim| dim.sizes_needed() > known) {
            let message = format!("{} is not known yet", SizeNames(&self.size_table).dim(early));
            return Err(self.cursor.error(span, message));
        }
        for guard in guards {
            self.state(guard, false);
        }
        let first_output = ValueId(self.values.len() as u32);
        for (number, meta) in results.into_iter().zip(inferred) {
            let value = self.push(meta);
            self.results.insert(number, value);
        }
        let output_count = self.values.len() as u32 - first_output.0;
        Ok(Node { op, inputs: inputs.into(), first_output, output_count })
    }

    fn core(&mut self, name: &str, span: &Range<usize>) -> Result<(Op, Vec<ValueId>, Vec<Typed>)> {
        // The types come last, but attributes may be theirs.
        let attributes = self.cursor.at;
        if !self.cursor.find_colon()? {
            return Err(self.cursor.error(span.clone(), "`:` and the type of the result are missing"));
        }
        self.cursor.expect(":")?;
        let types = self.types()?;
        let end = std::mem::replace(&mut self.cursor.at, attributes);
        let op = core_attributes::read(name, &mut Attributes { parser: self, result: &types[0].0 })?;
        let Some(op) = op else {
            return Err(self.cursor.error(span.clone(), unknown_operation(name)));
        };
        let inputs = self.operands()?;
        self.cursor.at = end;
        Ok((Op::Core(op), inputs, types))
    }

    fn extension(
        &mut self,
        name: &str,
        span: &Range<usize>,
        results: &[u32],
    ) -> Result<(Op, Vec<ValueId>, Vec<Typed>)> {
        let op = if name == Checkpoint::FAMILY_ID { self.checkpoint(span)? } else { self.payload(name, span)? };
        let inputs = self.operands()?;
        let types = if results.is_empty() { Vec::new() } else { self.types()? };
        Ok((Op::Extension(op), inputs, types))
    }

    /// The program that is called.
    fn checkpoint(&mut self, span: &Range<usize>) -> Result<ExtensionRef> {
        if self.depth == DEPTH {
            return Err(self.cursor.error(span.clone(), format!("a program stands in at most {DEPTH} others")));
        }
        let cursor = Cursor { source: self.cursor.source, at: self.cursor.at };
        let mut callee = Parser::new(cursor, self.families, self.depth + 1);
        let program = callee.program()?;
        self.cursor.at = callee.cursor.at;
        let call = Checkpoint::new(program.into()).map_err(|e| self.cursor.error(span.clone(), e.to_string()))?;
        Ok(call.into())
    }

    /// What the parser of the family reads off the line.
    fn payload(&mut self, name: &str, span: &Range<usize>) -> Result<ExtensionRef> {
        let Some(family) = self.families.iter().find(|f| f.family_id() == name) else {
            return Err(self.cursor.error(span.clone(), format!("no parser of the family `{name}` was given")));
        };
        let line = self.cursor.rest();
        let line = line.split_once('\n').map_or(line, |(line, _)| line);
        let text = line.trim_start();
        let start = self.cursor.at + line.len() - text.len();
        let (op, length) = family.parse_payload(text).map_err(|error| {
            // Whatever the parser says, the error is at a place of the line.
            let inside = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
            let (from, to) = (inside(error.span.start), inside(error.span.end));
            self.cursor.error(start + from..start + to.max(from), error.message)
        })?;
        if !text.is_char_boundary(length) {
            let message = format!("the parser of `{name}` passed the end of the line");
            return Err(self.cursor.error(span.clone(), message));
        }
        self.cursor.at = start + length;
        Ok(op)
    }

    /// Operands and the colon after them.
    fn operands(&mut self) -> Result<Vec<ValueId>> {
        let mut inputs = Vec::new();
        while !self.cursor.take(":") {
            inputs.push(self.operand()?);
            if inputs.len() > COUNT {
                return Err(self.cursor.expected(&format!("at most {COUNT} operands")));
            }
        }
        Ok(inputs)
    }

    fn operand(&mut self) -> Result<ValueId> {
        self.cursor.skip();
        let start = self.cursor.at;
        let name = self.value_name("an operand or `:`")?;
        let (known, span) = (self.value_named(&name), start..self.cursor.at);
        known.ok_or_else(|| {
            let text = &self.cursor.source[span.clone()];
            let message = match self.cursor.peek("=") {
                true => format!("before `{text}`, `:` and the type of a result are missing"),
                false => format!("there is no value `{text}`"),
            };
            self.cursor.error(span, message)
        })
    }

    fn value_name(&mut self, wanted: &str) -> Result<ValueName> {
        Ok(match self.cursor.take("%") {
            true => ValueName::Result(self.cursor.number()?),
            false => ValueName::Input(self.cursor.name(wanted)?),
        })
    }

    fn value_named(&self, name: &ValueName) -> Option<ValueId> {
        match name {
            ValueName::Result(number) => self.results.get(number).copied(),
            ValueName::Input(name) => self.inputs.get(name).copied(),
        }
    }

    /// Types with their places, at least one.
    fn types(&mut self) -> Result<Vec<Typed>> {
        let mut types = Vec::new();
        loop {
            self.cursor.skip();
            let start = self.cursor.at;
            let meta = self.type_()?;
            types.push((meta, start..self.cursor.at));
            if !self.cursor.take(",") {
                return Ok(types);
            }
        }
    }

    fn returned(&mut self, results: Vec<(Option<String>, ValueMeta)>, start: usize) -> Result<Vec<Output>> {
        let span = start..self.cursor.at;
        let values = if self.cursor.peek("}") { Vec::new() } else { self.returned_values()? };
        if values.len() != results.len() {
            let message = format!("{} values are returned, but {} are declared", values.len(), results.len());
            return Err(self.cursor.error(span, message));
        }
        let names = SizeNames(&self.size_table);
        let output = |((name, meta), (value, span)): ((Option<String>, ValueMeta), (ValueId, Range<usize>))| {
            let actual = &self.values[value.index()];
            if *actual != meta {
                let message = format!("this is {}, but {} is declared", names.meta(actual), names.meta(&meta));
                return Err(self.cursor.error(span, message));
            }
            Ok(Output { name: name.map(Into::into), value })
        };
        results.into_iter().zip(values).map(output).collect()
    }

    fn returned_values(&mut self) -> Result<Vec<(ValueId, Range<usize>)>> {
        let mut values = Vec::new();
        loop {
            self.cursor.skip();
            let start = self.cursor.at;
            let value = self.operand()?;
            values.push((value, start..self.cursor.at));
            if !self.cursor.take(",") {
                return Ok(values);
            }
        }
    }
}

type Typed = (ValueMeta, Range<usize>);

/// How a value is written.
enum ValueName {
    Result(u32),
    Input(String),
}

/// `there is no operation `multiply``, with one that is spelled like it.
fn unknown_operation(name: &str) -> String {
    let close =
        |candidate: &&&str| candidate.len() > 2 && (candidate.starts_with(name) || name.starts_with(**candidate));
    match core_attributes::NAMES.iter().filter(close).max_by_key(|c| c.len().min(name.len())) {
        Some(candidate) if !name.is_empty() => format!("there is no operation `{name}`; there is `{candidate}`"),
        _ => format!("there is no operation `{name}`"),
    }
}

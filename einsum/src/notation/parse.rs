//! From text to terms, in one pass and without recursion.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::mem;
use std::ops::Range;
use std::str::CharIndices;

use super::{EinsumNotation, Ellipsis, NotationError, Term, WrittenLabel};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrow {
    Required,
    Optional,
}

pub(super) fn parse(source: &str, arrow: Arrow) -> Result<EinsumNotation, NotationError> {
    let mut parser = Parser { source, chars: source.char_indices().peekable() };
    let (operands, has_arrow) = parser.operands()?;
    let terms = operands.terms;
    let output = match (has_arrow, arrow) {
        (true, _) => parser.output()?,
        (false, Arrow::Optional) => implicit_output(&terms, source.len()),
        (false, Arrow::Required) => {
            let message = "the arrow `->` and the output labels are missing";
            return Err(parser.error(source.len()..source.len(), message));
        }
    };
    check_output(source, &terms, &output)?;
    let count = terms.len();
    let number = |node| match node {
        Node::Operand(operand) => operand,
        Node::Step(step) => count + step,
    };
    let order = operands.steps.into_iter().map(|(left, right)| (number(left), number(right))).collect();
    let order = operands.parenthesised.then_some(order);
    Ok(EinsumNotation { source: source.to_owned(), terms, output, order })
}

/// A tensor of the contraction order: an operand or the result of an earlier step.
#[derive(Clone, Copy)]
enum Node {
    Operand(usize),
    Step(usize),
}

/// The list between two parentheses (or at top level), contracted from left to right as it is read.
#[derive(Default)]
struct Group {
    open: usize,
    value: Option<Node>,
}

/// What has been read of the operands.
#[derive(Default)]
struct Operands {
    terms: Vec<Term>,
    steps: Vec<(Node, Node)>,
    parenthesised: bool,
    /// The group being read.
    group: Group,
    /// The groups around it.
    outer: Vec<Group>,
    /// The term being read.
    term: Term,
    /// The value of a parenthesis that has just been closed: only a separator may follow it.
    closed: Option<Node>,
}

impl Operands {
    /// Ends the current item at byte `end` and contracts it with what its group holds.
    fn end_item(&mut self, end: usize) {
        let item = self.closed.take().unwrap_or_else(|| {
            let mut term = mem::take(&mut self.term);
            term.settle_span(end);
            self.terms.push(term);
            Node::Operand(self.terms.len() - 1)
        });
        self.group.value = Some(match self.group.value {
            None => item,
            Some(value) => {
                self.steps.push((value, item));
                Node::Step(self.steps.len() - 1)
            }
        });
    }

    fn open(&mut self, open: usize) {
        self.parenthesised = true;
        self.outer.push(mem::replace(&mut self.group, Group { open, value: None }));
    }

    /// Leaves the current group; false if there is none to leave.
    fn close(&mut self) -> bool {
        let Some(outer) = self.outer.pop() else { return false };
        self.closed = mem::replace(&mut self.group, outer).value;
        true
    }
}

struct Parser<'a> {
    source: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl Parser<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>) -> NotationError {
        NotationError::new(self.source, span, message.into())
    }

    /// The next character that is no blank, with its byte position.
    fn next(&mut self) -> Option<(usize, char)> {
        self.chars.find(|(_, c)| !c.is_whitespace())
    }

    /// Takes the next character if it follows immediately and is `wanted`.
    fn follows(&mut self, wanted: char) -> bool {
        self.chars.next_if(|&(_, c)| c == wanted).is_some()
    }

    /// Reads up to the arrow, or to the end; tells whether there was an arrow.
    fn operands(&mut self) -> Result<(Operands, bool), NotationError> {
        let mut read = Operands::default();
        let (end, has_arrow) = loop {
            match self.next() {
                None => break (self.source.len(), false),
                Some((at, '-')) if self.follows('>') => break (at, true),
                Some((at, ',')) => read.end_item(at),
                Some((at, '(')) => {
                    if !read.term.is_empty() || read.closed.is_some() {
                        return Err(self.error(at..at + 1, "`(` must open a whole item: write a comma before it"));
                    }
                    read.open(at);
                }
                Some((at, ')')) => {
                    read.end_item(at);
                    if !read.close() {
                        return Err(self.error(at..at + 1, "`)` closes nothing"));
                    }
                }
                Some((at, c)) if read.closed.is_some() => {
                    let message = format!("`{c}` follows `)` directly: write a comma between them");
                    return Err(self.error(at..at + c.len_utf8(), message));
                }
                Some((at, c)) => self.axis(&mut read.term, at, c)?,
            }
        };
        if !read.outer.is_empty() {
            let open = read.group.open;
            return Err(self.error(open..open + 1, "`(` is never closed"));
        }
        read.end_item(end);
        Ok((read, has_arrow))
    }

    fn output(&mut self) -> Result<Term, NotationError> {
        let mut term = Term::default();
        while let Some((at, c)) = self.next() {
            let message = match c {
                '-' if self.follows('>') => return Err(self.error(at..at + 2, "a second arrow")),
                ',' => "`,` in the output: an einsum has one output",
                '(' | ')' => "parentheses belong to the operands, not to the output",
                '#' => "`#` marks an axis of an operand, not of the output",
                _ => {
                    self.axis(&mut term, at, c)?;
                    continue;
                }
            };
            return Err(self.error(at..at + 1, message));
        }
        term.settle_span(self.source.len());
        Ok(term)
    }

    /// Reads the axis that starts with `c` into `term`.
    fn axis(&mut self, term: &mut Term, at: usize, c: char) -> Result<(), NotationError> {
        match c {
            '.' => {
                let mut dots = 1;
                while self.follows('.') {
                    dots += 1;
                }
                let span = at..at + dots;
                if dots != 3 && dots != 6 {
                    let message = format!("an ellipsis is three dots `...`, not {dots}");
                    return Err(self.error(span, message));
                }
                if dots == 6 || term.ellipsis.is_some() {
                    return Err(self.error(span, "a second ellipsis in one term"));
                }
                term.ellipsis = Some(Ellipsis { position: term.labels.len(), span: span.clone() });
                term.extend_span(span);
            }
            '#' => match self.next() {
                Some((label_at, letter)) if letter.is_alphabetic() => {
                    term.push(letter, at..label_at + letter.len_utf8(), true);
                }
                _ => {
                    let message = "`#` must stand before the label of the axis that stretches";
                    return Err(self.error(at..at + 1, message));
                }
            },
            letter if letter.is_alphabetic() => term.push(letter, at..at + letter.len_utf8(), false),
            '-' | '>' => {
                return Err(self.error(at..at + 1, format!("`{c}` alone: the arrow is written `->`")));
            }
            _ => {
                let message = format!("`{}` is no label: a label is one letter", c.escape_debug());
                return Err(self.error(at..at + c.len_utf8(), message));
            }
        }
        Ok(())
    }
}

impl Term {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.ellipsis.is_none()
    }

    fn push(&mut self, letter: char, span: Range<usize>, stretch: bool) {
        self.extend_span(span.clone());
        self.labels.push(WrittenLabel { letter, span, stretch });
    }

    fn extend_span(&mut self, axis: Range<usize>) {
        let start = if self.span.is_empty() { axis.start } else { self.span.start };
        self.span = start..axis.end;
    }

    /// An empty term has no characters of its own: it stands where the text ends it.
    fn settle_span(&mut self, end: usize) {
        if self.is_empty() {
            self.span = end..end;
        }
    }
}

fn implicit_output(terms: &[Term], end: usize) -> Term {
    let mut count: HashMap<char, usize> = HashMap::new();
    for label in terms.iter().flat_map(|term| &term.labels) {
        *count.entry(label.letter).or_default() += 1;
    }
    let mut once: Vec<char> = count.into_iter().filter(|&(_, count)| count == 1).map(|(letter, _)| letter).collect();
    once.sort_unstable();
    let here = end..end;
    let has_ellipsis = terms.iter().any(|term| term.ellipsis.is_some());
    Term {
        labels: once.into_iter().map(|letter| WrittenLabel { letter, span: here.clone(), stretch: false }).collect(),
        ellipsis: has_ellipsis.then(|| Ellipsis { position: 0, span: here.clone() }),
        span: here,
    }
}

fn check_output(source: &str, terms: &[Term], output: &Term) -> Result<(), NotationError> {
    let known: HashSet<char> = terms.iter().flat_map(|term| &term.labels).map(|label| label.letter).collect();
    match output.labels.iter().find(|label| !known.contains(&label.letter)) {
        None => Ok(()),
        Some(label) => {
            let message = format!("the output label `{}` is on no operand", label.letter);
            Err(NotationError::new(source, label.span.clone(), message))
        }
    }
}

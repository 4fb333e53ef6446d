use std::fmt;
use std::ops::Range;

/// What is wrong with a notation, or with the operands given to it, and where.
///
/// Its `Display` is the message with the notation under it and a caret under the place:
///
/// ```text
/// the output label `m` is on no operand
///     ij,jk->im
///             ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    source: String,
    message: String,
    span: Range<usize>,
    operand: Option<usize>,
}

impl NotationError {
    pub(super) fn new(source: &str, span: Range<usize>, message: String) -> Self {
        Self { source: source.to_owned(), message, span, operand: None }
    }

    pub(super) fn on_operand(mut self, operand: usize) -> Self {
        self.operand = Some(operand);
        self
    }

    /// The message alone, one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the notation that the error is about; empty where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The operand the error is about, counted from 0.
    pub fn operand(&self) -> Option<usize> {
        self.operand
    }
}

/// Longer notations are shown as the stretch of this many characters on each side of the place.
const CONTEXT: usize = 48;

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.source[..self.span.start].chars().count();
        let marked = self.source[self.span.clone()].chars().count();
        let total = before + marked + self.source[self.span.end..].chars().count();
        let first = before.saturating_sub(CONTEXT);
        let last = (before + marked.min(CONTEXT) + CONTEXT).min(total);
        let carets = marked.clamp(1, CONTEXT);

        let (head, tail) = (if first > 0 { "…" } else { "" }, if last < total { "…" } else { "" });
        let shown: String =
            self.source.chars().skip(first).take(last - first).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let indent = " ".repeat(head.chars().count() + before - first);
        writeln!(f, "{}", self.message)?;
        writeln!(f, "    {head}{shown}{tail}")?;
        write!(f, "    {indent}{}", "^".repeat(carets))
    }
}

impl std::error::Error for NotationError {}

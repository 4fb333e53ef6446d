use std::fmt;
use std::ops::Range;

/// Why a text is no program, and where.
///
/// Its `Display` is the place and the message, with the line under it and carets under the place:
///
/// ```text
/// line 2, column 8: there is no operation `sine`
///     %1 = sine x : f64[n]
///          ^^^^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    line: usize,
    column: usize,
    /// The part of the line that is shown, and where the carets are in it.
    shown: String,
    carets: Range<usize>,
}

/// How many characters are shown on each side of the place.
const CONTEXT: usize = 60;

impl ParseError {
    /// `span` is in bytes of `source`, within it and on character boundaries.
    pub(super) fn new(source: &str, span: Range<usize>, message: String) -> Self {
        let start = source[..span.start].rfind('\n').map_or(0, |i| i + 1);
        let end = source[span.start..].find('\n').map_or(source.len(), |i| span.start + i);
        let line = source[..start].matches('\n').count() + 1;
        let before: Vec<char> = source[start..span.start].chars().collect();
        let marked: Vec<char> = source[span.start..span.end.min(end).max(span.start)].chars().take(CONTEXT).collect();
        let after = source[span.start..end].chars().skip(marked.len()).take(CONTEXT);

        let lead = &before[before.len().saturating_sub(CONTEXT)..];
        let trimmed = match lead.len() == before.len() {
            true => lead.iter().take_while(|c| c.is_whitespace()).count(),
            false => 0,
        };
        let lead = &lead[trimmed..];
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let shown = lead.iter().copied().chain(marked.iter().copied()).chain(after).map(printable).collect();
        let carets = lead.len()..lead.len() + marked.len().max(1);
        Self { message, line, column: before.len() + 1, shown, carets }
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        writeln!(f, "    {}", self.shown.trim_end())?;
        write!(f, "    {}{}", " ".repeat(self.carets.start), "^".repeat(self.carets.len()))
    }
}

impl std::error::Error for ParseError {}

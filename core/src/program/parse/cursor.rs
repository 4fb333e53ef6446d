//! The words of the text form: names, numbers, strings and marks.

use std::ops::Range;

use super::ParseError;

/// A place in the text.
pub(super) struct Cursor<'a> {
    pub source: &'a str,
    /// In bytes, on a character boundary.
    pub at: usize,
}

type Result<T> = std::result::Result<T, ParseError>;

impl<'a> Cursor<'a> {
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        ParseError::new(self.source, span, message.into())
    }

    /// What was expected in place of the next character.
    pub fn expected(&self, what: &str) -> ParseError {
        match self.rest().chars().next() {
            Some(c) => {
                self.error(self.at..self.at + c.len_utf8(), format!("expected {what}, found `{}`", c.escape_debug()))
            }
            None => self.error(self.at..self.at, format!("expected {what}, but the text ends here")),
        }
    }

    pub fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Passes blanks, line ends and comments.
    pub fn skip(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            self.at = self.source.len() - rest.len();
            if !rest.starts_with("//") {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Whether `mark` comes next.
    pub fn peek(&mut self, mark: &str) -> bool {
        self.skip();
        self.rest().starts_with(mark)
    }

    /// Passes `mark` if it comes next.
    pub fn take(&mut self, mark: &str) -> bool {
        let found = self.peek(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    pub fn expect(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// The characters that come next and satisfy `accept`; may be empty.
    pub fn word(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The name of an operation, a family or a keyword; may be empty.
    pub fn op_name(&mut self) -> &'a str {
        self.word(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
    }

    pub fn keyword(&mut self, keyword: &str) -> Result<()> {
        self.skip();
        let start = self.at;
        if self.op_name() == keyword {
            return Ok(());
        }
        self.at = start;
        Err(self.expected(&format!("`{keyword}`")))
    }

    /// Whether a name comes next.
    pub fn peek_name(&mut self) -> bool {
        self.skip();
        self.rest().starts_with(|c: char| c == '"' || c == '_' || c.is_alphabetic())
    }

    /// An identifier or a string.
    pub fn name(&mut self, what: &str) -> Result<String> {
        if self.peek("\"") {
            return self.string();
        }
        if !self.peek_name() {
            return Err(self.expected(what));
        }
        Ok(self.word(|c| c == '_' || c.is_alphanumeric()).to_owned())
    }

    /// A string as Rust writes it.
    pub fn string(&mut self) -> Result<String> {
        self.expect("\"")?;
        let open = self.at - 1;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        let unclosed = |cursor: &Self| Err(cursor.error(open..open + 1, "this string is not closed"));
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(text);
                }
                '\n' => break,
                '\\' => {
                    let escape = match chars.next().map(|(_, c)| c) {
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('0') => Some('\0'),
                        Some(c @ ('\\' | '"' | '\'')) => Some(c),
                        Some('u') => unicode_escape(&mut chars),
                        Some(_) => None,
                        None => break,
                    };
                    let Some(escape) = escape else {
                        let start = self.at + i;
                        return Err(self.error(start..start + 1, "this is no escape of a string"));
                    };
                    text.push(escape);
                }
                c => text.push(c),
            }
        }
        unclosed(self)
    }

    /// Digits.
    pub fn number(&mut self) -> Result<u32> {
        self.skip();
        let start = self.at;
        let digits = self.word(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => Err(self.expected("a number")),
            Err(_) => Err(self.error(start..self.at, format!("{digits} is not below 2^32"))),
        }
    }

    /// Passes everything up to the `:` that ends the operands; false if there is none in this program.
    pub fn find_colon(&mut self) -> Result<bool> {
        loop {
            let rest = self.rest();
            let Some(mark) = rest.find([':', '"', '/', '{', '}']) else { return Ok(false) };
            self.at += mark;
            match &rest[mark..] {
                found if found.starts_with(':') => return Ok(true),
                found if found.starts_with('"') => drop(self.string()?),
                found if found.starts_with("//") => self.skip(),
                found if found.starts_with('/') => self.at += 1,
                _ => return Ok(false),
            }
        }
    }
}

/// `{1f600}` after `\u`.
fn unicode_escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    (chars.next()?.1 == '{').then_some(())?;
    let mut code = 0u32;
    for _ in 0..7 {
        match chars.next()?.1 {
            '}' => return char::from_u32(code),
            digit => code = code << 4 | digit.to_digit(16)?,
        }
    }
    None
}

/// A name as [`Cursor::name`] reads it: bare if it is an identifier, else as a string.
pub(in super::super) fn name_text(name: &str) -> std::borrow::Cow<'_, str> {
    let bare = name.starts_with(|c: char| c == '_' || c.is_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_alphanumeric());
    if bare { name.into() } else { format!("{name:?}").into() }
}

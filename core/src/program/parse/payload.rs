use std::ops::Range;

use crate::extension::ExtensionRef;

/// Reads the payloads of an extension family from the text that
/// [`ExtensionOp::fmt_payload`](crate::extension::ExtensionOp::fmt_payload) prints.
pub trait PayloadParser {
    /// The family, `<namespace>.<name>.v<version>`.
    fn family_id(&self) -> &str;

    /// Reads the payload at the start of `text`, which goes to the end of the line: operands follow. Returns the
    /// payload and how many bytes it takes.
    ///
    /// # Errors
    /// A text that is no payload, with the place. It must not panic on any text.
    fn parse_payload(&self, text: &str) -> Result<(ExtensionRef, usize), PayloadError>;
}

/// What is wrong with the text of a payload, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadError {
    /// The bytes of the text that are wrong; empty where something is missing.
    pub span: Range<usize>,
    /// The message, one line.
    pub message: String,
}

impl PayloadError {
    /// An error at these bytes.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

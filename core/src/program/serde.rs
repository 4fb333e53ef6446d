//! Programs in any format of `serde`: as their text.

use std::fmt;

use ::serde::de::Visitor;
use ::serde::ser::Error as _;
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Op, SemanticProgram};

/// The text that [`parse`](SemanticProgram::parse) reads. A program with operations of extension families is refused:
/// their payloads are read by parsers of the families alone, which [`parse_with`](SemanticProgram::parse_with) takes.
impl Serialize for SemanticProgram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        for node in self.nodes() {
            if let Op::Extension(op) = &node.op {
                return Err(S::Error::custom(format_args!(
                    "program `{}` has an operation of family `{}`, whose payload only its own parser reads; keep the text \
                     of the program and read it with `SemanticProgram::parse_with`",
                    self.name(),
                    op.family_id()
                )));
            }
        }
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SemanticProgram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = SemanticProgram;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a program")
            }

            fn visit_str<E: ::serde::de::Error>(self, text: &str) -> Result<SemanticProgram, E> {
                SemanticProgram::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

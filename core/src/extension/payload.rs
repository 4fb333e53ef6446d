//! [`ExtensionOp`] and what a payload must declare.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::ShapeContext;
use crate::error::{Error, Result};
use crate::program::ValueMeta;

/// One operation of an extension family, with its attributes.
///
/// Effects and aliases have no usable default: a program refuses a payload that leaves them undeclared.
pub trait ExtensionOp: Debug + Send + Sync + 'static {
    /// The family, `<namespace>.<name>.v<version>`.
    fn family_id(&self) -> &'static str;
    /// Feeds every attribute to `state`; the family id is hashed by the caller.
    fn payload_hash(&self, state: &mut dyn Hasher);
    /// Whether `other` is of the same type and has the same attributes.
    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool;
    /// For downcasting to the concrete payload.
    fn as_any(&self) -> &dyn Any;
    /// The number of operands.
    fn input_count(&self) -> usize;
    /// The number of results.
    fn output_count(&self) -> usize;
    /// What executing the operation does besides computing its results.
    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Undeclared
    }
    /// Whether results may share memory with operands.
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::Undeclared
    }
    /// Dtype and shape of every result.
    ///
    /// # Errors
    /// When the operands do not fit; the message names operation, operand and both shapes.
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> Result<Vec<ValueMeta>>;
    /// One operation in place of two: what computes this operation's results when its operand `operand` is the only
    /// result of `producer`. Its operands are this operation's, with those of `producer` in the place of `operand`.
    ///
    /// `None`, the default, where there is no such operation. It must accept all operands that the two accept, and its
    /// results must be theirs up to rounding. Only the pass [`flattening`](crate::program::passes::flattening) asks,
    /// of operations without effects.
    fn absorb(&self, operand: usize, producer: &dyn ExtensionOp) -> Option<ExtensionRef> {
        let _ = (operand, producer);
        None
    }
    /// The attributes in the text form of a program, as `"ij,jk->ik"`.
    fn fmt_payload(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

/// A side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Results differ from call to call.
    Random,
    /// Talks to something outside the program.
    External,
}

/// The declared effects of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectDeclaration {
    /// Nothing was said; a program refuses the payload.
    Undeclared,
    /// Exactly these; none means pure.
    Declared(&'static [Effect]),
}

/// The declared aliasing of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasDeclaration {
    /// Nothing was said; a program refuses the payload.
    Undeclared,
    /// Every result has memory of its own.
    AllFresh,
}

/// A payload inside a program: a `static` made while compiling, or shared.
#[derive(Clone)]
pub enum ExtensionRef {
    /// Lives in the binary.
    Static(&'static dyn ExtensionOp),
    /// Made at run time.
    Shared(Arc<dyn ExtensionOp>),
}

impl Deref for ExtensionRef {
    type Target = dyn ExtensionOp;
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Static(op) => *op,
            Self::Shared(op) => &**op,
        }
    }
}

impl<E: ExtensionOp> From<Arc<E>> for ExtensionRef {
    fn from(op: Arc<E>) -> Self {
        Self::Shared(op)
    }
}

impl From<Arc<dyn ExtensionOp>> for ExtensionRef {
    fn from(op: Arc<dyn ExtensionOp>) -> Self {
        Self::Shared(op)
    }
}

impl<E: ExtensionOp> From<E> for ExtensionRef {
    fn from(op: E) -> Self {
        Self::Shared(Arc::new(op))
    }
}

impl Debug for ExtensionRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for ExtensionRef {
    fn eq(&self, other: &Self) -> bool {
        self.family_id() == other.family_id() && self.payload_eq(&**other)
    }
}

impl Eq for ExtensionRef {}

impl Hash for ExtensionRef {
    fn hash<H: Hasher>(&self, mut state: &mut H) {
        self.family_id().hash(state);
        self.payload_hash(&mut state);
    }
}

/// Refuses a family id that is not `<namespace>.<name>.v<version>`.
///
/// Namespace and name are of ASCII letters, digits, `_` and `-`; the namespace may hold dots; the version is a
/// positive number.
///
/// # Errors
/// [`Error::FamilyId`] naming the part that is wrong.
///
/// ```
/// use tenferro_core::extension::check_family_id;
/// assert!(check_family_id("demo.softplus.v1").is_ok());
/// assert!(check_family_id("softplus").is_err());
/// ```
pub fn check_family_id(id: &str) -> Result<()> {
    let refuse = |message: &str| Err(Error::FamilyId { id: id.to_string(), message: message.to_string() });
    let word = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let Some((rest, version)) = id.rsplit_once('.') else {
        return refuse("there is no version part");
    };
    let number = version.strip_prefix('v').and_then(|v| v.parse::<u32>().ok());
    if number.is_none_or(|n| n == 0) {
        return refuse(&format!("the version `{version}` is not `v` and a positive number"));
    }
    let Some((namespace, name)) = rest.rsplit_once('.') else {
        return refuse("there is no namespace part");
    };
    if !word(name) {
        return refuse(&format!("the name `{name}` is not of letters, digits, `_` and `-`"));
    }
    if !namespace.split('.').all(word) {
        return refuse(&format!("the namespace `{namespace}` is not of letters, digits, `_` and `-`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_family_ids_name_the_part() {
        for (id, part) in [
            ("softplus", "version"),
            ("demo.v1", "namespace"),
            ("demo.softplus.1", "version `1`"),
            ("demo.softplus.v0", "version `v0`"),
            ("demo.soft plus.v1", "name `soft plus`"),
            (".softplus.v1", "namespace ``"),
        ] {
            let message = check_family_id(id).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("<namespace>.<name>.v<version>"), "{message}");
        }
    }
}

//! Derivative rules of extension families.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use super::{PrimalVjpRequest, ResidualSpec};
use crate::error::{Error, Result};
use crate::extension::{ExtensionOp, check_family_id};
use crate::program::{ProgramBuilder, ValueId};

/// The role `linearize`: tangents of the results from tangents of the operands.
pub trait LinearizeRule: Send + Sync {
    /// The family the rule is for.
    fn family_id(&self) -> &'static str;
    /// Writes operations that are linear in the tangents; one tangent a result, `None` where it is zero.
    ///
    /// # Errors
    /// As the builder.
    fn linearize(
        &self,
        b: &mut ProgramBuilder,
        op: &dyn ExtensionOp,
        inputs: &[ValueId],
        outputs: &[ValueId],
        tangents: &[Option<ValueId>],
    ) -> Result<Vec<Option<ValueId>>>;
}

/// The role `linear_transpose`: cotangents of the linear operands from cotangents of the results.
pub trait LinearTransposeRule: Send + Sync {
    /// The family the rule is for.
    fn family_id(&self) -> &'static str;
    /// One cotangent an operand, `None` where it is not linear or the cotangent is zero.
    ///
    /// # Errors
    /// As the builder.
    fn transpose(
        &self,
        b: &mut ProgramBuilder,
        op: &dyn ExtensionOp,
        inputs: &[ValueId],
        linear: &[bool],
        cotangents: &[Option<ValueId>],
    ) -> Result<Vec<Option<ValueId>>>;
}

/// The role `primal_vjp`: cotangents of the operands straight from those of the results, without a linearisation.
///
/// Reverse mode uses it for a family without a `linear_transpose` rule.
pub trait PrimalVjpRule: Send + Sync {
    /// The family the rule is for.
    fn family_id(&self) -> &'static str;
    /// The operands and results that the rule reads.
    fn residual_mask(&self) -> ResidualSpec;
    /// One cotangent an operand, `None` where it is not active or the cotangent is zero.
    ///
    /// # Errors
    /// As the builder; and when a residual is read that the mask does not declare.
    fn primal_vjp(&self, b: &mut ProgramBuilder, request: &PrimalVjpRequest<'_>) -> Result<Vec<Option<ValueId>>>;
}

type ByFamily<R> = BTreeMap<&'static str, Arc<R>>;

/// Rules of extension families by family and role. Nothing is global: a context carries the set it uses.
///
/// Forward mode needs `linearize`. Reverse mode transposes what `linearize` wrote, which needs `linear_transpose` for
/// each extension in it; or it uses `primal_vjp` where the family has that and no `linear_transpose`.
#[derive(Clone, Default)]
pub struct SemanticExtensionRuleSet {
    linearize: ByFamily<dyn LinearizeRule>,
    linear_transpose: ByFamily<dyn LinearTransposeRule>,
    primal_vjp: ByFamily<dyn PrimalVjpRule>,
}

impl SemanticExtensionRuleSet {
    /// No rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds, or replaces, a family's linearisation.
    ///
    /// # Errors
    /// When the family id is malformed.
    pub fn with_linearize(mut self, rule: Arc<dyn LinearizeRule>) -> Result<Self> {
        check_family_id(rule.family_id())?;
        self.linearize.insert(rule.family_id(), rule);
        Ok(self)
    }

    /// Adds, or replaces, a family's transposition.
    ///
    /// # Errors
    /// When the family id is malformed.
    pub fn with_linear_transpose(mut self, rule: Arc<dyn LinearTransposeRule>) -> Result<Self> {
        check_family_id(rule.family_id())?;
        self.linear_transpose.insert(rule.family_id(), rule);
        Ok(self)
    }

    /// Adds, or replaces, a family's reverse rule.
    ///
    /// # Errors
    /// When the family id is malformed.
    pub fn with_primal_vjp(mut self, rule: Arc<dyn PrimalVjpRule>) -> Result<Self> {
        check_family_id(rule.family_id())?;
        self.primal_vjp.insert(rule.family_id(), rule);
        Ok(self)
    }

    /// The rules of both sets; those of `other` win.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.linearize.extend(other.linearize.iter().map(|(k, v)| (*k, v.clone())));
        self.linear_transpose.extend(other.linear_transpose.iter().map(|(k, v)| (*k, v.clone())));
        self.primal_vjp.extend(other.primal_vjp.iter().map(|(k, v)| (*k, v.clone())));
        self
    }

    /// A family and role that both sets have.
    pub(super) fn conflict(&self, other: &Self) -> Option<(&'static str, &'static str)> {
        fn common<R: ?Sized>(a: &ByFamily<R>, b: &ByFamily<R>) -> Option<&'static str> {
            a.keys().copied().find(|family| b.contains_key(family))
        }
        let in_role = |family: Option<&'static str>, role| family.map(|family| (family, role));
        in_role(common(&self.linearize, &other.linearize), "linearize")
            .or_else(|| in_role(common(&self.linear_transpose, &other.linear_transpose), "linear_transpose"))
            .or_else(|| in_role(common(&self.primal_vjp, &other.primal_vjp), "primal_vjp"))
    }

    pub(super) fn linearize(&self, family: &str) -> Result<&dyn LinearizeRule> {
        self.linearize.get(family).map(|r| &**r).ok_or_else(|| missing(family, "linearize"))
    }

    pub(super) fn linear_transpose(&self, family: &str) -> Result<&dyn LinearTransposeRule> {
        self.linear_transpose.get(family).map(|r| &**r).ok_or_else(|| missing(family, "linear_transpose"))
    }

    pub(super) fn primal_vjp(&self, family: &str) -> Result<&dyn PrimalVjpRule> {
        self.primal_vjp.get(family).map(|r| &**r).ok_or_else(|| missing(family, "primal_vjp"))
    }

    /// Whether reverse mode uses `primal_vjp` for a family: it has that, and nothing to transpose with.
    pub(super) fn reverses_whole(&self, family: &str) -> bool {
        self.primal_vjp.contains_key(family) && !self.linear_transpose.contains_key(family)
    }
}

impl Debug for SemanticExtensionRuleSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemanticExtensionRuleSet")
            .field("linearize", &self.linearize.keys())
            .field("linear_transpose", &self.linear_transpose.keys())
            .field("primal_vjp", &self.primal_vjp.keys())
            .finish()
    }
}

fn missing(family: &str, role: &'static str) -> Error {
    Error::MissingRule { family: family.to_string(), role }
}

/// Refuses a rule's answer that is not one entry a value.
pub(super) fn check_count(family: &'static str, role: &str, expected: usize, actual: usize) -> Result<()> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::argument(family, role.to_string(), format!("must give {expected} entries, not {actual}")))
}

//! Derivative rules of extension families.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::extension::{ExtensionOp, check_family_id};
use crate::program::{ProgramBuilder, ValueId};

/// The role `linearize`: tangents of the results from tangents of the operands.
pub trait LinearizeRule: Send + Sync {
    /// The family the rule is for.
    fn family_id(&self) -> &'static str;
    /// Writes operations that are linear in the tangents; `None` is a zero tangent.
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

/// Rules of extension families by family and role. Nothing is global: a context carries the set it uses.
#[derive(Clone, Default)]
pub struct SemanticExtensionRuleSet {
    linearize: BTreeMap<&'static str, Arc<dyn LinearizeRule>>,
    linear_transpose: BTreeMap<&'static str, Arc<dyn LinearTransposeRule>>,
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

    /// The rules of both sets; those of `other` win.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.linearize.extend(other.linearize.iter().map(|(k, v)| (*k, v.clone())));
        self.linear_transpose.extend(other.linear_transpose.iter().map(|(k, v)| (*k, v.clone())));
        self
    }

    pub(super) fn linearize(&self, family: &str) -> Result<&dyn LinearizeRule> {
        self.linearize.get(family).map(|r| &**r).ok_or_else(|| missing(family, "linearize"))
    }

    pub(super) fn linear_transpose(&self, family: &str) -> Result<&dyn LinearTransposeRule> {
        self.linear_transpose.get(family).map(|r| &**r).ok_or_else(|| missing(family, "linear_transpose"))
    }
}

impl Debug for SemanticExtensionRuleSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemanticExtensionRuleSet")
            .field("linearize", &self.linearize.keys())
            .field("linear_transpose", &self.linear_transpose.keys())
            .finish()
    }
}

fn missing(family: &str, role: &'static str) -> Error {
    Error::MissingRule { family: family.to_string(), role }
}

/// What derivatives are made with: the rules of extension families.
#[derive(Clone, Debug, Default)]
pub struct AdContext {
    rules: SemanticExtensionRuleSet,
}

impl AdContext {
    /// A context without extension rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// The context with these rules added.
    #[must_use]
    pub fn with_rules(mut self, rules: &SemanticExtensionRuleSet) -> Self {
        self.rules = self.rules.union(rules);
        self
    }

    /// The rules.
    pub fn rules(&self) -> &SemanticExtensionRuleSet {
        &self.rules
    }
}

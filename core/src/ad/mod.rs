//! Derivatives of programs, as programs.
//!
//! Reverse mode is linearisation followed by transposition (Radul et al. 2023, *You only linearize once*): each
//! operation has one linearisation and each linear one a transposition. The cotangent of `y` in a real loss `L` is
//! `dL/dRe(y) + i dL/dIm(y)`, so a holomorphic operation passes it multiplied by its conjugate derivative
//! (Kreutz-Delgado 2009).

mod checkpoint;
mod context;
mod linearize;
mod pullback;
mod residual;
mod rules;
mod transforms;
mod transpose;

pub(crate) use checkpoint::Checkpoint;
pub use checkpoint::{checkpoint, expand_checkpoints};
pub use context::{AdContext, AdContextBuilder, Provenance, Transform, TransformCacheStats};
pub use residual::{PrimalVjpRequest, ResidualSpec};
pub use rules::{LinearTransposeRule, LinearizeRule, PrimalVjpRule, SemanticExtensionRuleSet};
pub use transforms::{grad, grad_optional, hvp, jvp, value_and_grad, vjp, vjp_optional};

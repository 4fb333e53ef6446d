//! Gradient programs, or the reason why there are none.

use tenferro_core::ad::{self, AdContext};
use tenferro_core::program::SemanticProgram;

use crate::check::tree::Kernel;
use crate::diagnostics::Diagnostics;
use crate::lowered::{Derivatives, LoweredVariant, ScalarDerivatives, why_not_differentiable};

/// The derivative rules that the language knows.
pub struct Transforms {
    context: Result<AdContext, String>,
}

impl Transforms {
    pub fn new() -> Self {
        let rules = tenferro_einsum::ad_rules();
        Self { context: rules.map(|rules| AdContext::new().with_rules(&rules)).map_err(|error| error.to_string()) }
    }

    /// The gradient programs with respect to the inputs `wrt`.
    pub fn derivatives(&self, program: &SemanticProgram, wrt: &[usize]) -> Result<Derivatives, String> {
        let context = self.context.as_ref().map_err(Clone::clone)?;
        if wrt.is_empty() {
            return Err("no argument has a float dtype".to_string());
        }
        if let Some(&input) = wrt.iter().find(|&&input| !program.input_meta(input).dtype.is_float()) {
            let dtype = program.input_meta(input).dtype;
            return Err(format!("argument `{}` is {dtype}, which has no derivatives", program.inputs()[input].name));
        }
        let outputs = program.outputs().len();
        if !(0..outputs).any(|output| program.output_meta(output).dtype.is_float()) {
            return Err("no result has a float dtype".to_string());
        }
        let text = |error: tenferro_core::Error| error.to_string();
        let only = program.output_meta(0);
        let scalar = match outputs == 1 && only.rank() == 0 && only.dtype.is_real_float() {
            true => Some(ScalarDerivatives {
                grad: ad::grad(program, wrt, context).map_err(text)?,
                value_and_grad: ad::value_and_grad(program, wrt, context).map_err(text)?,
                hvp: ad::hvp(program, wrt, context).map_err(text)?,
            }),
            false => None,
        };
        Ok(Derivatives {
            jvp: ad::jvp(program, wrt, context).map_err(text)?,
            vjp: ad::vjp(program, wrt, context).map_err(text)?,
            scalar,
        })
    }

    /// `#[grad(..)]` demands derivatives: that a dtype has none is an error.
    pub fn demanded(&self, kernel: &Kernel, variants: &[LoweredVariant], diagnostics: &mut Diagnostics) {
        let reason = why_not_differentiable(kernel.generic.as_ref(), variants);
        if let (Some(name), Some(reason)) = (kernel.grad.first(), reason) {
            diagnostics.error(name, format!("`{}` cannot be differentiated: {reason}", kernel.name));
        }
    }
}

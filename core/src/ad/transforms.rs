//! The transforms: from a program to the program of a derivative.

use super::AdContext;
use super::linearize::{Linearized, Mode, linearize};
use super::transpose::transpose;
use crate::error::{Error, Result};
use crate::program::{ProgramBuilder, SemanticProgram, ValueId, ValueMeta};

type Outputs = Vec<(Option<String>, ValueId)>;

/// Forward mode. Inputs: the program's, then a tangent `d_<name>` for each input of `wrt`. Outputs: the program's,
/// then the tangent of each floating-point output.
///
/// # Errors
/// When an input of `wrt` is not a float, or an extension lacks a rule.
///
/// ```
/// use tenferro_core::{ad, dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("square");
/// let x = b.input("x", DType::F64, &[])?;
/// let y = b.mul(x, x)?;
/// let square = b.finish(&[(None, y)])?;
/// let jvp = ad::jvp(&square, &[0], &ad::AdContext::new())?;
/// assert_eq!(jvp.inputs().len(), 2);
/// assert_eq!(jvp.outputs().len(), 2);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn jvp(program: &SemanticProgram, wrt: &[usize], ctx: &AdContext) -> Result<SemanticProgram> {
    let mut start = Start::new("jvp", program, wrt)?;
    let tangents = start.tangent_inputs(program, wrt)?;
    let Linearized { outputs, tangents } =
        linearize(&mut start.b, program, &start.inputs, &tangents, Mode::Forward, ctx)?;
    let mut all = named_outputs(program, &outputs);
    for (output, tangent) in tangents.into_iter().enumerate() {
        let meta = start.b.meta(outputs[output]).clone();
        if meta.dtype.is_float() {
            let name = program.outputs()[output].name.as_ref().map(|n| format!("d_{n}"));
            all.push((name, start.value_or_zeros(tangent, &meta)?));
        }
    }
    start.finish(all)
}

/// Reverse mode. Inputs: the program's, then the cotangent `ct_<name>` of each floating-point output (`ct`, or
/// `ct_<i>`, of one without a name). Outputs: the program's, then the gradient `d_<name>` for each input of `wrt`.
///
/// # Errors
/// As [`jvp`].
pub fn vjp(program: &SemanticProgram, wrt: &[usize], ctx: &AdContext) -> Result<SemanticProgram> {
    let (mut start, mut all, gradients) = cotangents_of_inputs("vjp", program, wrt, ctx)?;
    all.extend(start.all_or_zeros(program, wrt, gradients)?);
    start.finish(all)
}

/// As [`vjp`], without the gradients for inputs that the outputs do not depend on; the list says for each input of
/// `wrt` which output is its gradient.
///
/// # Errors
/// As [`jvp`].
pub fn vjp_optional(
    program: &SemanticProgram,
    wrt: &[usize],
    ctx: &AdContext,
) -> Result<(SemanticProgram, Vec<Option<usize>>)> {
    let (start, all, gradients) = cotangents_of_inputs("vjp", program, wrt, ctx)?;
    start.finish_present(all, program, wrt, gradients)
}

/// As [`vjp_optional`], without the program's own outputs.
pub(super) fn pull_back(
    program: &SemanticProgram,
    wrt: &[usize],
    ctx: &AdContext,
) -> Result<(SemanticProgram, Vec<Option<usize>>)> {
    let (start, _, gradients) = cotangents_of_inputs("pull_back", program, wrt, ctx)?;
    start.finish_present(Outputs::new(), program, wrt, gradients)
}

fn cotangents_of_inputs(
    transform: &'static str,
    program: &SemanticProgram,
    wrt: &[usize],
    ctx: &AdContext,
) -> Result<(Start, Outputs, Vec<Option<ValueId>>)> {
    let mut start = Start::new(transform, program, wrt)?;
    let mut cotangents = Vec::new();
    for (i, output) in program.outputs().iter().enumerate() {
        let meta = program.output_meta(i);
        cotangents.push(if meta.dtype.is_float() {
            let base = match &output.name {
                Some(name) => format!("ct_{name}"),
                None if program.outputs().len() == 1 => "ct".to_string(),
                None => format!("ct_{i}"),
            };
            let name = start.b.fresh_name(&base);
            Some(start.b.input(name, meta.dtype, &meta.shape)?)
        } else {
            None
        });
    }
    let (outputs, gradients) = start.reverse(program, wrt, &cotangents, ctx)?;
    Ok((start, named_outputs(program, &outputs), gradients))
}

/// The gradient of a real scalar. Inputs: the program's. Outputs: the gradient for each input of `wrt`.
///
/// # Errors
/// As [`jvp`]; and when the program does not have exactly one output, a real scalar.
pub fn grad(program: &SemanticProgram, wrt: &[usize], ctx: &AdContext) -> Result<SemanticProgram> {
    let (mut start, _, gradients) = scalar_gradient("grad", program, wrt, ctx)?;
    let gradients = start.all_or_zeros(program, wrt, gradients)?;
    start.finish(gradients)
}

/// As [`grad`], without the gradients for inputs that the scalar does not depend on; the list says for each input of
/// `wrt` which output is its gradient.
///
/// # Errors
/// As [`grad`].
///
/// ```
/// use tenferro_core::{ad, dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("partly");
/// let x = b.input("x", DType::F64, &[])?;
/// let y = b.input("y", DType::F64, &[])?;
/// let stopped = b.stop_gradient(x)?;
/// let z = b.mul(stopped, y)?;
/// let program = b.finish(&[(None, z)])?;
/// let (gradient, positions) = ad::grad_optional(&program, &[0, 1], &ad::AdContext::new())?;
/// assert_eq!(positions, [None, Some(0)]);
/// assert_eq!(gradient.outputs().len(), 1);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn grad_optional(
    program: &SemanticProgram,
    wrt: &[usize],
    ctx: &AdContext,
) -> Result<(SemanticProgram, Vec<Option<usize>>)> {
    let (start, _, gradients) = scalar_gradient("grad", program, wrt, ctx)?;
    start.finish_present(Outputs::new(), program, wrt, gradients)
}

/// A real scalar and its gradient. Inputs: the program's. Outputs: the value, then as [`grad`].
///
/// # Errors
/// As [`grad`].
pub fn value_and_grad(program: &SemanticProgram, wrt: &[usize], ctx: &AdContext) -> Result<SemanticProgram> {
    let (mut start, mut all, gradients) = scalar_gradient("value_and_grad", program, wrt, ctx)?;
    all.extend(start.all_or_zeros(program, wrt, gradients)?);
    start.finish(all)
}

/// The Hessian of a real scalar applied to tangents, forward over reverse. Inputs: the program's, then a tangent
/// `d_<name>` for each input of `wrt`. Outputs: the derivative of each gradient along the tangents.
///
/// # Errors
/// As [`grad`].
pub fn hvp(program: &SemanticProgram, wrt: &[usize], ctx: &AdContext) -> Result<SemanticProgram> {
    let gradient = grad(program, wrt, ctx)?;
    // The gradient may number and keep other sizes than the program.
    let mut start = Start::repeating(format!("hvp_{}", program.name()), &gradient)?;
    let tangents = start.tangent_inputs(&gradient, wrt)?;
    let Linearized { outputs, tangents } =
        linearize(&mut start.b, &gradient, &start.inputs, &tangents, Mode::Forward, ctx)?;
    let mut all = Outputs::new();
    for (i, tangent) in tangents.into_iter().enumerate() {
        let meta = start.b.meta(outputs[i]).clone();
        let name = gradient.outputs()[i].name.as_ref().map(ToString::to_string);
        all.push((name, start.value_or_zeros(tangent, &meta)?));
    }
    start.finish(all)
}

fn scalar_gradient(
    transform: &'static str,
    program: &SemanticProgram,
    wrt: &[usize],
    ctx: &AdContext,
) -> Result<(Start, Outputs, Vec<Option<ValueId>>)> {
    let [output] = program.outputs() else {
        let message = format!("must be one real scalar, but there are {}", program.outputs().len());
        return Err(Error::argument(transform, "outputs", message));
    };
    let meta = program.meta(output.value);
    if !meta.dtype.is_real_float() || meta.rank() != 0 {
        let message = format!("must be a real scalar, but is {}[rank {}]", meta.dtype, meta.rank());
        return Err(Error::argument(transform, "output", message));
    }
    let mut start = Start::new(transform, program, wrt)?;
    let seed = start.b.filled(meta, 1.0)?;
    let (outputs, gradients) = start.reverse(program, wrt, &[Some(seed)], ctx)?;
    let value = named_outputs(program, &outputs);
    Ok((start, value, gradients))
}

/// A derivative program under construction, with the inputs of the original.
struct Start {
    b: ProgramBuilder,
    inputs: Vec<ValueId>,
}

impl Start {
    fn new(transform: &'static str, program: &SemanticProgram, wrt: &[usize]) -> Result<Self> {
        for (position, &i) in wrt.iter().enumerate() {
            let Some(input) = program.inputs().get(i) else {
                let message = format!("names input {i}, but the program has {}", program.inputs().len());
                return Err(Error::argument(transform, "wrt", message));
            };
            if wrt[..position].contains(&i) {
                return Err(Error::argument(transform, "wrt", format!("names input {i} (`{}`) twice", input.name)));
            }
            let dtype = program.input_meta(i).dtype;
            if !dtype.is_float() {
                let argument = input.name.clone();
                return Err(Error::DType { op: transform.into(), argument, expected: "a float".into(), actual: dtype });
            }
        }
        Self::repeating(format!("{transform}_{}", program.name()), program)
    }

    fn repeating(name: String, program: &SemanticProgram) -> Result<Self> {
        let mut b = ProgramBuilder::new(name);
        let inputs = b.repeat_inputs(program)?;
        Ok(Self { b, inputs })
    }

    /// An input for the tangent of each input of `wrt`.
    fn tangent_inputs(&mut self, program: &SemanticProgram, wrt: &[usize]) -> Result<Vec<Option<ValueId>>> {
        let mut tangents = vec![None; program.inputs().len()];
        for &i in wrt {
            let meta = program.input_meta(i);
            let name = self.b.fresh_name(&format!("d_{}", program.inputs()[i].name));
            tangents[i] = Some(self.b.input(name, meta.dtype, &meta.shape)?);
        }
        Ok(tangents)
    }

    /// The outputs of `program` and the gradients for `wrt`, given cotangents of the outputs.
    fn reverse(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        cotangents: &[Option<ValueId>],
        ctx: &AdContext,
    ) -> Result<(Vec<ValueId>, Vec<Option<ValueId>>)> {
        let b = &mut self.b;
        let first_node = b.nodes().len();
        let mut tangents = vec![None; program.inputs().len()];
        let mut linear_inputs = Vec::with_capacity(wrt.len());
        for &i in wrt {
            let placeholder = b.placeholder(program.input_meta(i).clone());
            tangents[i] = Some(placeholder);
            linear_inputs.push(placeholder);
        }
        let Linearized { outputs, tangents } = linearize(b, program, &self.inputs, &tangents, Mode::Reverse, ctx)?;
        let seeds: Vec<(ValueId, ValueId)> =
            tangents.into_iter().zip(cotangents).filter_map(|(t, &c)| Some((t?, c?))).collect();
        Ok((outputs, transpose(b, &linear_inputs, first_node, &seeds, ctx)?))
    }

    /// Every gradient under its name, zeros where there is none.
    fn all_or_zeros(
        &mut self,
        program: &SemanticProgram,
        wrt: &[usize],
        gradients: Vec<Option<ValueId>>,
    ) -> Result<Outputs> {
        let mut named = Outputs::new();
        for (&i, gradient) in wrt.iter().zip(gradients) {
            named.push((gradient_name(program, i), self.value_or_zeros(gradient, program.input_meta(i))?));
        }
        Ok(named)
    }

    /// Ends with the gradients there are; says which output each became.
    fn finish_present(
        self,
        mut outputs: Outputs,
        program: &SemanticProgram,
        wrt: &[usize],
        gradients: Vec<Option<ValueId>>,
    ) -> Result<(SemanticProgram, Vec<Option<usize>>)> {
        let mut positions = Vec::with_capacity(wrt.len());
        for (&i, gradient) in wrt.iter().zip(gradients) {
            positions.push(gradient.map(|_| outputs.len()));
            outputs.extend(gradient.map(|value| (gradient_name(program, i), value)));
        }
        Ok((self.finish(outputs)?, positions))
    }

    fn value_or_zeros(&mut self, value: Option<ValueId>, meta: &ValueMeta) -> Result<ValueId> {
        value.map_or_else(|| self.b.zeros(meta), Ok)
    }

    fn finish(self, outputs: Outputs) -> Result<SemanticProgram> {
        let outputs: Vec<(Option<&str>, ValueId)> = outputs.iter().map(|(n, v)| (n.as_deref(), *v)).collect();
        self.b.finish(&outputs)
    }
}

fn named_outputs(program: &SemanticProgram, outputs: &[ValueId]) -> Outputs {
    program.outputs().iter().zip(outputs).map(|(o, &v)| (o.name.as_ref().map(ToString::to_string), v)).collect()
}

fn gradient_name(program: &SemanticProgram, input: usize) -> Option<String> {
    Some(format!("d_{}", program.inputs()[input].name))
}

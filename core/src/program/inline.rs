//! Copying a program into another one.

use super::{Node, Op, ProgramBuilder, Relation, SemanticProgram, SizeNames, ValueId};
use crate::error::{Error, Result};
use crate::extension::{ExtensionRef, ShapeContext};
use crate::shape::SymDim;

/// Writes an operation on operands of the receiving program; returns its results there.
pub(crate) type Emit<'a> = dyn FnMut(&mut ProgramBuilder, &Op, &[ValueId]) -> Result<Vec<ValueId>> + 'a;

impl ProgramBuilder {
    /// Copies `program` with its inputs replaced by `arguments`; returns its outputs.
    ///
    /// Its sizes are solved from the shapes of the arguments.
    ///
    /// # Errors
    /// When number, dtypes or shapes of the arguments do not fit; what cannot be decided becomes a guard.
    pub fn call(&mut self, program: &SemanticProgram, arguments: &[ValueId]) -> Result<Vec<ValueId>> {
        let within = format!(" in {}", program.name());
        self.copy(program, arguments, &within, &mut |b, op, inputs| b.apply(op.clone(), inputs))
    }

    /// [`call`](Self::call) with every operation, its sizes replaced, written by `emit`; `within` ends the reasons of
    /// guards, whose names are those of `program`.
    pub(crate) fn copy(
        &mut self,
        program: &SemanticProgram,
        arguments: &[ValueId],
        within: &str,
        emit: &mut Emit<'_>,
    ) -> Result<Vec<ValueId>> {
        let sizes = self.with_context(arguments, |ctx| sizes_of_call(program, within, ctx))?;
        let mut map = arguments.to_vec();
        for node in program.nodes() {
            let inputs: Vec<ValueId> = node.inputs.iter().map(|v| map[v.index()]).collect();
            map.extend(emit(self, &substituted(node, &sizes), &inputs)?);
        }
        Ok(program.outputs().iter().map(|o| map[o.value.index()]).collect())
    }

    /// Applies an operation; returns its results.
    pub(crate) fn apply(&mut self, op: Op, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        match op {
            Op::Core(op) => Ok(vec![self.op(op, inputs)?]),
            Op::Extension(op) => self.extension(op, inputs),
        }
    }

    /// Repeats the sizes and inputs of a program.
    pub(crate) fn repeat_inputs(&mut self, program: &SemanticProgram) -> Result<Vec<ValueId>> {
        self.adopt_sizes(program);
        let input = |(i, input): (usize, &super::Input)| {
            let meta = program.input_meta(i);
            self.input(input.name.to_string(), meta.dtype, &meta.shape)
        };
        program.inputs().iter().enumerate().map(input).collect()
    }
}

/// The sizes of `program` when it is called with the operands of `ctx`. Requires what the program requires of them.
pub(crate) fn sizes_of_call(
    program: &SemanticProgram,
    within: &str,
    ctx: &mut ShapeContext<'_>,
) -> Result<Vec<SymDim>> {
    let name = program.name();
    if ctx.input_count() != program.inputs().len() {
        let message = format!("must be {}, not {}", program.inputs().len(), ctx.input_count());
        return Err(Error::argument(name.to_string(), "arguments", message));
    }
    for i in 0..ctx.input_count() {
        let (declared, actual) = (program.input_meta(i), ctx.input(i));
        let argument = program.inputs()[i].name.clone();
        if declared.dtype != actual.dtype {
            let expected = declared.dtype.name().into();
            return Err(Error::DType { op: name.to_string().into(), argument, expected, actual: actual.dtype });
        }
        if declared.rank() != actual.rank() {
            let expected = SizeNames(program.sizes()).shape(&declared.shape);
            return Err(Error::shape(name.to_string(), argument, expected, ctx.shape_text(i)));
        }
    }
    let mut sizes = Vec::with_capacity(program.sizes().len());
    for size in program.sizes() {
        let dim = ctx.input(size.input as usize).shape[size.axis as usize].clone();
        let multiple = &dim - size.offset;
        let value = multiple.div(&size.scale.into());
        let reason = format!("size `{}` of {name}", size.name);
        ctx.require_equal(&(&value * size.scale), &multiple, &reason)?;
        if value != dim {
            ctx.require_at_most(&0.into(), &value, &reason)?;
        }
        sizes.push(value);
    }
    for i in 0..ctx.input_count() {
        for (axis, dim) in program.input_meta(i).shape.iter().enumerate() {
            let actual = &ctx.input(i).shape[axis];
            let reason = format!("axis {axis} of `{}` in the call of {name}", program.inputs()[i].name);
            ctx.require_equal(&dim.substitute(&sizes), actual, &reason)?;
        }
    }
    for guard in program.guards() {
        let (lhs, rhs) = (guard.lhs.substitute(&sizes), guard.rhs.substitute(&sizes));
        let reason = format!("{}{within}", guard.reason);
        match guard.relation {
            Relation::Eq => ctx.require_equal(&lhs, &rhs, &reason)?,
            Relation::Le => ctx.require_at_most(&lhs, &rhs, &reason)?,
        }
    }
    Ok(sizes)
}

fn substituted(node: &Node, sizes: &[SymDim]) -> Op {
    match &node.op {
        Op::Core(op) => Op::Core(op.substitute(sizes)),
        Op::Extension(op) => Op::Extension(ExtensionRef::clone(op)),
    }
}

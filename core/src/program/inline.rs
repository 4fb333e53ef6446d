//! Copying a program into another one.

use std::ops::RangeInclusive;

use super::{Node, Op, ProgramBuilder, Relation, SemanticProgram, Size, SizeBinding, SizeNames, ValueId};
use crate::error::{Error, Result};
use crate::extension::{ExtensionRef, ShapeContext};
use crate::shape::SymDim;

/// Writes an operation on operands of the receiving program; returns its results there.
pub(crate) type Emit<'a> = dyn FnMut(&mut ProgramBuilder, &Op, &[ValueId]) -> Result<Vec<ValueId>> + 'a;

/// What the sizes of a copied program are in the receiving one.
#[derive(Clone, Copy)]
pub(crate) enum CopySizes<'w> {
    /// The same: the receiving program has [repeated](ProgramBuilder::repeat_inputs) them, and the arguments are its
    /// repeated inputs. Guards are repeated too.
    Repeated,
    /// What the arguments and the values say. The text ends the reasons of guards, whose names are those of the copied
    /// program.
    OfCall(&'w str),
}

impl ProgramBuilder {
    /// Copies `program` with its inputs replaced by `arguments`; returns its outputs.
    ///
    /// Its sizes are solved from the shapes of the arguments; those that it reads off values are read off the copies.
    ///
    /// # Errors
    /// When number, dtypes or shapes of the arguments do not fit; what cannot be decided becomes a guard.
    pub fn call(&mut self, program: &SemanticProgram, arguments: &[ValueId]) -> Result<Vec<ValueId>> {
        let within = format!(" in {}", program.name());
        self.copy(program, arguments, CopySizes::OfCall(&within), &mut |b, op, inputs| b.apply(op.clone(), inputs))
    }

    /// [`call`](Self::call) with every operation, its sizes replaced, written by `emit`.
    pub(crate) fn copy(
        &mut self,
        program: &SemanticProgram,
        arguments: &[ValueId],
        sizes: CopySizes<'_>,
        emit: &mut Emit<'_>,
    ) -> Result<Vec<ValueId>> {
        let mut map = arguments.to_vec();
        let mut known = match sizes {
            CopySizes::Repeated => {
                debug_assert!(self.repeats_sizes(program), "sizes of {} mean others in {}", program.name(), self.name);
                program.guards().iter().for_each(|guard| self.push_guard(guard.clone()));
                Vec::new()
            }
            CopySizes::OfCall(within) => self.with_context(arguments, |ctx| sizes_of_call(program, within, ctx))?,
        };
        let mut waiting = program.value_sizes().peekable();
        let mut nodes = program.nodes().iter();
        loop {
            match sizes {
                CopySizes::Repeated => self.adopt_values(&mut waiting, &map),
                CopySizes::OfCall(within) => {
                    while let Some(size) = waiting.next_if(|size| size.value.index() < map.len()) {
                        let (name, bound) = (self.fresh_size_name(size.name), size.bound.substitute(&known));
                        known.push(self.size_of_value(name, map[size.value.index()], &bound)?);
                        let decided = known.len()..=known.len();
                        self.with_context(arguments, |ctx| require_of_call(program, &known, decided, within, ctx))?;
                    }
                }
            }
            let Some(node) = nodes.next() else { break };
            let inputs: Vec<ValueId> = node.inputs.iter().map(|v| map[v.index()]).collect();
            map.extend(emit(self, &substituted(node, &known), &inputs)?);
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

    /// Whether the first sizes are those of `program`.
    fn repeats_sizes(&self, program: &SemanticProgram) -> bool {
        let same = |(here, there): (&Size, &Size)| {
            let bindings = match (&here.binding, &there.binding) {
                (SizeBinding::Axis { .. }, SizeBinding::Axis { .. }) => true,
                (SizeBinding::Value { bound: here, .. }, SizeBinding::Value { bound: there, .. }) => here == there,
                _ => false,
            };
            bindings && here.name == there.name
        };
        self.sizes.len() >= program.sizes().len() && self.sizes.iter().zip(program.sizes()).all(same)
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

/// The sizes of `program` that are read off axes when it is called with the operands of `ctx`. Requires what the
/// program requires of them.
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
        let SizeBinding::Axis { input, axis, scale, offset } = size.binding else { break };
        let dim = ctx.input(input as usize).shape[axis as usize].clone();
        let multiple = &dim - offset;
        let value = multiple.div(&scale.into());
        let reason = format!("size `{}` of {name}", size.name);
        ctx.require_equal(&(&value * scale), &multiple, &reason)?;
        if value != dim {
            ctx.require_at_most(&0.into(), &value, &reason)?;
        }
        sizes.push(value);
    }
    require_of_call(program, &sizes, 0..=sizes.len(), within, ctx)?;
    Ok(sizes)
}

/// Requires of the arguments of a call what a number of `decided` sizes suffice to say.
fn require_of_call(
    program: &SemanticProgram,
    sizes: &[SymDim],
    decided: RangeInclusive<usize>,
    within: &str,
    ctx: &mut ShapeContext<'_>,
) -> Result<()> {
    let name = program.name();
    for i in 0..ctx.input_count() {
        let declared = program.input_meta(i).shape.iter().enumerate();
        for (axis, dim) in declared.filter(|(_, dim)| decided.contains(&dim.sizes_needed())) {
            let actual = &ctx.input(i).shape[axis];
            let reason = format!("axis {axis} of `{}` in the call of {name}", program.inputs()[i].name);
            ctx.require_equal(&dim.substitute(sizes), actual, &reason)?;
        }
    }
    for guard in program.guards().iter().filter(|guard| decided.contains(&guard.sizes_needed())) {
        let (lhs, rhs) = (guard.lhs.substitute(sizes), guard.rhs.substitute(sizes));
        let reason = format!("{}{within}", guard.reason);
        match guard.relation {
            Relation::Eq => ctx.require_equal(&lhs, &rhs, &reason)?,
            Relation::Le => ctx.require_at_most(&lhs, &rhs, &reason)?,
        }
    }
    Ok(())
}

fn substituted(node: &Node, sizes: &[SymDim]) -> Op {
    match &node.op {
        Op::Core(op) => Op::Core(op.substitute(sizes)),
        Op::Extension(op) => Op::Extension(ExtensionRef::clone(op)),
    }
}

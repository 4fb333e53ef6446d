//! Copying a program into another one.

use super::{Node, Op, ProgramBuilder, Relation, SemanticProgram, ValueId};
use crate::error::{Error, Result};
use crate::extension::ExtensionRef;
use crate::shape::SymDim;

/// A node as it stands after copying.
pub(crate) struct Copied<'a> {
    /// The operation, its sizes replaced.
    pub op: &'a Op,
    /// Its operands in the receiving program.
    pub inputs: &'a [ValueId],
    /// Its results in the receiving program.
    pub outputs: &'a [ValueId],
}

impl ProgramBuilder {
    /// Copies `program` with its inputs replaced by `arguments`; returns its outputs.
    ///
    /// Its sizes are solved from the shapes of the arguments.
    ///
    /// # Errors
    /// When number, dtypes or shapes of the arguments do not fit; what cannot be decided becomes a guard.
    pub fn call(&mut self, program: &SemanticProgram, arguments: &[ValueId]) -> Result<Vec<ValueId>> {
        self.inline(program, arguments, &format!(" in {}", program.name()), &mut |_, _| Ok(()))
    }

    /// Copies a program of this one's own inputs; reports every node once it is copied.
    pub(crate) fn copy(
        &mut self,
        program: &SemanticProgram,
        arguments: &[ValueId],
        visit: &mut dyn FnMut(&mut Self, Copied<'_>) -> Result<()>,
    ) -> Result<Vec<ValueId>> {
        self.inline(program, arguments, "", visit)
    }

    /// `within` ends the reasons of guards, whose names are those of `program`.
    fn inline(
        &mut self,
        program: &SemanticProgram,
        arguments: &[ValueId],
        within: &str,
        visit: &mut dyn FnMut(&mut Self, Copied<'_>) -> Result<()>,
    ) -> Result<Vec<ValueId>> {
        let sizes = self.sizes_of_call(program, arguments)?;
        for guard in program.guards() {
            let (lhs, rhs) = (guard.lhs.substitute(&sizes), guard.rhs.substitute(&sizes));
            self.guard(&lhs, guard.relation, &rhs, &format!("{}{within}", guard.reason))?;
        }
        let mut map = arguments.to_vec();
        for node in program.nodes() {
            let op = substituted(node, &sizes);
            let inputs: Vec<ValueId> = node.inputs.iter().map(|v| map[v.index()]).collect();
            let first = self.node(op.clone(), &inputs)?;
            let outputs: Vec<ValueId> = (first.0..first.0 + node.output_count).map(ValueId).collect();
            visit(self, Copied { op: &op, inputs: &inputs, outputs: &outputs })?;
            map.extend(outputs);
        }
        Ok(program.outputs().iter().map(|o| map[o.value.index()]).collect())
    }

    fn sizes_of_call(&mut self, program: &SemanticProgram, arguments: &[ValueId]) -> Result<Vec<SymDim>> {
        let name = program.name();
        if arguments.len() != program.inputs().len() {
            let message = format!("must be {}, not {}", program.inputs().len(), arguments.len());
            return Err(Error::argument(name.to_string(), "arguments", message));
        }
        for (i, &argument) in arguments.iter().enumerate() {
            let (declared, actual) = (program.input_meta(i), self.meta(argument).clone());
            let argument = program.inputs()[i].name.clone();
            if declared.dtype != actual.dtype {
                let expected = declared.dtype.name().into();
                return Err(Error::DType { op: name.to_string().into(), argument, expected, actual: actual.dtype });
            }
            if declared.rank() != actual.rank() {
                let expected = super::SizeNames(program.sizes()).shape(&declared.shape);
                let actual = self.size_names().shape(&actual.shape);
                return Err(Error::shape(name.to_string(), argument, expected, actual));
            }
        }
        let mut sizes = Vec::with_capacity(program.sizes().len());
        for size in program.sizes() {
            let dim = self.meta(arguments[size.input as usize]).shape[size.axis as usize].clone();
            let multiple = &dim - size.offset;
            let value = multiple.div(&size.scale.into());
            let reason = format!("size `{}` of {name}", size.name);
            self.guard(&(&value * size.scale), Relation::Eq, &multiple, &reason)?;
            if value != dim {
                self.guard(&0.into(), Relation::Le, &value, &reason)?;
            }
            sizes.push(value);
        }
        for (i, &argument) in arguments.iter().enumerate() {
            for (axis, dim) in program.input_meta(i).shape.iter().enumerate() {
                let actual = self.meta(argument).shape[axis].clone();
                let reason = format!("axis {axis} of `{}` in the call of {name}", program.inputs()[i].name);
                self.guard(&dim.substitute(&sizes), Relation::Eq, &actual, &reason)?;
            }
        }
        Ok(sizes)
    }
}

fn substituted(node: &Node, sizes: &[SymDim]) -> Op {
    match &node.op {
        Op::Core(op) => Op::Core(op.substitute(sizes)),
        Op::Extension(op) => Op::Extension(ExtensionRef::clone(op)),
    }
}

//! The executable specification of a program's invariants.

use super::builder::infer;
use super::{Op, SemanticProgram, SizeNames, ValueId};
use crate::error::{Error, Result};

impl SemanticProgram {
    /// Checks every invariant of a program.
    ///
    /// 1. There is one value for each input and for each result of a node, in that order.
    /// 2. A node uses only inputs and results of earlier nodes; outputs are values of the program.
    /// 3. Dtypes and shapes of the results are those that the operation's rules infer.
    /// 4. Conditions that the rules could not decide stand among the guards.
    /// 5. Every size is bound by an axis that determines it; names of inputs are distinct, and so are names of sizes.
    /// 6. The fingerprint is that of the structure.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the invariant and the place.
    pub fn verify(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::Malformed { program: self.name.to_string(), message });
        let mut next = self.inputs.len();
        for (i, node) in self.nodes.iter().enumerate() {
            if node.first_output.index() != next {
                return refuse(format!("the results of node {i} are not numbered from {next}"));
            }
            if let Some(late) = node.inputs.iter().find(|v| v.index() >= next) {
                return refuse(format!("node {i} ({}) uses %{} before it is defined", node.op.name(), late.0));
            }
            next += node.output_count as usize;
        }
        if next != self.values.len() {
            return refuse(format!("{} values are described, but {next} exist", self.values.len()));
        }
        if let Some(o) = self.outputs.iter().find(|o| o.value.index() >= next) {
            return refuse(format!("output %{} is no value", o.value.0));
        }
        for (i, input) in self.inputs.iter().enumerate() {
            if self.inputs[..i].contains(input) {
                return refuse(format!("two inputs are named `{}`", input.name));
            }
        }
        for (i, size) in self.sizes.iter().enumerate() {
            if self.sizes[..i].iter().any(|s| s.name == size.name) {
                return refuse(format!("two sizes are named `{}`", size.name));
            }
            let dim = self.values.get(size.input as usize).and_then(|m| m.shape.get(size.axis as usize));
            let bound = dim.and_then(|d| d.as_affine());
            if size.input as usize >= self.inputs.len()
                || !bound.is_some_and(|(id, scale, offset)| {
                    self.sizes.get(id.0 as usize).is_some_and(|s| std::ptr::eq(s, size))
                        && (scale, offset) == (size.scale, size.offset)
                })
            {
                return refuse(format!("size `{}` is not bound by the axis it names", size.name));
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            self.verify_node(i, &node.op, &node.inputs, node.outputs().collect())?;
        }
        if self.fingerprint != self.compute_fingerprint() {
            return refuse("the fingerprint is not that of the structure".to_string());
        }
        Ok(())
    }

    fn verify_node(&self, i: usize, op: &Op, inputs: &[ValueId], outputs: Vec<ValueId>) -> Result<()> {
        let refuse = |message: String| Err(Error::Malformed { program: self.name.to_string(), message });
        let metas: Vec<_> = inputs.iter().map(|&v| self.meta(v)).collect();
        let (inferred, guards) = infer(op, &metas, SizeNames(&self.sizes))?;
        let names = SizeNames(&self.sizes);
        if inferred.len() != outputs.len() {
            return refuse(format!("node {i} ({}) has {} results", op.name(), outputs.len()));
        }
        for (inferred, output) in inferred.iter().zip(outputs) {
            if inferred != self.meta(output) {
                return refuse(format!(
                    "%{} is described as {}, but {} gives {}",
                    output.0,
                    names.meta(self.meta(output)),
                    op.name(),
                    names.meta(inferred)
                ));
            }
        }
        for guard in guards {
            let stated = |g: &super::Guard| (&g.lhs, g.relation, &g.rhs) == (&guard.lhs, guard.relation, &guard.rhs);
            if !self.guards.iter().any(stated) {
                return refuse(format!("node {i} ({}) needs a guard that is missing: {}", op.name(), guard.reason));
            }
        }
        Ok(())
    }
}

//! The executable specification of a program's invariants.

use super::builder::infer;
use super::finish::extent_guards;
use super::{Guard, Op, SemanticProgram, Size, SizeBinding, SizeNames, ValueId, ValueMeta};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::SizeId;

impl SemanticProgram {
    /// Checks every invariant of a program.
    ///
    /// 1. There is one value for each input and for each result of a node, in that order.
    /// 2. A node uses only inputs and results of earlier nodes; outputs are values of the program.
    /// 3. Dtypes and shapes of the results are those that the operation's rules infer.
    /// 4. Conditions that the rules could not decide stand among the guards, and so does that extents are not negative.
    /// 5. Every size is bound by an axis that determines it, or read off an i32 or i64 scalar and bounded by sizes of
    ///    axes; names of inputs are distinct, and so are names of sizes.
    /// 6. Sizes stand in the order in which they become known, and a node mentions only those of axes and of earlier
    ///    values.
    /// 7. The fingerprint is that of the structure.
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
            self.verify_size(i, size)?;
        }
        for (i, node) in self.nodes.iter().enumerate() {
            self.verify_node(i, &node.op, &node.inputs, node.outputs().collect())?;
        }
        if let Some(guard) = extent_guards(&self.values, &self.sizes).find(|guard| !self.states(guard)) {
            let dim = SizeNames(&self.sizes).dim(&guard.rhs);
            return refuse(format!("a guard is missing that the extent {dim} is not negative"));
        }
        if self.fingerprint != self.compute_fingerprint() {
            return refuse("the fingerprint is not that of the structure".to_string());
        }
        Ok(())
    }

    fn verify_size(&self, i: usize, size: &Size) -> Result<()> {
        let refuse = |message: String| Err(Error::Malformed { program: self.name.to_string(), message });
        let name = &size.name;
        match &size.binding {
            &SizeBinding::Axis { input, axis, scale, offset } => {
                let dim = self.values.get(input as usize).and_then(|m| m.shape.get(axis as usize));
                let bound = dim.and_then(|d| d.as_affine());
                if input as usize >= self.inputs.len() || bound != Some((SizeId(i as u32), scale, offset)) {
                    return refuse(format!("size `{name}` is not bound by the axis it names"));
                }
                if i >= self.axis_size_count() {
                    return refuse(format!("size `{name}` of an axis stands after one of a value"));
                }
            }
            SizeBinding::Value { value, bound } => {
                let scalar = |meta: &ValueMeta| meta.rank() == 0 && matches!(meta.dtype, DType::I32 | DType::I64);
                if !self.values.get(value.index()).is_some_and(scalar) {
                    return refuse(format!("size `{name}` is read off %{}, which is no i32 or i64 scalar", value.0));
                }
                if bound.sizes_needed() > self.axis_size_count() {
                    return refuse(format!(
                        "the bound of size `{name}` depends on a size that is not read off an axis"
                    ));
                }
                if self.value_sizes().any(|other| (other.id.0 as usize) < i && other.value > *value) {
                    return refuse(format!("size `{name}` is known before one that it stands after"));
                }
            }
        }
        Ok(())
    }

    /// The sizes that are known when a node is reached.
    fn known_sizes(&self, first_output: ValueId) -> usize {
        self.axis_size_count() + self.value_sizes().take_while(|size| size.value < first_output).count()
    }

    fn verify_node(&self, i: usize, op: &Op, inputs: &[ValueId], outputs: Vec<ValueId>) -> Result<()> {
        let refuse = |message: String| Err(Error::Malformed { program: self.name.to_string(), message });
        let known = outputs.first().map_or(self.sizes.len(), |&first| self.known_sizes(first));
        let attributes = if let Op::Core(op) = op { op.dims() } else { Vec::new() };
        let shapes = outputs.iter().flat_map(|&v| self.meta(v).shape.iter());
        if let Some(early) = attributes.into_iter().chain(shapes).find(|dim| dim.sizes_needed() > known) {
            let dim = SizeNames(&self.sizes).dim(early);
            return refuse(format!("node {i} ({}) uses {dim} before its sizes are known", op.name()));
        }
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
        match guards.into_iter().find(|guard| !self.states(guard)) {
            Some(guard) => refuse(format!("node {i} ({}) needs a guard that is missing: {}", op.name(), guard.reason)),
            None => Ok(()),
        }
    }

    fn states(&self, guard: &Guard) -> bool {
        self.guards.iter().any(|g| (&g.lhs, g.relation, &g.rhs) == (&guard.lhs, guard.relation, &guard.rhs))
    }
}

//! What the passes share: copying a program node by node.

use crate::error::Result;
use crate::ops::CoreOp;
use crate::program::{Node, Op, ProgramBuilder, SemanticProgram, ValueId, ValueMeta};

/// A core operation as it stands before it is copied.
pub(super) struct Site<'a> {
    /// The operation.
    pub op: &'a CoreOp,
    /// Its operands in the new program.
    pub inputs: &'a [ValueId],
    /// Dtype and shape of its result.
    pub meta: &'a ValueMeta,
}

/// Copies `program`; where `replace` returns a value of the same dtype and shape, it stands for the core operation.
pub(super) fn rewrite(
    program: &SemanticProgram,
    replace: impl Fn(&mut ProgramBuilder, Site<'_>) -> Result<Option<ValueId>>,
) -> Result<SemanticProgram> {
    rewrite_nodes(program, |b, node, inputs| match &node.op {
        Op::Core(op) => replace(b, Site { op, inputs, meta: program.meta(node.first_output) }),
        Op::Extension(_) => Ok(None),
    })
}

/// Copies `program`; where `replace`, given a node and its operands in the new program, returns the first of values of
/// the dtypes and shapes of the node's results, they stand for these.
pub(super) fn rewrite_nodes(
    program: &SemanticProgram,
    replace: impl Fn(&mut ProgramBuilder, &Node, &[ValueId]) -> Result<Option<ValueId>>,
) -> Result<SemanticProgram> {
    let mut b = ProgramBuilder::new(program.name());
    b.adopt_sizes(program);
    let mut map = Vec::with_capacity(program.values().len());
    for (i, input) in program.inputs().iter().enumerate() {
        let meta = program.input_meta(i);
        map.push(b.input(&*input.name, meta.dtype, &meta.shape)?);
    }
    for guard in program.guards() {
        b.push_guard(guard.clone());
    }
    let mut waiting = program.value_sizes().peekable();
    b.adopt_values(&mut waiting, &map);
    for node in program.nodes() {
        let inputs: Vec<ValueId> = node.inputs.iter().map(|v| map[v.index()]).collect();
        let results = |first: ValueId| (first.0..first.0 + node.output_count).map(ValueId);
        let replacement = replace(&mut b, node, &inputs)?;
        let same =
            |first: &ValueId| node.outputs().zip(results(*first)).all(|(old, new)| program.meta(old) == b.meta(new));
        map.extend(results(match replacement.filter(same) {
            Some(first) => first,
            None => b.node(node.op.clone(), &inputs)?,
        }));
        b.adopt_values(&mut waiting, &map);
    }
    let outputs: Vec<(Option<&str>, ValueId)> =
        program.outputs().iter().map(|o| (o.name.as_deref(), map[o.value.index()])).collect();
    let mut rewritten = b.finish(&outputs)?;
    let of_axes = 0..program.axis_size_count();
    if rewritten.sizes[of_axes.clone()] != program.sizes[of_axes.clone()] {
        // The program binds a size elsewhere than the builder would.
        rewritten.sizes.to_mut()[of_axes.clone()].clone_from_slice(&program.sizes[of_axes]);
        rewritten.fingerprint = rewritten.compute_fingerprint();
    }
    Ok(rewritten)
}

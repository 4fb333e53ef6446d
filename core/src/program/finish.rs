//! The end of building: what is needed stays, and values and sizes are numbered in order.

use std::collections::HashSet;

use super::builder::{NOT_COPIED, bind_sizes, is_pure, is_unbound};
use super::{
    Fingerprint, Guard, Input, Node, Op, Output, ProgramBuilder, Relation, SemanticProgram, Size, SizeBinding,
    SizeNames, ValueId, ValueMeta,
};
use crate::error::Result;
use crate::shape::{SizeId, SymDim, never_negative};

/// Which nodes and sizes of a builder are needed.
struct Live {
    nodes: Vec<bool>,
    sizes: Vec<bool>,
}

impl ProgramBuilder {
    /// Ends the program: operations without effects that no output needs are dropped, with their guards and with the
    /// sizes that only they read off values; values are numbered in order, and sizes in the order in which they become
    /// known.
    ///
    /// # Errors
    /// When a size is not determined by any input.
    pub fn finish(mut self, outputs: &[(Option<&str>, ValueId)]) -> Result<SemanticProgram> {
        let live = self.live(outputs)?;
        let mut renumbered = vec![ValueId(u32::MAX); self.values.len()];
        let mut values = Vec::new();
        let mut keep = |old: ValueId| {
            let new = ValueId(values.len() as u32);
            values.push(self.values[old.index()].clone());
            renumbered[old.index()] = new;
            new
        };
        self.inputs.iter().for_each(|&(_, value)| {
            keep(value);
        });
        let mut nodes: Vec<Node> = std::mem::take(&mut self.nodes);
        let mut live_nodes = live.nodes.iter();
        nodes.retain(|_| live_nodes.next() == Some(&true));
        for node in &mut nodes {
            let outputs: Vec<ValueId> = node.outputs().map(&mut keep).collect();
            node.first_output = outputs[0];
        }
        for node in &mut nodes {
            node.inputs = node.inputs.iter().map(|v| renumbered[v.index()]).collect();
        }
        let (mut sizes, moved) = self.ordered_sizes(&live, &renumbered);
        if let Some(moved) = moved {
            for meta in &mut values {
                meta.shape = meta.shape.iter().map(|dim| dim.substitute(&moved)).collect();
            }
            for node in &mut nodes {
                if let Op::Core(op) = &mut node.op {
                    *op = op.substitute(&moved);
                }
            }
            for (_, guard) in &mut self.guards {
                let (lhs, rhs) = (guard.lhs.substitute(&moved), guard.rhs.substitute(&moved));
                *guard = Guard { lhs, relation: guard.relation, rhs, reason: guard.reason.clone() }.in_order();
            }
        }
        self.bind_axis_sizes(&mut sizes, &values)?;
        let guards = kept_guards(std::mem::take(&mut self.guards), &live.nodes, &values, &sizes);
        let output = |&(name, value): &(Option<&str>, ValueId)| Output {
            name: name.map(|n| n.to_string().into()),
            value: renumbered[value.index()],
        };
        let mut program = SemanticProgram {
            name: self.name.into(),
            sizes: sizes.into(),
            inputs: self.inputs.into_iter().map(|(name, _)| Input { name: name.into() }).collect(),
            values: values.into(),
            nodes: nodes.into(),
            outputs: outputs.iter().map(output).collect(),
            guards: guards.into(),
            fingerprint: Fingerprint(0),
        };
        program.fingerprint = program.compute_fingerprint();
        if cfg!(debug_assertions) {
            program.verify()?;
        }
        Ok(program)
    }

    /// What outputs and effects need. A value needs the sizes in its shape, and a size the value that it is read off.
    fn live(&self, outputs: &[(Option<&str>, ValueId)]) -> Result<Live> {
        let off_axis = |size: &Size| matches!(size.binding, SizeBinding::Axis { .. });
        let mut live = Live { nodes: vec![false; self.nodes.len()], sizes: self.sizes.iter().map(off_axis).collect() };
        let mut pending: Vec<ValueId> = outputs.iter().map(|&(_, v)| v).collect();
        pending.iter().try_for_each(|&v| self.known(v))?;
        pending.extend(self.nodes.iter().filter(|node| !is_pure(&node.op)).map(|node| node.first_output));
        for &(_, input) in &self.inputs {
            self.need_sizes(self.meta(input).shape.iter(), &mut live, &mut pending)?;
        }
        loop {
            while let Some(value) = pending.pop() {
                match self.makers[value.index()] {
                    Some(node) if !live.nodes[node as usize] => {
                        live.nodes[node as usize] = true;
                        let node = &self.nodes[node as usize];
                        pending.extend(node.inputs.iter());
                        if let Op::Core(op) = &node.op {
                            self.need_sizes(op.dims().into_iter(), &mut live, &mut pending)?;
                        }
                        let shapes = node.outputs().flat_map(|v| self.meta(v).shape.iter());
                        self.need_sizes(shapes, &mut live, &mut pending)?;
                    }
                    None if !self.inputs.iter().any(|&(_, v)| v == value) => {
                        return Err(self.malformed("an output depends on a tangent that was never given".to_string()));
                    }
                    _ => {}
                }
            }
            for (node, guard) in &self.guards {
                if node.is_none_or(|node| live.nodes[node as usize]) {
                    self.need_sizes([&guard.lhs, &guard.rhs].into_iter(), &mut live, &mut pending)?;
                }
            }
            if pending.is_empty() {
                return Ok(live);
            }
        }
    }

    /// Marks the sizes that occur in extents, and notes the values that those are read off.
    fn need_sizes<'d>(
        &self,
        dims: impl Iterator<Item = &'d SymDim>,
        live: &mut Live,
        pending: &mut Vec<ValueId>,
    ) -> Result<()> {
        let mut missing = None;
        for dim in dims {
            dim.for_each_size(&mut |SizeId(id)| {
                let size = &self.sizes[id as usize];
                match size.binding {
                    SizeBinding::Value { value: NOT_COPIED, .. } => missing = Some(size),
                    SizeBinding::Value { value, .. } if !live.sizes[id as usize] => pending.push(value),
                    _ => {}
                }
                live.sizes[id as usize] = true;
            });
        }
        match missing {
            None => Ok(()),
            Some(size) => Err(self.malformed(format!("size `{}` is read off a value that is missing", size.name))),
        }
    }

    /// The live sizes in the order in which they become known, and what to replace the old ones by, if any moved.
    fn ordered_sizes(&self, live: &Live, renumbered: &[ValueId]) -> (Vec<Size>, Option<Vec<SymDim>>) {
        let mut order: Vec<usize> = (0..self.sizes.len()).filter(|&i| live.sizes[i]).collect();
        order.sort_by_key(|&i| match self.sizes[i].binding {
            SizeBinding::Axis { .. } => None,
            SizeBinding::Value { value, .. } => Some(renumbered[value.index()]),
        });
        let mut moved = vec![SymDim::constant(0); self.sizes.len()];
        for (new, &old) in order.iter().enumerate() {
            moved[old] = SymDim::size(SizeId(new as u32));
        }
        let ordered = |&old: &usize| {
            let Size { name, binding } = self.sizes[old].clone();
            let binding = match binding {
                SizeBinding::Value { value, bound } => {
                    SizeBinding::Value { value: renumbered[value.index()], bound: bound.substitute(&moved) }
                }
                axis @ SizeBinding::Axis { .. } => axis,
            };
            Size { name, binding }
        };
        let sizes = order.iter().map(ordered).collect();
        (sizes, order.iter().enumerate().any(|(new, &old)| new != old).then_some(moved))
    }

    fn bind_axis_sizes(&self, sizes: &mut [Size], values: &[ValueMeta]) -> Result<()> {
        let mut names = HashSet::new();
        if let Some(size) = sizes.iter().find(|s| !names.insert(&s.name)) {
            return Err(self.malformed(format!("two sizes are named `{}`", size.name)));
        }
        bind_sizes(sizes, values[..self.inputs.len()].iter());
        match sizes.iter().find(|size| is_unbound(size)) {
            None => Ok(()),
            Some(size) => Err(self.malformed(format!("size `{}` is not determined by any input", size.name))),
        }
    }
}

/// Stated guards, those of live nodes, and that no extent is negative; none twice.
fn kept_guards(guards: Vec<(Option<u32>, Guard)>, live: &[bool], values: &[ValueMeta], sizes: &[Size]) -> Vec<Guard> {
    let mut kept: Vec<Guard> = Vec::new();
    let mut keep = |guard: Guard| {
        let same = |g: &Guard| (&g.lhs, g.relation, &g.rhs) == (&guard.lhs, guard.relation, &guard.rhs);
        if !kept.iter().any(same) {
            kept.push(guard);
        }
    };
    for (node, guard) in guards {
        if node.is_none_or(|node| live[node as usize]) {
            keep(guard);
        }
    }
    extent_guards(values, sizes).for_each(keep);
    kept
}

/// That no extent is negative, for those of which the sizes do not say so.
pub(super) fn extent_guards<'v>(values: &'v [ValueMeta], sizes: &'v [Size]) -> impl Iterator<Item = Guard> + use<'v> {
    let may_be_negative =
        move |dim: &&SymDim| !never_negative(dim) && !never_negative(&SizeNames(sizes).range(dim).low);
    values.iter().flat_map(|value| value.shape.iter()).filter(may_be_negative).map(|dim| Guard {
        lhs: SymDim::constant(0),
        relation: Relation::Le,
        rhs: dim.clone(),
        reason: "an extent".into(),
    })
}

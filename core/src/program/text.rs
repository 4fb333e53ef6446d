//! The text form of a program.
//!
//! ```text
//! program mse(w: f64[d], x: f64[n, d], y: f64[n]) -> f64 {
//!   %3 = tenferro.einsum.v1 "ij,j->i" x w : f64[n]
//!   %4 = sub %3 y : f64[n]
//!   ..
//!   return %9
//! }
//! ```

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter, Write};

use super::{Node, Op, SemanticProgram, Size, ValueId, ValueMeta};
use crate::extension::ExtensionRef;
use crate::ops::CoreOp;
use crate::shape::SymDim;

/// Prints extents with the names of a program's sizes.
#[derive(Clone, Copy)]
pub struct SizeNames<'a>(pub &'a [Size]);

impl SizeNames<'_> {
    /// `2*n + 1`
    pub fn dim(&self, dim: &SymDim) -> String {
        dim.display_with(|id| self.0.get(id.0 as usize).map_or_else(|| format!("s{}", id.0), |s| s.name.to_string()))
            .to_string()
    }

    /// `[n, 3]`
    pub fn shape(&self, shape: &[SymDim]) -> String {
        let dims: Vec<String> = shape.iter().map(|d| self.dim(d)).collect();
        format!("[{}]", dims.join(", "))
    }

    /// `f64[n, 3]`, a scalar as `f64`.
    pub fn meta(&self, meta: &ValueMeta) -> String {
        let shape = if meta.shape.is_empty() { String::new() } else { self.shape(&meta.shape) };
        format!("{}{shape}", meta.dtype)
    }

    /// `n = 3, m = 4`: the values of the sizes that occur in `dims`.
    pub fn values(&self, dims: &[&SymDim], sizes: &[usize]) -> String {
        let mut occurring = BTreeSet::new();
        for dim in dims {
            dim.for_each_size(&mut |id| {
                occurring.insert(id);
            });
        }
        let values = occurring.into_iter().filter_map(|id| {
            let (size, value) = (self.0.get(id.0 as usize)?, sizes.get(id.0 as usize)?);
            Some(format!("{} = {value}", size.name))
        });
        values.collect::<Vec<_>>().join(", ")
    }
}

impl Display for SemanticProgram {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = SizeNames(&self.sizes);
        write!(f, "program {}(", self.name)?;
        for (i, input) in self.inputs.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{}: {}", input.name, names.meta(self.input_meta(i)))?;
        }
        f.write_str(") -> ")?;
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|o| match &o.name {
                Some(name) => format!("{name}: {}", names.meta(self.meta(o.value))),
                None => names.meta(self.meta(o.value)),
            })
            .collect();
        match &*outputs {
            [one] if self.outputs[0].name.is_none() => f.write_str(one)?,
            _ => write!(f, "({})", outputs.join(", "))?,
        }
        f.write_str(" {\n")?;
        for guard in self.guards.iter() {
            let (lhs, rhs) = (names.dim(&guard.lhs), names.dim(&guard.rhs));
            writeln!(f, "  guard {lhs} {} {rhs} // {}", guard.relation.symbol(), guard.reason)?;
        }
        for node in self.nodes.iter() {
            self.write_node(f, node, names)?;
        }
        f.write_str("  return")?;
        for (i, output) in self.outputs.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { " " })?;
            self.write_value(f, output.value)?;
        }
        f.write_str("\n}\n")
    }
}

impl SemanticProgram {
    fn write_node(&self, f: &mut Formatter<'_>, node: &Node, names: SizeNames<'_>) -> fmt::Result {
        f.write_str("  ")?;
        for (i, output) in node.outputs().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            self.write_value(f, output)?;
        }
        write!(f, " = {}", node.op.name())?;
        match &node.op {
            Op::Core(op) => write_attributes(f, op, names)?,
            Op::Extension(op) => write!(f, " {}", Payload(op))?,
        }
        for &input in node.inputs.iter() {
            f.write_char(' ')?;
            self.write_value(f, input)?;
        }
        for (i, output) in node.outputs().enumerate() {
            write!(f, "{}{}", if i > 0 { ", " } else { " : " }, names.meta(self.meta(output)))?;
        }
        f.write_char('\n')
    }

    fn write_value(&self, f: &mut Formatter<'_>, value: ValueId) -> fmt::Result {
        match self.inputs.get(value.index()) {
            Some(input) => f.write_str(&input.name),
            None => write!(f, "%{}", value.0),
        }
    }
}

struct Payload<'a>(&'a ExtensionRef);

impl Display for Payload<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt_payload(f)
    }
}

/// Attributes that the result's dtype and shape do not show.
fn write_attributes(f: &mut Formatter<'_>, op: &CoreOp, names: SizeNames<'_>) -> fmt::Result {
    let list = |axes: &[u32]| format!("{axes:?}");
    match op {
        CoreOp::Constant(value) => write!(f, " {value}"),
        CoreOp::SizeValue { dim, .. } => write!(f, " {}", names.dim(dim)),
        CoreOp::Compare(comparison) => write!(f, " {}", comparison.name()),
        CoreOp::Iota { axis, .. }
        | CoreOp::ArgMax { axis }
        | CoreOp::ArgMin { axis }
        | CoreOp::CumSum { axis }
        | CoreOp::Concatenate { axis } => write!(f, " axis={axis}"),
        CoreOp::Transpose { axes }
        | CoreOp::BroadcastInDim { axes, .. }
        | CoreOp::Reverse { axes }
        | CoreOp::Sum { axes }
        | CoreOp::Max { axes }
        | CoreOp::Min { axes } => write!(f, " axes={}", list(axes)),
        CoreOp::ExtractDiag { axis_a, axis_b } => write!(f, " axes=[{axis_a}, {axis_b}]"),
        CoreOp::Slice { start, limit, stride } => {
            write!(f, " start={} limit={} stride={}", names.shape(start), names.shape(limit), list(stride))
        }
        CoreOp::Pad { low, high, interior } => {
            write!(f, " low={} high={} interior={}", names.shape(low), names.shape(high), list(interior))
        }
        _ => Ok(()),
    }
}

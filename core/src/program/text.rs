//! The text form of a program.
//!
//! [`SemanticProgram::parse`] reads it back; the grammar stands there.
//!
//! ```text
//! program mse(w: f64[d], x: f64[n, d], y: f64[n]) -> f64 {
//!   %3 = tenferro.einsum.v1 "ij,j->i" x w : f64[n]
//!   %4 = sub %3 y : f64[n]
//!   ..
//!   return %9
//! }
//! ```

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter, Write};

use super::builder::{NOT_COPIED, bind_sizes, unbound};
use super::parse::name_text;
use super::{Node, Op, SemanticProgram, Size, SizeBinding, ValueId, ValueMeta, attributes};
use crate::extension::ExtensionRef;
use crate::shape::{SizeId, SymDim};

/// Prints extents with the names of a program's sizes.
#[derive(Clone, Copy)]
pub struct SizeNames<'a>(pub &'a [Size]);

impl SizeNames<'_> {
    fn name(&self, id: SizeId) -> String {
        self.0.get(id.0 as usize).map_or_else(|| format!("s{}", id.0), |s| name_text(&s.name).into_owned())
    }

    /// `2*n + 1`
    pub fn dim(&self, dim: &SymDim) -> String {
        dim.display_with(|id| self.name(id)).to_string()
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
        write!(f, "program {}{}(", name_text(&self.name), self.size_header())?;
        for (i, input) in self.inputs.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{}: {}", name_text(&input.name), names.meta(self.input_meta(i)))?;
        }
        f.write_str(") -> ")?;
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|o| match &o.name {
                Some(name) => format!("{}: {}", name_text(name), names.meta(self.meta(o.value))),
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
            writeln!(f, "  guard {lhs} {} {rhs}, {:?}", guard.relation.symbol(), guard.reason)?;
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
    /// `<n, d = axis 0 of y, k = %5 <= n>` where order or binding of the sizes are not those that the inputs alone
    /// imply.
    fn size_header(&self) -> String {
        let names = SizeNames(&self.sizes);
        let inputs = || (0..self.inputs.len()).map(|i| self.input_meta(i));
        let order = RefCell::new(Vec::new());
        for dim in inputs().flat_map(|meta| meta.shape.iter()) {
            let note = |id: SizeId| {
                order.borrow_mut().push(id.0);
                String::new()
            };
            let _ = dim.display_with(note).to_string();
        }
        let mut next = 0;
        let ordered = order.into_inner().into_iter().all(|id| {
            next += u32::from(id == next);
            id < next
        });
        let mut implied: Vec<Size> = self.sizes.iter().map(|s| unbound(s.name.clone())).collect();
        for (implied, size) in implied.iter_mut().zip(self.sizes.iter()) {
            // Inputs do not imply these.
            if let SizeBinding::Value { bound, .. } = &size.binding {
                implied.binding = SizeBinding::Value { value: NOT_COPIED, bound: bound.clone() };
            }
        }
        bind_sizes(&mut implied, inputs());
        if ordered && *implied == *self.sizes {
            return String::new();
        }
        let size = |(i, (size, implied)): (usize, (&Size, &Size))| {
            let name = names.name(SizeId(i as u32));
            if size == implied {
                return name;
            }
            match &size.binding {
                SizeBinding::Axis { input, axis, .. } => {
                    let input = self.inputs.get(*input as usize).map_or("", |i| &i.name);
                    format!("{name} = axis {axis} of {}", name_text(input))
                }
                SizeBinding::Value { value, bound } => {
                    format!("{name} = {} <= {}", self.value_name(*value), names.dim(bound))
                }
            }
        };
        let sizes: Vec<String> = self.sizes.iter().zip(&implied).enumerate().map(size).collect();
        format!("<{}>", sizes.join(", "))
    }

    /// The attributes of a node as text, after a blank if there are any.
    pub(super) fn attributes(&self, node: &Node) -> String {
        match &node.op {
            Op::Core(op) => attributes::write(op, SizeNames(&self.sizes)),
            Op::Extension(op) => format!(" {}", Payload(op)),
        }
    }

    fn write_node(&self, f: &mut Formatter<'_>, node: &Node, names: SizeNames<'_>) -> fmt::Result {
        f.write_str("  ")?;
        for (i, output) in node.outputs().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            self.write_value(f, output)?;
        }
        let equals = if node.output_count > 0 { " = " } else { "" };
        write!(f, "{equals}{}{}", node.op.name(), self.attributes(node))?;
        for &input in node.inputs.iter() {
            f.write_char(' ')?;
            self.write_value(f, input)?;
        }
        f.write_str(" :")?;
        for (i, output) in node.outputs().enumerate() {
            write!(f, "{} {}", if i > 0 { "," } else { "" }, names.meta(self.meta(output)))?;
        }
        f.write_char('\n')
    }

    fn write_value(&self, f: &mut Formatter<'_>, value: ValueId) -> fmt::Result {
        f.write_str(&self.value_name(value))
    }

    /// `%5`, or the name of an input.
    pub(super) fn value_name(&self, value: ValueId) -> Cow<'_, str> {
        match self.inputs.get(value.index()) {
            Some(input) => name_text(&input.name),
            None => format!("%{}", value.0).into(),
        }
    }
}

struct Payload<'a>(&'a ExtensionRef);

impl Display for Payload<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt_payload(f)
    }
}

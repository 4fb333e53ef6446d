//! Semantic programs: immutable SSA over tensors with symbolic shapes.

mod attributes;
mod bind;
mod builder;
mod draw;
mod extent;
mod fingerprint;
mod finish;
mod inline;
mod movement;
mod parse;
pub mod passes;
#[cfg(feature = "serde")]
mod serde;
mod shorthand;
mod text;
mod value_sizes;
mod verify;

use std::borrow::Cow;

use crate::dtype::DType;
use crate::extension::ExtensionRef;
use crate::ops::CoreOp;
use crate::shape::{SizeId, SymDim};

pub use bind::Sizes;
pub use builder::ProgramBuilder;
pub use extent::Extent;
pub use fingerprint::Fingerprint;
pub(crate) use inline::{CopySizes, sizes_of_call};
pub use parse::{ParseError, PayloadError, PayloadParser};
pub use text::SizeNames;

/// A value of a program: input `i` is value `i`, then the results of the nodes in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The value's position in [`SemanticProgram::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Dtype and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueMeta {
    /// The dtype.
    pub dtype: DType,
    /// One extent an axis.
    pub shape: Cow<'static, [SymDim]>,
}

impl ValueMeta {
    /// A value of this dtype and shape.
    pub fn new(dtype: DType, shape: impl Into<Cow<'static, [SymDim]>>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// The operation of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// One of the closed table.
    Core(CoreOp),
    /// One of an extension family.
    Extension(ExtensionRef),
}

impl Op {
    /// The name in messages: the core operation's, or the family id.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Core(op) => op.name(),
            Self::Extension(op) => op.family_id(),
        }
    }
}

/// One operation applied to values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What is computed.
    pub op: Op,
    /// The operands.
    pub inputs: Cow<'static, [ValueId]>,
    /// The first result; the others follow it.
    pub first_output: ValueId,
    /// The number of results.
    pub output_count: u32,
}

impl Node {
    /// The results.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (self.first_output.0..self.first_output.0 + self.output_count).map(ValueId)
    }
}

/// A size and where it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The name in messages and in the text form.
    pub name: Cow<'static, str>,
    /// Where it is read.
    pub binding: SizeBinding,
}

/// Where a size is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeBinding {
    /// Off the inputs, before the program runs: the extent of an axis is `scale * size + offset`.
    Axis {
        /// The input that binds the size.
        input: u32,
        /// The axis of that input.
        axis: u32,
        /// The factor of the size in the extent; not 0.
        scale: i64,
        /// What is added to it.
        offset: i64,
    },
    /// Off data, while the program runs.
    Value {
        /// The i32 or i64 scalar that is the size.
        value: ValueId,
        /// The most that it may be, in sizes that are read off axes.
        bound: SymDim,
    },
}

/// A size that is read off a value, in [`SemanticProgram::value_sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueSize<'a> {
    /// The size.
    pub id: SizeId,
    /// Its name.
    pub name: &'a str,
    /// The value.
    pub value: ValueId,
    /// The most that it may be.
    pub bound: &'a SymDim,
}

/// An input: value `i` is input `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name.
    pub name: Cow<'static, str>,
}

/// An output, with a name or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name.
    pub name: Option<Cow<'static, str>>,
    /// The value that is returned.
    pub value: ValueId,
}

/// How two extents are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `lhs == rhs`
    Eq,
    /// `lhs <= rhs`
    Le,
}

impl Relation {
    /// `==` or `<=`.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Le => "<=",
        }
    }
}

/// A condition on sizes that could not be decided while compiling; tested as soon as the sizes are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The left extent.
    pub lhs: SymDim,
    /// How they must be related.
    pub relation: Relation,
    /// The right extent.
    pub rhs: SymDim,
    /// What needs it, for the message.
    pub reason: Cow<'static, str>,
}

impl Guard {
    /// One form of each equality, so that none is recorded twice: numbers stand on the right.
    pub(crate) fn in_order(self) -> Self {
        let Self { lhs, relation, rhs, reason } = self;
        let mut sides = [lhs, rhs];
        if relation == Relation::Eq {
            sides.sort_by(|a, b| (a.as_const().is_some(), a).cmp(&(b.as_const().is_some(), b)));
        }
        let [lhs, rhs] = sides;
        Self { lhs, relation, rhs, reason }
    }

    /// How many sizes must be known to test it.
    pub(crate) fn sizes_needed(&self) -> usize {
        self.lhs.sizes_needed().max(self.rhs.sizes_needed())
    }
}

/// An immutable program in SSA form.
///
/// Made by [`ProgramBuilder`], or a `static` written by the language; both are the same type. It prints as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemanticProgram {
    #[doc(hidden)]
    pub name: Cow<'static, str>,
    #[doc(hidden)]
    pub sizes: Cow<'static, [Size]>,
    #[doc(hidden)]
    pub inputs: Cow<'static, [Input]>,
    #[doc(hidden)]
    pub values: Cow<'static, [ValueMeta]>,
    #[doc(hidden)]
    pub nodes: Cow<'static, [Node]>,
    #[doc(hidden)]
    pub outputs: Cow<'static, [Output]>,
    #[doc(hidden)]
    pub guards: Cow<'static, [Guard]>,
    #[doc(hidden)]
    pub fingerprint: Fingerprint,
}

impl SemanticProgram {
    /// The name, for messages; not part of the structure.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The sizes in the order in which they become known: those of axes, then those of values in the order of these.
    pub fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// The number of sizes that are read off axes of inputs; they are the first.
    pub fn axis_size_count(&self) -> usize {
        self.sizes.partition_point(|size| matches!(size.binding, SizeBinding::Axis { .. }))
    }

    /// The sizes that are read off values, in the order of the values.
    pub fn value_sizes(&self) -> impl Iterator<Item = ValueSize<'_>> {
        self.sizes.iter().enumerate().filter_map(|(i, size)| match &size.binding {
            SizeBinding::Axis { .. } => None,
            SizeBinding::Value { value, bound } => {
                Some(ValueSize { id: SizeId(i as u32), name: &size.name, value: *value, bound })
            }
        })
    }

    /// This program, which was made of one equal to `other` but for names, in the names of `other`: the program's, the
    /// inputs' and the sizes'. What has no name there keeps its own, for a program that was rewritten may have other
    /// sizes of values.
    #[must_use]
    pub fn in_names_of(&self, other: &Self) -> Self {
        let mut program = self.clone();
        program.name = other.name.clone();
        for (input, named) in program.inputs.to_mut().iter_mut().zip(other.inputs.iter()) {
            input.name = named.name.clone();
        }
        let axes = self.axis_size_count();
        let known = if self.sizes.len() == other.sizes.len() { self.sizes.len() } else { axes };
        for (size, named) in program.sizes.to_mut().iter_mut().zip(other.sizes.iter()).take(known) {
            size.name = named.name.clone();
        }
        program
    }

    /// The inputs in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The position of the input with this name.
    pub fn input_index(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|i| i.name == name)
    }

    /// Dtype and shape of input `i`.
    pub fn input_meta(&self, i: usize) -> &ValueMeta {
        &self.values[i]
    }

    /// Dtype and shape of every value.
    pub fn values(&self) -> &[ValueMeta] {
        &self.values
    }

    /// Dtype and shape of one value.
    pub fn meta(&self, value: ValueId) -> &ValueMeta {
        &self.values[value.index()]
    }

    /// The operations in order; each uses only earlier values.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The outputs in order.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Dtype and shape of output `i`.
    pub fn output_meta(&self, i: usize) -> &ValueMeta {
        self.meta(self.outputs[i].value)
    }

    /// Conditions on the sizes that are tested as soon as the sizes are known.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// The structure in 128 bits.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

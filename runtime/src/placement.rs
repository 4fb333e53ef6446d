//! Which engine does an operation, where several could.

use std::borrow::Cow;

use tenferro_core::ops::{Axes, CoreOp, Dims};
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, ScalarValue};

use crate::engine::EngineId;

/// The rule by which the operations of a program are spread over the engines it is prepared for.
///
/// An operation that is [pinned](Placement::pin) goes to its engine or is refused. Of the others
/// each goes to the first engine that has it, asked in the order of the [`Preference`].
///
/// ```
/// use tenferro_runtime::{Placement, Preference, Runtime, reference};
///
/// let placement = Placement::new(Preference::Operands).pin("exp", reference::ENGINE_ID);
/// let builder = Runtime::builder().register_engine(reference::registration())?;
/// let runtime = builder.with_placement(placement).build()?;
/// # Ok::<(), tenferro_runtime::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    preference: Preference,
    pins: Vec<(Cow<'static, str>, EngineId)>,
}

/// The order in which engines are asked for an operation that is not pinned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preference {
    /// That of the targets.
    #[default]
    Targets,
    /// Those first in whose memory more of the operands are, of equals in the order of the targets.
    /// Inputs of the program and scalars are in the host's.
    Operands,
}

impl Placement {
    /// Nothing is pinned.
    pub fn new(preference: Preference) -> Self {
        Self { preference, pins: Vec::new() }
    }

    /// Gives all operations of this name to an engine: of a core operation the name of the text
    /// form, such as `exp`, of an operation family its id. The last pin of a name holds.
    ///
    /// Names are those of the operations that a program has after the passes: one that a pass removed or replaced is
    /// nowhere, and a pin that nothing matches does nothing. Constants, sizes and layout operations take no command, so
    /// a runtime is not [built](crate::RuntimeBuilder::build) with a pin of one.
    #[must_use]
    pub fn pin(mut self, op: impl Into<Cow<'static, str>>, engine: EngineId) -> Self {
        let op = op.into();
        self.pins.retain(|(name, _)| *name != op);
        self.pins.push((op, engine));
        self
    }

    /// The order of asking.
    pub fn preference(&self) -> Preference {
        self.preference
    }

    /// The engine that an operation is pinned to.
    pub fn pinned(&self, op: &str) -> Option<&EngineId> {
        self.pins.iter().find(|(name, _)| name == op).map(|(_, engine)| engine)
    }

    /// The first name among the pins that is that of an operation without a command.
    pub(crate) fn pinned_without_command(&self) -> Option<&str> {
        let (shape, axes) = (Dims::Borrowed(&[]), Axes::Borrowed(&[]));
        let without = [
            CoreOp::Constant(ScalarValue::Bool(false)),
            CoreOp::SizeValue { dim: SymDim::constant(0), dtype: DType::I64 },
            CoreOp::StopGradient,
            CoreOp::Transpose { axes: axes.clone() },
            CoreOp::Reshape { shape: shape.clone() },
            CoreOp::BroadcastInDim { shape: shape.clone(), axes: axes.clone() },
            CoreOp::Slice { start: shape.clone(), limit: shape, stride: axes.clone() },
            CoreOp::Reverse { axes },
            CoreOp::ExtractDiag { axis_a: 0, axis_b: 1 },
        ];
        let is_without = |name: &str| without.iter().any(|op| op.name() == name);
        self.pins.iter().map(|(name, _)| &**name).find(|name| is_without(name))
    }

    /// All engines that something is pinned to.
    pub(crate) fn engines(&self) -> impl Iterator<Item = &EngineId> {
        self.pins.iter().map(|(_, engine)| engine)
    }
}

//! [`ProgramBuilder`]: programs are made one checked operation at a time.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Guard, Node, Op, Relation, SemanticProgram, Size, SizeBinding, SizeNames, ValueId, ValueMeta};
use crate::dtype::{DType, ScalarValue};
use crate::error::{Error, Result};
use crate::extension::{AliasDeclaration, EffectDeclaration, ExtensionRef, ShapeContext, check_family_id};
use crate::ops::{CoreOp, OutputDType};
use crate::shape::{SizeId, SymDim};

/// Builds a [`SemanticProgram`]: infers dtypes and shapes, checks operands, shares equal operations.
///
/// ```
/// use tenferro_core::{dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("double");
/// let n = b.size("n");
/// let x = b.input("x", DType::F64, &[n])?;
/// let y = b.add(x, x)?;
/// let program = b.finish(&[(None, y)])?;
/// assert_eq!(program.to_string(), "\
/// program double(x: f64[n]) -> f64[n] {
///   %1 = add x x : f64[n]
///   return %1
/// }
/// ");
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ProgramBuilder {
    pub(super) name: String,
    pub(super) sizes: Vec<Size>,
    pub(super) inputs: Vec<(String, ValueId)>,
    pub(super) values: Vec<ValueMeta>,
    /// The node that makes a value; `None` for inputs and placeholders.
    pub(super) makers: Vec<Option<u32>>,
    pub(super) nodes: Vec<Node>,
    /// Each with the node that needs it; `None` where it was stated.
    pub(super) guards: Vec<(Option<u32>, Guard)>,
    shared: HashMap<(Op, Box<[ValueId]>), ValueId>,
}

/// The input of a size that none binds yet.
const UNBOUND: u32 = u32::MAX;
/// The value of a size that was adopted from a program whose value is not copied yet.
pub(super) const NOT_COPIED: ValueId = ValueId(u32::MAX);

/// A size that no input binds yet.
pub(super) fn unbound(name: impl Into<Cow<'static, str>>) -> Size {
    Size { name: name.into(), binding: SizeBinding::Axis { input: UNBOUND, axis: 0, scale: 1, offset: 0 } }
}

/// Whether nothing binds a size.
pub(super) fn is_unbound(size: &Size) -> bool {
    matches!(size.binding, SizeBinding::Axis { input: UNBOUND, .. })
}

/// Reads every size that is not read off a value off the first axis that is exactly it, else off the first that is
/// `scale * size + offset`.
pub(super) fn bind_sizes<'a>(sizes: &mut [Size], inputs: impl Iterator<Item = &'a ValueMeta>) {
    for (i, meta) in inputs.enumerate() {
        for (axis, dim) in meta.shape.iter().enumerate() {
            let Some((id, scale, offset)) = dim.as_affine() else { continue };
            let Some(size) = sizes.get_mut(id.0 as usize) else { continue };
            let SizeBinding::Axis { input, scale: known_scale, offset: known_offset, .. } = size.binding else {
                continue;
            };
            let alone = (scale, offset) == (1, 0);
            if input == UNBOUND || (alone && (known_scale, known_offset) != (1, 0)) {
                size.binding = SizeBinding::Axis { input: i as u32, axis: axis as u32, scale, offset };
            }
        }
    }
}

impl ProgramBuilder {
    /// An empty program; the name is for messages.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sizes: Vec::new(),
            inputs: Vec::new(),
            values: Vec::new(),
            makers: Vec::new(),
            nodes: Vec::new(),
            guards: Vec::new(),
            shared: HashMap::new(),
        }
    }

    /// Declares a size. It is read off the first input axis that is exactly this size, else off the first axis of
    /// the form `scale * size + offset`.
    pub fn size(&mut self, name: impl Into<String>) -> SymDim {
        let id = SizeId(self.sizes.len() as u32);
        self.sizes.push(unbound(name.into()));
        SymDim::size(id)
    }

    /// Adds an input.
    ///
    /// # Errors
    /// When an input has this name already, or the shape uses a size of another program, or an extent is negative for
    /// all sizes.
    pub fn input(&mut self, name: impl Into<String>, dtype: DType, shape: &[SymDim]) -> Result<ValueId> {
        let name = name.into();
        if self.inputs.iter().any(|(n, _)| *n == name) {
            return Err(self.malformed(format!("two inputs are named `{name}`")));
        }
        for dim in shape {
            self.check_sizes(dim)?;
        }
        if let Some(message) = impossible_extent(shape, self.size_names()) {
            return Err(self.malformed(format!("input `{name}` {message}")));
        }
        let value = self.push_value(ValueMeta::new(dtype, shape.to_vec()), None);
        self.inputs.push((name, value));
        Ok(value)
    }

    /// A name that no input has yet, made of `base`.
    pub fn fresh_name(&self, base: &str) -> String {
        let mut name = base.to_string();
        while self.inputs.iter().any(|(n, _)| *n == name) {
            name.push('_');
        }
        name
    }

    /// A value that stands for a tangent while a derivative is made; it must not survive in the outputs.
    pub(crate) fn placeholder(&mut self, meta: ValueMeta) -> ValueId {
        self.push_value(meta, None)
    }

    /// Applies a core operation.
    ///
    /// # Errors
    /// Names the operation, the operand, and both shapes or dtypes.
    pub fn op(&mut self, op: CoreOp, inputs: &[ValueId]) -> Result<ValueId> {
        self.node(Op::Core(op), inputs)
    }

    /// Applies an extension operation.
    ///
    /// # Errors
    /// As [`op`](Self::op); and when the family id is malformed or effects or aliases are undeclared.
    pub fn extension(&mut self, op: impl Into<ExtensionRef>, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        let op = op.into();
        let count = op.output_count() as u32;
        let first = self.node(Op::Extension(op), inputs)?;
        Ok((first.0..first.0 + count).map(ValueId).collect())
    }

    /// Appends a node and returns its first result.
    pub(super) fn node(&mut self, op: Op, inputs: &[ValueId]) -> Result<ValueId> {
        inputs.iter().try_for_each(|&v| self.known(v))?;
        if let Op::Core(op) = &op {
            op.dims().into_iter().try_for_each(|dim| self.check_sizes(dim))?;
        }
        let key = (op, Box::from(inputs));
        if let Some(&value) = self.shared.get(&key) {
            return Ok(value);
        }
        let metas: Vec<&ValueMeta> = inputs.iter().map(|&v| self.meta(v)).collect();
        let (outputs, guards) = infer(&key.0, &metas, SizeNames(&self.sizes))?;
        if outputs.is_empty() {
            return Err(Error::argument(key.0.name(), "results", "must be at least 1"));
        }
        let maker = Some(self.nodes.len() as u32);
        self.guards.extend(guards.into_iter().map(|guard| (maker, guard)));
        let first_output = ValueId(self.values.len() as u32);
        self.nodes.push(Node {
            op: key.0.clone(),
            inputs: inputs.to_vec().into(),
            first_output,
            output_count: outputs.len() as u32,
        });
        for meta in outputs {
            self.push_value(meta, maker);
        }
        if is_pure(&key.0) {
            self.shared.insert(key, first_output);
        }
        Ok(first_output)
    }

    /// Dtype and shape of a value of this builder.
    ///
    /// # Panics
    /// When the builder has no value of this number; operations refuse that with an error. A value is only its number:
    /// one of another builder, where its number is taken here, stands for what has the number here.
    pub fn meta(&self, value: ValueId) -> &ValueMeta {
        &self.values[value.index()]
    }

    /// The node that makes a value; `None` for an input and a number that no value has.
    pub(crate) fn maker(&self, value: ValueId) -> Option<&Node> {
        self.makers.get(value.index())?.map(|i| &self.nodes[i as usize])
    }

    /// The scalar that every entry of a value is, if that is known.
    pub(super) fn splat(&self, value: ValueId) -> Option<ScalarValue> {
        let node = self.maker(value)?;
        match node.op {
            Op::Core(CoreOp::Constant(value)) => Some(value),
            Op::Core(CoreOp::BroadcastInDim { .. }) => self.splat(node.inputs[0]),
            _ => None,
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The names of the sizes, for messages.
    pub fn size_names(&self) -> SizeNames<'_> {
        SizeNames(&self.sizes)
    }

    /// States a condition that is tested as soon as its sizes are known.
    ///
    /// # Errors
    /// When it holds for no sizes.
    pub fn guard(&mut self, lhs: &SymDim, relation: Relation, rhs: &SymDim, reason: &str) -> Result<()> {
        self.check_sizes(lhs)?;
        self.check_sizes(rhs)?;
        let stated = self.with_context(&[], |ctx| match relation {
            Relation::Eq => ctx.require_equal(lhs, rhs, reason),
            Relation::Le => ctx.require_at_most(lhs, rhs, reason),
        });
        stated.map_err(|_| {
            let names = self.size_names();
            let condition = format!("{} {} {}", names.dim(lhs), relation.symbol(), names.dim(rhs));
            self.malformed(format!("the guard {reason:?} never holds: {condition}"))
        })
    }

    /// Sees values as the operands of an operation; what is required of them is required of the program.
    pub(super) fn with_context<R>(
        &mut self,
        values: &[ValueId],
        see: impl FnOnce(&mut ShapeContext<'_>) -> Result<R>,
    ) -> Result<R> {
        let metas = values.iter().map(|&v| self.known_meta(v)).collect::<Result<Vec<_>>>()?;
        let mut ctx = ShapeContext::of_program(&self.name, &metas, SizeNames(&self.sizes));
        let seen = see(&mut ctx)?;
        let stated = ctx.into_guards();
        self.guards.extend(stated.into_iter().map(|guard| (None, guard)));
        Ok(seen)
    }

    /// Writes operations that are shared among themselves, but with no others.
    pub(crate) fn isolated<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let outside = std::mem::take(&mut self.shared);
        let written = write(self);
        self.shared = outside;
        written
    }

    /// Repeats the sizes of another program, so that its expressions mean the same here. Those that are read off values
    /// wait for [`adopt_values`](Self::adopt_values).
    pub(crate) fn adopt_sizes(&mut self, program: &SemanticProgram) {
        for Size { name, binding } in program.sizes() {
            self.sizes.push(match binding {
                SizeBinding::Axis { .. } => unbound(name.clone()),
                SizeBinding::Value { bound, .. } => {
                    let binding = SizeBinding::Value { value: NOT_COPIED, bound: bound.clone() };
                    Size { name: name.clone(), binding }
                }
            });
        }
    }

    fn push_value(&mut self, meta: ValueMeta, maker: Option<u32>) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(meta);
        self.makers.push(maker);
        id
    }

    /// States a condition as it is.
    pub(super) fn push_guard(&mut self, guard: Guard) {
        self.guards.push((None, guard));
    }

    /// Refuses the number of a value that is not there.
    pub(super) fn known(&self, value: ValueId) -> Result<()> {
        self.known_meta(value).map(|_| ())
    }

    /// Dtype and shape of a value, whose number may be another builder's and beyond this one's.
    pub(crate) fn known_meta(&self, value: ValueId) -> Result<&ValueMeta> {
        self.values.get(value.index()).ok_or_else(|| self.malformed(format!("%{} is no value of it", value.0)))
    }

    pub(super) fn check_sizes(&self, dim: &SymDim) -> Result<()> {
        if dim.overflowed() {
            return Err(self.malformed("an extent does not fit 64 bits".into()));
        }
        let mut unknown = None;
        dim.for_each_size(&mut |id| unknown = unknown.or((id.0 as usize >= self.sizes.len()).then_some(id)));
        match unknown {
            None => Ok(()),
            Some(id) => Err(self.malformed(format!("size s{} was not declared", id.0))),
        }
    }

    pub(super) fn malformed(&self, message: String) -> Error {
        Error::Malformed { program: self.name.clone(), message }
    }
}

pub(super) fn is_pure(op: &Op) -> bool {
    match op {
        Op::Core(_) => true,
        Op::Extension(op) => op.effects() == EffectDeclaration::Declared(&[]),
    }
}

/// Dtypes and shapes of an operation's results, and the conditions that could not be decided.
pub(super) fn infer(op: &Op, inputs: &[&ValueMeta], names: SizeNames<'_>) -> Result<(Vec<ValueMeta>, Vec<Guard>)> {
    let operands = match op {
        Op::Core(op) => op.row().operands,
        Op::Extension(_) => &[],
    };
    let mut ctx = ShapeContext::new(op.name(), operands, inputs, names);
    let outputs = match op {
        Op::Core(op) => {
            check_operands(op, inputs)?;
            let dtype = output_dtype(op, inputs);
            // An operation without operands is asked for its dtype.
            if op.row().arity() == Some(0) && !op.row().dtypes.contains(dtype) {
                let expected = op.row().dtypes.to_string().into();
                return Err(Error::DType { op: op.name().into(), argument: "dtype".into(), expected, actual: dtype });
            }
            vec![ValueMeta::new(dtype, (op.row().shape)(op, &mut ctx)?)]
        }
        Op::Extension(op) => {
            check_extension(op, inputs.len())?;
            let outputs = op.infer_output_meta(&mut ctx)?;
            if outputs.len() != op.output_count() {
                let message = format!("must be {}, not {}", op.output_count(), outputs.len());
                return Err(Error::argument(op.family_id(), "results", message));
            }
            outputs
        }
    };
    if let Some(message) = outputs.iter().find_map(|output| impossible_extent(&output.shape, names)) {
        return Err(Error::argument(op.name().to_string(), "result", message));
    }
    Ok((outputs, ctx.into_guards()))
}

/// That a shape has an extent that is none whatever the sizes, as a predicate.
fn impossible_extent(shape: &[SymDim], names: SizeNames<'_>) -> Option<String> {
    let negative = |dim: &SymDim| names.range(dim).high.as_const().is_some_and(|most| most < 0);
    shape.iter().enumerate().find_map(|(axis, dim)| match dim {
        dim if dim.overflowed() => Some(format!("would have an extent on axis {axis} that does not fit 64 bits")),
        dim if negative(dim) => {
            Some(format!("would have extent {} on axis {axis}, but an extent is not negative", names.dim(dim)))
        }
        _ => None,
    })
}

pub(super) fn check_operands(op: &CoreOp, inputs: &[&ValueMeta]) -> Result<()> {
    let row = op.row();
    let fits = row.arity().map_or(!inputs.is_empty(), |n| n == inputs.len());
    if !fits {
        let wanted = row.arity().map_or("at least 1".to_string(), |n| n.to_string());
        return Err(Error::argument(row.name, "operands", format!("must be {wanted}, not {}", inputs.len())));
    }
    let name = |i: usize| row.operands.get(i).map_or_else(|| format!("operand {i}"), |n| n.to_string());
    let wrong = |i: usize, expected: String| Error::DType {
        op: row.name.into(),
        argument: name(i).into(),
        expected: expected.into(),
        actual: inputs[i].dtype,
    };
    let first = first_data_operand(op, inputs.len());
    for (i, input) in inputs.iter().enumerate() {
        match row.control(i) {
            Some(dtype) if input.dtype != dtype => return Err(wrong(i, dtype.to_string())),
            Some(_) => {}
            None if !row.dtypes.contains(input.dtype) => return Err(wrong(i, row.dtypes.to_string())),
            None if input.dtype != inputs[first].dtype => {
                return Err(wrong(i, format!("{}, as `{}`", inputs[first].dtype, name(first))));
            }
            None => {}
        }
    }
    Ok(())
}

/// The position of the first operand that is data.
fn first_data_operand(op: &CoreOp, count: usize) -> usize {
    (0..count).find(|&i| op.row().control(i).is_none()).unwrap_or(0)
}

fn output_dtype(op: &CoreOp, inputs: &[&ValueMeta]) -> DType {
    let data = || inputs.get(first_data_operand(op, inputs.len())).map_or(DType::F64, |m| m.dtype);
    match op.row().output {
        OutputDType::Same => data(),
        OutputDType::Real => data().to_real(),
        OutputDType::Complex => data().to_complex(),
        OutputDType::Fixed(dtype) => dtype,
        OutputDType::Attribute(dtype) => dtype(op),
    }
}

fn check_extension(op: &ExtensionRef, inputs: usize) -> Result<()> {
    let family = op.family_id();
    check_family_id(family)?;
    if op.effects() == EffectDeclaration::Undeclared {
        return Err(Error::Undeclared { family: family.to_string(), what: "effects" });
    }
    if op.aliases() == AliasDeclaration::Undeclared {
        return Err(Error::Undeclared { family: family.to_string(), what: "aliases" });
    }
    if op.input_count() != inputs {
        let message = format!("must be {}, not {inputs}", op.input_count());
        return Err(Error::argument(family, "operands", message));
    }
    Ok(())
}

//! The payload of the family.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use tenferro_core::extension::{AliasDeclaration, EffectDeclaration, ExtensionOp, ExtensionRef, ShapeContext};
use tenferro_core::program::ValueMeta;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, DTypeSet, Error, Result};

use crate::flatten;
use crate::notation::{EinsumNotation, NotationError, SizeRule, bind_concrete, bind_symbolic};
use crate::objective::Goal;
use crate::planning::{EinsumOptimize, Search};
use crate::subscripts::{Letter, Subscripts, write_subscripts};
use crate::tree::ContractionTree;

/// The family id of einsum.
pub const FAMILY_ID: &str = "tenferro.einsum.v1";

/// One einsum: labels, stretched axes and how its order is planned; free of ranks' extents and of any engine.
///
/// Labels are numbered from 0 by first occurrence, so that equal equations are equal payloads. The fields are public
/// for static tables; [`EinsumOp::new`] is the checked way to make one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EinsumOp {
    /// The labels of each operand's axes.
    pub inputs: Cow<'static, [Cow<'static, [u32]>]>,
    /// The labels of the output's axes.
    pub output: Cow<'static, [u32]>,
    /// The axes (operand, axis) of extent 1 that stretch to their label's extent, sorted.
    pub stretch: Cow<'static, [(u32, u32)]>,
    /// How the order of contraction is found.
    pub plan: EinsumOptimize,
    /// What the plan is to reach.
    pub goal: Goal,
}

impl EinsumOp {
    /// Checks integer labels, marks of axes (operand, axis) that stretch, and a plan. Labels that the plan slices are
    /// numbered as those of the result, from 0 by first occurrence, see [`label`](Self::label).
    ///
    /// # Errors
    /// No operand, an output label that no operand has, a mark on an axis that does not exist, or a plan that does not
    /// fit the number of operands.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumOp, EinsumOptimize, Subscripts};
    /// let labels = Subscripts::new([vec![7, 5], vec![5, 9]], [7, 9]);
    /// let op = EinsumOp::new(labels, &[], EinsumOptimize::Auto)?;
    /// assert_eq!(op.to_string(), "\"ij,jk->ik\"");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn new(subscripts: Subscripts, stretch: &[(u32, u32)], plan: EinsumOptimize) -> Result<Self> {
        let Subscripts { inputs, output } = subscripts;
        let refuse = |argument: &'static str, message: String| Err(Error::argument("einsum", argument, message));
        if inputs.is_empty() {
            return refuse("operands", "is empty, an einsum has at least one operand".to_owned());
        }
        let known: HashSet<u32> = inputs.iter().flatten().copied().collect();
        if let Some(label) = output.iter().find(|label| !known.contains(label)) {
            return refuse("output", format!("has label {label}, which is on no operand"));
        }
        let exists = |&(operand, axis): &(u32, u32)| {
            inputs.get(operand as usize).is_some_and(|labels| (axis as usize) < labels.len())
        };
        if let Some((operand, axis)) = stretch.iter().find(|mark| !exists(mark)) {
            return refuse("stretch", format!("marks axis {axis} of operand {operand}, which does not exist"));
        }
        let op = Self::canonical(inputs, output, stretch.to_vec(), EinsumOptimize::Auto);
        op.check()?;
        op.with_plan(plan)
    }

    /// The einsum for operands of these shapes: any axis of extent 1 stretches to the extent its label has elsewhere.
    ///
    /// # Errors
    /// Operands that do not fit the notation, with the place.
    pub fn concrete(notation: &EinsumNotation, shapes: &[&[usize]]) -> Result<Self, NotationError> {
        bind_concrete(notation, shapes)
    }

    /// As [`concrete`](Self::concrete), with integer labels.
    ///
    /// # Errors
    /// Labels that [`new`](Self::new) refuses, operands that do not fit them, a label with two extents.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumOp, Subscripts};
    /// let labels = Subscripts::new([vec![7, 5], vec![5, 9]], [7, 9]);
    /// let op = EinsumOp::concrete_labels(&labels, &[&[2, 1], &[3, 4]])?;
    /// assert_eq!(op.to_string(), "\"i#j,jk->ik\"");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn concrete_labels(labels: &Subscripts, shapes: &[&[usize]]) -> Result<Self> {
        let mut stretch = Vec::new();
        for (operand, (labels, shape)) in labels.inputs.iter().zip(shapes).enumerate() {
            let ones = shape.iter().take(labels.len()).enumerate().filter(|&(_, &extent)| extent == 1);
            stretch.extend(ones.map(|(axis, _)| (operand as u32, axis as u32)));
        }
        let op = Self::new(labels.clone(), &stretch, EinsumOptimize::Auto)?;
        op.extents(shapes)?;
        Ok(op)
    }

    /// The einsum for operands of symbolic shapes: an axis of constant extent 1 stretches where the notation marks it
    /// with `#` or it is under `...`.
    ///
    /// # Errors
    /// Operands that do not fit the notation, or whose extents disagree by `sizes`, with the place.
    pub fn symbolic(
        notation: &EinsumNotation,
        shapes: &[&[SymDim]],
        sizes: &SizeRule<'_>,
    ) -> Result<Self, NotationError> {
        bind_symbolic(notation, shapes, sizes)
    }

    /// The same einsum with another plan, in place of the order of any parentheses.
    ///
    /// # Errors
    /// A plan that does not fit the number of operands, or that slices a label that is on none of them.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumOp, EinsumOptimize, Subscripts};
    /// let labels = Subscripts::new([vec![7, 5], vec![5, 9]], [7, 9]);
    /// let op = EinsumOp::new(labels, &[], EinsumOptimize::Auto)?;
    /// // Slices of the label 5, which is on axis 1 of operand 0.
    /// let slices = op.label(0, 1).into_iter().collect();
    /// let op = op.with_plan(EinsumOptimize::Tree { pairs: vec![(0, 1)].into(), slices })?;
    /// assert_eq!(op.to_string(), "\"ij,jk->ik\", tree = [(0, 1)], slices = [1]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn with_plan(mut self, mut plan: EinsumOptimize) -> Result<Self> {
        plan.check(self.inputs.len())?;
        check_slices(&plan, self.label_count())?;
        if let EinsumOptimize::Tree { slices, .. } = &mut plan
            && !slices.is_sorted()
        {
            slices.to_mut().sort_unstable();
        }
        self.plan = plan;
        Ok(self)
    }

    /// The number of the label on an axis of an operand, if there is such an axis.
    pub fn label(&self, operand: usize, axis: usize) -> Option<u32> {
        self.inputs.get(operand)?.get(axis).copied()
    }

    /// The same einsum with another goal for its plan.
    ///
    /// # Errors
    /// A memory limit of 0, or weights that are all 0.
    pub fn with_goal(self, goal: Goal) -> Result<Self> {
        goal.check()?;
        Ok(Self { goal, ..self })
    }

    /// Numbers the labels, those that the plan slices along with those of the operands, and drops marks of axes whose
    /// label is stretched everywhere: its extent is 1.
    pub(crate) fn canonical(
        inputs: Vec<Vec<u32>>,
        output: Vec<u32>,
        mut stretch: Vec<(u32, u32)>,
        plan: EinsumOptimize,
    ) -> Self {
        let mut numbers = HashMap::new();
        let inputs: Vec<Cow<'static, [u32]>> = inputs
            .into_iter()
            .map(|labels| {
                let number = |label| {
                    let next = numbers.len() as u32;
                    *numbers.entry(label).or_insert(next)
                };
                labels.into_iter().map(number).collect::<Vec<u32>>().into()
            })
            .collect();
        let output: Vec<u32> = output.iter().filter_map(|label| numbers.get(label).copied()).collect();

        let plan = match plan {
            EinsumOptimize::Tree { pairs, slices } => {
                let mut slices: Vec<u32> = slices.iter().filter_map(|label| numbers.get(label).copied()).collect();
                slices.sort_unstable();
                slices.dedup();
                EinsumOptimize::Tree { pairs, slices: slices.into() }
            }
            plan => plan,
        };

        stretch.sort_unstable();
        stretch.dedup();
        let stretch = Cow::Owned(stretch);
        let mut op = Self { inputs: inputs.into(), output: output.into(), stretch, plan, goal: Goal::DEFAULT };
        let carried = op.carried();
        let inputs = &op.inputs;
        let is_carried = |&(operand, axis): &(u32, u32)| carried[inputs[operand as usize][axis as usize] as usize];
        op.stretch.to_mut().retain(is_carried);
        op
    }

    /// Per label, whether some axis has it that does not stretch.
    fn carried(&self) -> Vec<bool> {
        let mut carried = vec![false; self.label_count()];
        for (operand, labels) in self.inputs.iter().enumerate() {
            for (axis, &label) in labels.iter().enumerate() {
                carried[label as usize] |= !self.stretches(operand, axis);
            }
        }
        carried
    }

    /// Whether this axis of extent 1 stretches to its label's extent.
    pub fn stretches(&self, operand: usize, axis: usize) -> bool {
        self.stretch.binary_search(&(operand as u32, axis as u32)).is_ok()
    }

    /// The number of different labels.
    pub fn label_count(&self) -> usize {
        self.inputs.iter().flat_map(|labels| labels.iter()).max().map_or(0, |&label| label as usize + 1)
    }

    /// The extent of each label for operands of these shapes.
    ///
    /// # Errors
    /// A wrong number of operands, a wrong rank, a label with two extents, or a stretched axis whose extent is not 1.
    pub fn extents(&self, shapes: &[&[usize]]) -> Result<Vec<usize>> {
        self.check()?;
        let mut extents = vec![None; self.label_count()];
        self.for_each_axis(shapes.iter().map(|shape| shape.len()), |operand, axis, label| {
            let extent = shapes[operand][axis];
            let expected = match self.stretches(operand, axis) {
                true => 1,
                false => *extents[label].get_or_insert(extent),
            };
            if extent == expected {
                return Ok(());
            }
            Err(Error::Shape {
                op: format!("einsum {self}").into(),
                argument: format!("operand {operand}").into(),
                expected: format!("with extent {expected} on axis {axis}"),
                actual: format!("{:?}, all shapes being {shapes:?}", shapes[operand]),
            })
        })?;
        // Every label has an axis that does not stretch.
        Ok(extents.into_iter().map(|extent| extent.unwrap_or(1)).collect())
    }

    /// The shape of the result for operands of these shapes.
    ///
    /// # Errors
    /// As [`extents`](Self::extents).
    pub fn output_shape(&self, shapes: &[&[usize]]) -> Result<Vec<usize>> {
        let extents = self.extents(shapes)?;
        Ok(self.output.iter().map(|&label| extents[label as usize]).collect())
    }

    /// The steps that compute the einsum for operands of these shapes.
    ///
    /// # Errors
    /// As [`extents`](Self::extents).
    pub fn tree(&self, shapes: &[&[usize]]) -> Result<ContractionTree> {
        self.tree_with(shapes, &Search::default())
    }

    /// As [`tree`](Self::tree), with a say in how a long search is run.
    ///
    /// # Errors
    /// As [`extents`](Self::extents).
    pub fn tree_with(&self, shapes: &[&[usize]], search: &Search<'_>) -> Result<ContractionTree> {
        Ok(ContractionTree::new(self, self.extents(shapes)?, search))
    }

    /// Checks what [`EinsumOp::new`] makes true and a hand-written table may not.
    pub(crate) fn check(&self) -> Result<()> {
        let labels = self.inputs.iter().flat_map(|labels| labels.iter());
        let mut seen = vec![false; self.inputs.iter().map(|labels| labels.len()).sum()];
        labels.for_each(|&label| seen.get_mut(label as usize).into_iter().for_each(|seen| *seen = true));
        let count = seen.iter().filter(|&&seen| seen).count();
        let dense = |&label: &u32| (label as usize) < count;
        let on_axis = |&(operand, axis): &(u32, u32)| {
            self.inputs.get(operand as usize).is_some_and(|labels| (axis as usize) < labels.len())
        };
        let refuse = |argument: &'static str, message: &str| Err(Error::argument("einsum", argument, message));
        if self.inputs.is_empty() {
            return refuse("operands", "is empty, an einsum has at least one operand");
        }
        if !self.inputs.iter().flat_map(|labels| labels.iter()).all(dense) || !self.output.iter().all(dense) {
            return refuse("labels", "are not numbered from 0 by those of the operands");
        }
        if !self.stretch.is_sorted() || !self.stretch.iter().all(on_axis) {
            return refuse("stretch", "is not a sorted list of axes that exist");
        }
        if self.carried().contains(&false) {
            return refuse("stretch", "marks every axis of a label, so that nothing gives its extent");
        }
        self.plan.check(self.inputs.len())?;
        check_slices(&self.plan, count)?;
        self.goal.check()
    }

    fn common_dtype(&self, ctx: &ShapeContext<'_>) -> Result<DType> {
        let dtypes = || (0..ctx.input_count()).map(|operand| (operand, ctx.input(operand).dtype));
        let first = dtypes().next().map_or(DType::F64, |(_, dtype)| dtype);
        let refused = |dtype| dtype != first || !DTypeSet::NUMERIC.contains(dtype);
        match dtypes().find(|&(_, dtype)| refused(dtype)) {
            None => Ok(first),
            Some((operand, actual)) => Err(Error::DType {
                op: format!("einsum {self}").into(),
                argument: format!("operand {operand}").into(),
                expected: match actual == first {
                    true => DTypeSet::NUMERIC.to_string().into(),
                    false => format!("{first} as operand 0").into(),
                },
                actual,
            }),
        }
    }

    /// The einsum as it prints, or the number of its operands where these are many: for what is said of every axis.
    fn brief(&self) -> String {
        match self.inputs.len() {
            0..100 => self.to_string(),
            count => format!("an einsum of {count} operands"),
        }
    }

    /// Visits every axis as (operand, axis, label) once the ranks are known to be right.
    fn for_each_axis(
        &self,
        ranks: impl ExactSizeIterator<Item = usize>,
        mut visit: impl FnMut(usize, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let op = || format!("einsum {self}");
        if ranks.len() != self.inputs.len() {
            let message = format!("are {}, the equation has {}", ranks.len(), self.inputs.len());
            return Err(Error::argument(op(), "operands", message));
        }
        for (operand, (labels, rank)) in self.inputs.iter().zip(ranks).enumerate() {
            if labels.len() != rank {
                let argument = format!("operand {operand}").into();
                return Err(Error::Rank { op: op().into(), argument, expected: labels.len(), actual: rank });
            }
            for (axis, &label) in labels.iter().enumerate() {
                visit(operand, axis, label as usize)?;
            }
        }
        Ok(())
    }
}

/// The sliced labels of a plan must be labels of the equation.
fn check_slices(plan: &EinsumOptimize, labels: usize) -> Result<()> {
    let mut seen = HashSet::new();
    match plan.slices().iter().find(|&&label| label as usize >= labels || !seen.insert(label)) {
        None => Ok(()),
        Some(label) => Err(Error::argument(
            "einsum",
            "slices",
            format!("has label {label}, which is on no operand or sliced twice; the operands have {labels} labels"),
        )),
    }
}

impl ExtensionOp for EinsumOp {
    fn family_id(&self) -> &'static str {
        FAMILY_ID
    }

    fn payload_hash(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }

    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool {
        other.as_any().downcast_ref::<Self>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn input_count(&self) -> usize {
        self.inputs.len()
    }

    fn output_count(&self) -> usize {
        1
    }

    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Declared(&[])
    }

    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }

    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> Result<Vec<ValueMeta>> {
        self.check()?;
        let dtype = self.common_dtype(ctx)?;
        let one = SymDim::constant(1);
        // Per label, the operand and axis that gave it its extent.
        let mut first: Vec<Option<(usize, usize)>> = vec![None; self.label_count()];
        let ranks: Vec<usize> = (0..ctx.input_count()).map(|operand| ctx.input(operand).rank()).collect();
        self.for_each_axis(ranks.into_iter(), |operand, axis, label| {
            let extent = &ctx.input(operand).shape[axis];
            let other = match self.stretches(operand, axis) {
                true => None,
                false => Some(*first[label].get_or_insert((operand, axis))),
            };
            let expected = other.map_or(&one, |(other, axis)| &ctx.input(other).shape[axis]);
            // Nothing is written for what is plainly equal: the equation of many operands is long.
            if extent == expected {
                return Ok(());
            }
            let name = Letter(label as u32);
            let reason = format!("label `{name}` of {}", self.brief());
            ctx.require_equal(extent, expected, &reason).map_err(|_| {
                let place = match other {
                    None => "1, to stretch".to_owned(),
                    Some((other, axis)) => format!("as on axis {axis} of operand {other}, {}", ctx.shape_text(other)),
                };
                let shape = ctx.shape_text(operand);
                let message =
                    format!("has shape {shape}, but the extent of its axis {axis} (label `{name}`) must be {place}");
                Error::argument(format!("einsum {self}"), format!("operand {operand}"), message)
            })
        })?;
        let extent = |&label: &u32| {
            first.get(label as usize).copied().flatten().map(|(i, axis)| ctx.input(i).shape[axis].clone())
        };
        let shape: Vec<SymDim> = self.output.iter().filter_map(extent).collect();
        Ok(vec![ValueMeta::new(dtype, shape)])
    }

    fn absorb(&self, operand: usize, producer: &dyn ExtensionOp) -> Option<ExtensionRef> {
        let inner = producer.as_any().downcast_ref()?;
        flatten::absorb(self, operand, inner).map(Into::into)
    }

    fn fmt_payload(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for EinsumOp {
    /// `"ij,jk->ik"`, with `#` on stretched axes, and the plan and goal where they are asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let inputs = self.inputs.iter().map(|labels| &**labels);
        write_subscripts(f, inputs, &self.output, |operand, axis| self.stretches(operand, axis))?;
        f.write_str("\"")?;
        if self.plan != EinsumOptimize::Auto {
            write!(f, ", {}", self.plan)?;
        }
        if self.goal != Goal::DEFAULT {
            write!(f, ", {}", self.goal)?;
        }
        Ok(())
    }
}

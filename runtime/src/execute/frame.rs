//! One run under way: the slots, and the walk over the steps.

use std::mem;

use smallvec::SmallVec;
use tenferro_core::program::ValueId;
use tenferro_core::{DType, Tensor, TensorRead, TensorView};

use super::bind::{Bound, Place, Root};
use super::outputs::{Output, copied};
use crate::engine::Engine;
use crate::error::Result;
use crate::prepare::{Plan, Step, Work};

/// A place for one tensor.
pub(super) enum Slot<'o> {
    Empty,
    Owned(Tensor),
    /// The caller's, which an output is computed into.
    Lent(&'o mut Tensor),
}

/// The slots of a run.
pub(super) type Slots<'o> = SmallVec<[Slot<'o>; 4]>;

impl Slot<'_> {
    fn tensor(&self) -> &Tensor {
        match self {
            Self::Owned(tensor) => tensor,
            Self::Lent(tensor) => tensor,
            Self::Empty => unreachable!("a value is read between its step and its release"),
        }
    }

    fn tensor_mut(&mut self) -> &mut Tensor {
        match self {
            Self::Owned(tensor) => tensor,
            Self::Lent(tensor) => tensor,
            Self::Empty => unreachable!("a slot is filled before its step"),
        }
    }

    /// The tensor, if it is the run's own.
    fn take(&mut self) -> Option<Tensor> {
        match mem::replace(self, Self::Empty) {
            Self::Owned(tensor) => Some(tensor),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// The tensors of the caller that outputs still have to be brought to.
pub(super) type Rest<'o> = SmallVec<[Option<&'o mut Tensor>; 4]>;

/// The state of a run: `'f` the plan and its binding, `'a` the inputs, `'o` the caller's outputs.
pub(super) struct Frame<'f, 'a, 'o> {
    plan: &'f Plan,
    bound: &'f Bound,
    inputs: &'f [TensorRead<'a>],
    /// References, so that outputs can leave while they are written and inputs stay: a reference
    /// moves at less cost than a tensor. All are here but within a step.
    slots: SmallVec<[Option<&'f mut Slot<'o>>; 8]>,
}

impl<'f, 'a, 'o> Frame<'f, 'a, 'o> {
    pub fn new(plan: &'f Plan, bound: &'f Bound, inputs: &'f [TensorRead<'a>], slots: &'f mut Slots<'o>) -> Self {
        Self { plan, bound, inputs, slots: slots.iter_mut().map(Some).collect() }
    }

    fn slot(&self, slot: usize) -> &Slot<'o> {
        self.slots[slot].as_deref().unwrap_or(&Slot::Empty)
    }

    fn take(&mut self, slot: usize) -> Option<Tensor> {
        self.slots[slot].as_mut()?.take()
    }

    /// Lends tensors of the caller to the slots that end as outputs, and returns those that
    /// cannot be lent.
    pub fn lend(&mut self, outputs: &'o mut [&mut Tensor]) -> Rest<'o> {
        let mut rest = Rest::new();
        for (&value, tensor) in self.plan.outputs.iter().zip(outputs) {
            let place = self.bound.place(value);
            let free = match place.root {
                Root::Slot(slot) if !place.is_view && writable(tensor) => self.slots[slot].as_mut(),
                _ => None,
            };
            match free {
                Some(slot) if matches!(**slot, Slot::Empty) => {
                    **slot = Slot::Lent(tensor);
                    rest.push(None);
                }
                _ => rest.push(Some(tensor)),
            }
        }
        rest
    }

    /// The same run, going on with the binding of the next stage.
    pub fn in_stage<'g>(self, bound: &'g Bound) -> Frame<'g, 'a, 'o>
    where
        'f: 'g,
    {
        let slots = self.slots.into_iter().map(|slot| slot.map(|slot: &'g mut Slot<'o>| slot)).collect();
        Frame { plan: self.plan, bound, inputs: self.inputs, slots }
    }

    /// The binding.
    pub fn bound(&self) -> &'f Bound {
        self.bound
    }

    /// The number that an i32 or i64 scalar is, once everything submitted before is done.
    pub fn integer(&self, engines: &mut [&mut dyn Engine], value: ValueId) -> Result<i64> {
        let engine = self.engine(engines, self.bound.place(value).root);
        let view = self.view(value);
        let mut scalar = Tensor::zeros(view.dtype(), [])?;
        engine.copy(&view, &mut scalar)?;
        engine.synchronize()?;
        Ok(match view.dtype() {
            DType::I32 => scalar.as_slice::<i32>()?[0].into(),
            _ => scalar.as_slice::<i64>()?[0],
        })
    }

    /// Executes the steps of the binding.
    pub fn execute(&mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        for step in &self.plan.steps[self.plan.steps_of_stage(self.bound.stage)] {
            let needed = match step.work {
                Work::Command(_) | Work::Late { .. } => true,
                Work::Compact(value) => self.bound.place(value).root == Root::Slot(step.outputs[0] as usize),
            };
            if needed {
                self.step(&mut *engines[step.engine], step)?;
            }
            for &slot in &step.release {
                if let Some(tensor) = self.take(slot as usize) {
                    engines[self.plan.slots[slot as usize].engine].recycle(tensor);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, engine: &mut dyn Engine, step: &Step) -> Result<()> {
        let mut taken: SmallVec<[&'f mut Slot<'o>; 2]> = SmallVec::new();
        for &slot in &step.outputs {
            let slot = slot as usize;
            if let Some(free) = self.slots[slot].take() {
                if matches!(free, Slot::Empty) {
                    let dtype = self.plan.slots[slot].meta.dtype;
                    *free = Slot::Owned(engine.allocate(dtype, &self.bound.shapes[slot])?);
                }
                taken.push(free);
            }
        }
        self.work(engine, step, taken.iter_mut().map(|slot| slot.tensor_mut()).collect())?;
        for (&slot, filled) in step.outputs.iter().zip(taken) {
            self.slots[slot as usize] = Some(filled);
        }
        Ok(())
    }

    fn work(&self, engine: &mut dyn Engine, step: &Step, mut outputs: SmallVec<[&mut Tensor; 2]>) -> Result<()> {
        let command = match &step.work {
            Work::Command(command) => command,
            Work::Late { late, .. } => &self.bound.late[*late],
            Work::Compact(_) => return engine.copy(&self.view(step.inputs[0]), outputs[0]),
        };
        let mut inputs: SmallVec<[TensorView<'_>; 3]> = SmallVec::new();
        for &input in &step.inputs {
            inputs.push(self.view(input));
        }
        command.execute(engine, &inputs, &mut outputs)
    }

    #[inline]
    fn view(&self, value: ValueId) -> TensorView<'_> {
        let place = self.bound.place(value);
        match place.root {
            Root::Input(i) => self.input_view(i, place),
            Root::Scalar(i) => place.view_of(self.bound.scalars[i].view()),
            Root::Slot(i) => place.view_of(self.slot(i).tensor().view()),
        }
    }

    #[inline]
    fn input_view(&self, input: usize, place: &Place) -> TensorView<'a> {
        place.view_of(self.inputs[input].view())
    }

    /// The outputs of [`run`](super::run).
    pub fn outputs(mut self, engines: &mut [&mut dyn Engine]) -> Result<Vec<Output<'a>>> {
        let values = &self.plan.outputs;
        let mut outputs = Vec::with_capacity(values.len());
        for (i, &value) in values.iter().enumerate() {
            let place = self.bound.place(value);
            outputs.push(match (place.root, self.whole(i, place)?) {
                (_, Some(tensor)) => Output::Owned(tensor),
                (Root::Input(input), None) => Output::Borrowed(self.input_view(input, place)),
                (_, None) => Output::Owned(copied(self.engine(engines, place.root), &self.view(value))?),
            });
        }
        self.recycle(engines);
        Ok(outputs)
    }

    /// Brings to the caller's tensors what was not computed in them.
    pub fn deliver(mut self, engines: &mut [&mut dyn Engine], rest: Rest<'o>) -> Result<()> {
        for (i, tensor) in rest.into_iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let value = self.plan.outputs[i];
            let place = self.bound.place(value);
            if let (Root::Slot(_), Some(whole)) = (place.root, self.whole(i, place)?) {
                self.engine(engines, place.root).recycle(mem::replace(tensor, whole));
            } else if writable(tensor) {
                self.engine(engines, place.root).copy(&self.view(value), tensor)?;
            } else {
                *tensor = copied(self.engine(engines, place.root), &self.view(value))?;
            }
        }
        self.recycle(engines);
        Ok(())
    }

    /// Output `i` without a copy: a scalar, or all of a slot. The last to need a slot takes it,
    /// those before share it.
    fn whole(&mut self, i: usize, place: &Place) -> Result<Option<Tensor>> {
        let slot = match place.root {
            Root::Scalar(scalar) if !place.is_view => return Ok(Some(self.bound.scalars[scalar].clone())),
            Root::Slot(slot) => slot,
            Root::Input(_) | Root::Scalar(_) => return Ok(None),
        };
        let Slot::Owned(tensor) = self.slot(slot) else { return Ok(None) };
        if !place.layout.is_contiguous() || place.layout.len() != tensor.len() {
            return Ok(None);
        }
        let later = &self.plan.outputs[i + 1..];
        let needed = later.iter().any(|&value| self.bound.place(value).root == place.root);
        let whole = if needed { Some(tensor.clone()) } else { self.take(slot) };
        Ok(match whole {
            Some(tensor) if place.is_view => Some(tensor.reshape(place.layout.shape())?),
            whole => whole,
        })
    }

    /// The engine whose memory holds a root; the first one copies what no engine made.
    fn engine<'e>(&self, engines: &'e mut [&mut dyn Engine], root: Root) -> &'e mut dyn Engine {
        let engine = match root {
            Root::Slot(slot) => self.plan.slots[slot].engine,
            Root::Input(_) | Root::Scalar(_) => 0,
        };
        &mut *engines[engine]
    }

    fn recycle(mut self, engines: &mut [&mut dyn Engine]) {
        for (slot, spec) in self.plan.slots.iter().enumerate() {
            if let Some(tensor) = self.take(slot) {
                engines[spec.engine].recycle(tensor);
            }
        }
    }
}

/// Whether a tensor can be written where it is: kernels get outputs that are compact from their first entry.
fn writable(tensor: &Tensor) -> bool {
    tensor.is_unique() && tensor.layout().is_contiguous() && tensor.layout().offset() == 0
}

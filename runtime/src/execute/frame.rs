//! One run under way: the walk over the steps of a binding.

use std::cell::Cell;
use std::mem;

use smallvec::SmallVec;
use tenferro_core::{Tensor, TensorRead, TensorView};

use super::bind::{Bound, BoundOutput, BoundStep, BoundWork, Operand, Root};
use super::outputs::{Output, copied};
use super::slots::{Slot, Slots, emptied};
use crate::engine::Engine;
use crate::error::Result;

/// The state of a run: `'f` the binding, `'a` the inputs, `'o` the caller's outputs.
pub(super) struct Frame<'f, 'a, 'o> {
    bound: &'f Bound,
    inputs: &'f [TensorRead<'a>],
    /// Those of the binding, and after them one for each tensor of the caller that an output still
    /// has to be brought to.
    slots: Slots<'o>,
}

impl<'f, 'a, 'o> Frame<'f, 'a, 'o> {
    /// A run that makes its outputs.
    pub fn new(bound: &'f Bound, inputs: &'f [TensorRead<'a>]) -> Self {
        Self { bound, inputs, slots: Slots::new(bound.slots.len()) }
    }

    /// A run that writes to the caller's tensors. Those that can be are lent to the slots that end
    /// as outputs.
    pub fn into(bound: &'f Bound, inputs: &'f [TensorRead<'a>], outputs: &'o mut [&mut Tensor]) -> Self {
        let count = bound.slots.len();
        let mut slots = Slots::new(count + outputs.len());
        for (i, (output, tensor)) in bound.outputs.iter().zip(outputs).enumerate() {
            let at = match output.value.root() {
                Root::Slot(slot) if !output.value.is_view() && writable(tensor) => slot as usize,
                _ => count + i,
            };
            // One value may be several outputs, but is computed once.
            let at = if matches!(slots[at], Slot::Empty) { at } else { count + i };
            slots[at] = Slot::Lent(tensor);
        }
        Self { bound, inputs, slots }
    }

    /// Runs all steps. After an error everything is as before the run, but for the contents of
    /// tensors lent.
    pub fn execute(&mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        for step in &self.bound.steps {
            let engine = &mut *engines[step.engine];
            if let Err(error) = self.step(engine, step) {
                self.recycle(engines);
                return Err(error);
            }
            for &slot in &step.release {
                self.release(engines, slot as usize);
            }
        }
        Ok(())
    }

    fn step(&mut self, engine: &mut dyn Engine, step: &BoundStep) -> Result<()> {
        for &slot in &step.outputs {
            let slot = slot as usize;
            if matches!(self.slots[slot], Slot::Empty) {
                let kind = &self.bound.slots[slot];
                self.slots[slot] = Slot::Owned(engine.allocate(kind.dtype, &kind.shape)?);
            }
        }
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &[], after: &[] };
        if let [slot] = step.outputs[..] {
            let (before, rest) = self.slots.split_at_mut(slot as usize);
            let (output, after) = rest.split_at_mut(1);
            let operands = Operands { before, after, ..operands };
            return operands.work(engine, step, &mut [output[0].tensor_mut()]);
        }
        let take = |&slot: &u32| mem::take(&mut self.slots[slot as usize]);
        let mut taken: SmallVec<[Slot<'o>; 4]> = step.outputs.iter().map(take).collect();
        let mut outputs: SmallVec<[&mut Tensor; 4]> = taken.iter_mut().map(Slot::tensor_mut).collect();
        let worked = Operands { before: &self.slots, ..operands }.work(engine, step, &mut outputs);
        drop(outputs);
        for (&slot, filled) in step.outputs.iter().zip(taken) {
            self.slots[slot as usize] = filled;
        }
        worked
    }

    /// The outputs of [`run`](super::run).
    pub fn outputs(mut self, engines: &mut [&mut dyn Engine]) -> Result<Vec<Output<'a>>> {
        let mut outputs = Vec::with_capacity(self.bound.outputs.len());
        for output in &self.bound.outputs {
            outputs.push(match (output.value.root(), self.whole(output)?) {
                (_, Some(tensor)) => Output::Owned(tensor),
                (Root::Input(input), None) => Output::Borrowed(self.borrowed(input as usize, output)?),
                (root, None) => Output::Owned(copied(self.engine(engines, root), &self.value(output))?),
            });
        }
        self.recycle(engines);
        Ok(outputs)
    }

    /// Brings to the caller's tensors what was not computed in them.
    pub fn deliver(mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        let count = self.bound.slots.len();
        for (i, output) in self.bound.outputs.iter().enumerate() {
            let Slot::Lent(tensor) = mem::take(&mut self.slots[count + i]) else { continue };
            let root = output.value.root();
            if let (Root::Slot(_), Some(whole)) = (root, self.whole(output)?) {
                self.engine(engines, root).recycle(mem::replace(tensor, whole));
            } else if writable(tensor) {
                self.engine(engines, root).copy(&self.value(output), tensor)?;
            } else {
                *tensor = copied(self.engine(engines, root), &self.value(output))?;
            }
        }
        self.recycle(engines);
        Ok(())
    }

    /// An output without a copy: a scalar, or all of a slot. The last to need a slot takes it,
    /// those before share it.
    fn whole(&mut self, output: &BoundOutput) -> Result<Option<Tensor>> {
        let slot = match output.value.root() {
            Root::Scalar(scalar) if !output.value.is_view() => {
                return Ok(Some(self.bound.scalars[scalar as usize].clone()));
            }
            Root::Slot(slot) if output.is_whole => &mut self.slots[slot as usize],
            _ => return Ok(None),
        };
        let whole = match slot {
            Slot::Owned(tensor) if !output.is_last => Some(tensor.clone()),
            slot => slot.take(),
        };
        Ok(match whole {
            Some(tensor) if output.value.is_view() => Some(tensor.reshape(output.layout.shape())?),
            whole => whole,
        })
    }

    /// An output that is a view of an input.
    fn borrowed(&self, input: usize, output: &BoundOutput) -> Result<TensorView<'a>> {
        let view = self.inputs[input].view();
        Ok(if output.value.is_view() { view.with_layout(output.layout.clone())? } else { view })
    }

    fn value(&self, output: &'f BoundOutput) -> TensorView<'_> {
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &self.slots, after: &[] };
        operands.view(&output.value)
    }

    /// The engine whose memory holds a root; the first one copies what no engine made.
    fn engine<'e>(&self, engines: &'e mut [&mut dyn Engine], root: Root) -> &'e mut dyn Engine {
        let engine = match root {
            Root::Slot(slot) => self.bound.slots[slot as usize].engine,
            Root::Input(_) | Root::Scalar(_) => 0,
        };
        &mut *engines[engine]
    }

    fn release(&mut self, engines: &mut [&mut dyn Engine], slot: usize) {
        if let Some(tensor) = self.slots[slot].take() {
            engines[self.bound.slots[slot].engine].recycle(tensor);
        }
    }

    fn recycle(&mut self, engines: &mut [&mut dyn Engine]) {
        for slot in 0..self.bound.slots.len() {
            self.release(engines, slot);
        }
    }
}

/// What the operands of a step are found in: slots that it writes are elsewhere meanwhile.
struct Operands<'v, 'a, 'o> {
    bound: &'v Bound,
    inputs: &'v [TensorRead<'a>],
    /// The slots up to the one written, or all where several are,
    before: &'v [Slot<'o>],
    /// and those after it.
    after: &'v [Slot<'o>],
}

thread_local! {
    /// The memory of the operands of a step that has many.
    static VIEWS: Cell<Vec<TensorView<'static>>> = const { Cell::new(Vec::new()) };
}

impl<'v> Operands<'v, '_, '_> {
    #[inline]
    fn work(&self, engine: &mut dyn Engine, step: &'v BoundStep, outputs: &mut [&mut Tensor]) -> Result<()> {
        let command = match &step.work {
            BoundWork::Command(command) => &**command,
            BoundWork::Copy => return engine.copy(&self.view(&step.inputs[0]), outputs[0]),
        };
        match &step.inputs[..] {
            [a] => command.execute(engine, &[self.view(a)], outputs),
            [a, b] => command.execute(engine, &[self.view(a), self.view(b)], outputs),
            [a, b, c] => command.execute(engine, &[self.view(a), self.view(b), self.view(c)], outputs),
            many => {
                let mut views: Vec<TensorView<'v>> = VIEWS.try_with(Cell::take).unwrap_or_default();
                views.extend(many.iter().map(|operand| self.view(operand)));
                let worked = command.execute(engine, &views, outputs);
                let views = emptied(views);
                let _ = VIEWS.try_with(|memory| memory.set(views));
                worked
            }
        }
    }

    #[inline]
    fn view(&self, operand: &'v Operand) -> TensorView<'v> {
        let root = match operand.root() {
            Root::Input(i) => self.inputs[i as usize].view(),
            Root::Scalar(i) => self.bound.scalars[i as usize].view(),
            Root::Slot(slot) => {
                let slot = slot as usize;
                let slot = match self.before.get(slot) {
                    Some(slot) => slot,
                    None => &self.after[slot - self.before.len() - 1],
                };
                slot.tensor().view()
            }
        };
        operand.of(root)
    }
}

/// Whether a tensor can be written where it is: kernels get outputs that are compact from their first entry.
fn writable(tensor: &Tensor) -> bool {
    tensor.is_unique() && tensor.layout().is_contiguous() && tensor.layout().offset() == 0
}

//! One run under way: the walk over the steps of a binding.

use std::cell::Cell;
use std::mem;
use std::time::Instant;

use smallvec::SmallVec;
use tenferro_core::{DType, Tensor, TensorRead, TensorView};

use super::bind::{Bound, BoundOutput, BoundStep, BoundWork, Operand, Root, SlotKind};
use super::outputs::{Output, copied};
use super::slots::{Slot, Slots, emptied};
use crate::engine::Engine;
use crate::error::Result;
use crate::prepare::Passage;
use crate::profile::Recording;

/// The state of a run: `'f` the binding, `'a` the inputs, `'o` the caller's outputs.
pub(super) struct Frame<'f, 'a, 'o> {
    bound: &'f Bound,
    inputs: &'f [TensorRead<'a>],
    /// Those of the binding, and after them one for each tensor of the caller that an output still
    /// has to be brought to.
    slots: Slots<'o>,
    /// What a profile hears of the run when it ends, where there is one.
    recording: Option<Box<Recording>>,
}

impl<'f, 'a, 'o> Frame<'f, 'a, 'o> {
    pub fn new(bound: &'f Bound, inputs: &'f [TensorRead<'a>], recording: Option<Box<Recording>>) -> Self {
        Self { bound, inputs, slots: Slots::new(bound.slots.len()), recording }
    }

    /// The run goes on with the binding that follows.
    pub fn after<'g>(mut self, bound: &'g Bound) -> Frame<'g, 'a, 'o>
    where
        'f: 'g,
    {
        self.slots.grow(bound.slots.len());
        Frame { bound, inputs: self.inputs, slots: self.slots, recording: self.recording }
    }

    pub fn bound(&self) -> &'f Bound {
        self.bound
    }

    /// Lends the caller's tensors to the slots that end as outputs, where that can be.
    pub fn lend(&mut self, outputs: &'o mut [&mut Tensor]) {
        let count = self.bound.slots.len();
        self.slots.grow(count + outputs.len());
        for (i, (output, tensor)) in self.bound.outputs.iter().zip(outputs).enumerate() {
            let at = match output.value.root() {
                Root::Slot(slot) if !output.value.is_view() && writable(tensor) => slot as usize,
                _ => count + i,
            };
            // One value may be several outputs, but is computed once; and it may be computed already.
            let at = if matches!(self.slots[at], Slot::Empty) { at } else { count + i };
            self.slots[at] = Slot::Lent(tensor);
        }
    }

    /// The number that an i32 or i64 scalar is, once everything submitted before is done.
    pub fn integer(&self, engines: &mut [&mut dyn Engine], value: &'f Operand) -> Result<i64> {
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &self.slots, after: &[] };
        let view = operands.view(value);
        let scalar = match self.engine(engines, value.root()) {
            Some(engine) => {
                let mut scalar = Tensor::zeros(view.dtype(), [])?;
                engine.copy(&view, &mut scalar)?;
                engine.synchronize()?;
                scalar
            }
            None => view.to_tensor()?,
        };
        Ok(match view.dtype() {
            DType::I32 => scalar.as_slice::<i32>()?[0].into(),
            _ => scalar.as_slice::<i64>()?[0],
        })
    }

    /// Runs the steps of the binding. After an error everything is as before the run, but for the contents of
    /// tensors lent.
    pub fn execute(&mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        let bound = self.bound;
        // Looked at once: without a profile no step asks for it.
        let done = match self.recording.take() {
            None => bound.steps.iter().try_for_each(|step| self.step(engines, step)),
            Some(mut recording) => {
                let recorded = bound.steps.iter().try_for_each(|step| {
                    let (bytes, start) = (self.bytes(step), Instant::now());
                    self.step(engines, step)?;
                    // What is submitted only would be no time at all.
                    engines[step.engine].synchronize()?;
                    recording.command(step, start, bytes);
                    Ok(())
                });
                self.recording = Some(recording);
                recorded
            }
        };
        if done.is_err() {
            self.recycle(engines);
        }
        done
    }

    /// Runs a step and gives back what is not needed after it.
    #[inline]
    fn step(&mut self, engines: &mut [&mut dyn Engine], step: &'f BoundStep) -> Result<()> {
        span!(TRACE, "command", name = step.work.name());
        for &engine in &step.waits {
            engines[engine as usize].synchronize()?;
        }
        self.work(engines, step)?;
        if !step.waits.is_empty() {
            // What it read may be written again by the engines that it waited for.
            engines[step.engine].synchronize()?;
        }
        for &slot in &step.release {
            self.release(engines, slot as usize);
        }
        Ok(())
    }

    fn work(&mut self, engines: &mut [&mut dyn Engine], step: &'f BoundStep) -> Result<()> {
        for &slot in &step.outputs {
            let slot = slot as usize;
            if matches!(self.slots[slot], Slot::Empty) {
                let SlotKind { engine, dtype, ref shape } = self.bound.slots[slot];
                self.slots[slot] = Slot::Owned(match engine {
                    Some(engine) => engines[engine].allocate(dtype, shape)?,
                    None => Tensor::allocate(dtype, shape)?,
                });
            }
        }
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &[], after: &[] };
        if let [slot] = step.outputs[..] {
            let (before, rest) = self.slots.split_at_mut(slot as usize);
            let (output, after) = rest.split_at_mut(1);
            let operands = Operands { before, after, ..operands };
            return operands.work(engines, step, &mut [output[0].tensor_mut()]);
        }
        let take = |&slot: &u32| mem::take(&mut self.slots[slot as usize]);
        let mut taken: SmallVec<[Slot<'o>; 4]> = step.outputs.iter().map(take).collect();
        let mut outputs: SmallVec<[&mut Tensor; 4]> = taken.iter_mut().map(Slot::tensor_mut).collect();
        let worked = Operands { before: &self.slots, ..operands }.work(engines, step, &mut outputs);
        drop(outputs);
        for (&slot, filled) in step.outputs.iter().zip(taken) {
            self.slots[slot as usize] = filled;
        }
        worked
    }

    /// The outputs of [`run`](super::run).
    pub fn outputs(mut self, engines: &mut [&mut dyn Engine]) -> Result<Vec<Output<'a>>> {
        let outputs = self.collect(engines);
        self.recycle(engines);
        outputs
    }

    fn collect(&mut self, engines: &mut [&mut dyn Engine]) -> Result<Vec<Output<'a>>> {
        let mut outputs = Vec::with_capacity(self.bound.outputs.len());
        for output in &self.bound.outputs {
            outputs.push(match (self.whole(output)?, self.given(output)?) {
                (Some(tensor), _) => Output::Owned(tensor),
                (None, Some(given)) => given,
                (None, None) => Output::Owned(copied(self.engine(engines, output.value.root()), &self.value(output))?),
            });
        }
        self.arrive(engines)?;
        Ok(outputs)
    }

    /// Brings to the caller's tensors what was not computed in them.
    pub fn deliver(mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        let delivered = self.bring(engines);
        self.recycle(engines);
        delivered
    }

    fn bring(&mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        let count = self.bound.slots.len();
        for (i, output) in self.bound.outputs.iter().enumerate() {
            let Slot::Lent(tensor) = mem::take(&mut self.slots[count + i]) else { continue };
            let root = output.value.root();
            if let (Root::Slot(_), Some(whole)) = (root, self.whole(output)?) {
                let replaced = mem::replace(tensor, whole);
                if let Some(engine) = self.engine(engines, root) {
                    engine.recycle(replaced);
                }
                continue;
            }
            match self.engine(engines, root) {
                Some(engine) if writable(tensor) => engine.copy(&self.value(output), tensor)?,
                engine => *tensor = copied(engine, &self.value(output))?,
            }
        }
        self.arrive(engines)
    }

    /// Waits until outputs that come from other memory are there.
    fn arrive(&self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        self.bound.arrivals.iter().try_for_each(|&engine| engines[engine as usize].synchronize())
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

    /// An output that is an input or a view of one, where that takes no copy: borrowed from what the caller lends for
    /// longer than the run, shared with what is only the run's, if it is compact as what is owned has to be.
    fn given(&self, output: &BoundOutput) -> Result<Option<Output<'a>>> {
        let Root::Input(input) = output.value.root() else { return Ok(None) };
        let (input, is_view) = (&self.inputs[input as usize], output.value.is_view());
        Ok(match (input, input.lent()) {
            (_, Some(view)) if is_view => Some(Output::Borrowed(view.with_layout(output.layout.clone())?)),
            (_, Some(view)) => Some(Output::Borrowed(view)),
            (TensorRead::Owned(tensor), None) if !is_view && output.layout.is_contiguous() => {
                Some(Output::Owned(tensor.clone()))
            }
            (_, None) => None,
        })
    }

    fn value(&self, output: &'f BoundOutput) -> TensorView<'_> {
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &self.slots, after: &[] };
        operands.view(&output.value)
    }

    /// The engine whose memory holds a root; what no engine made is the first's in host memory.
    fn engine<'e>(&self, engines: &'e mut [&mut dyn Engine], root: Root) -> Option<&'e mut dyn Engine> {
        let engine = match root {
            Root::Slot(slot) => self.bound.slots[slot as usize].engine,
            Root::Input(_) | Root::Scalar(_) => self.bound.host,
        };
        Some(&mut *engines[engine?])
    }

    /// The bytes that a step reads and writes: all elements of its operands, as often as a view shows
    /// them, and of its results.
    fn bytes(&self, step: &'f BoundStep) -> u64 {
        let operands = Operands { bound: self.bound, inputs: self.inputs, before: &self.slots, after: &[] };
        let read = step.inputs.iter().map(|operand| {
            let view = operands.view(operand);
            (view.len() as u64).saturating_mul(view.dtype().size() as u64)
        });
        let kind = |&slot: &u32| &self.bound.slots[slot as usize];
        let written = step.outputs.iter().map(kind).map(|kind| kind.bytes());
        read.chain(written).fold(0, u64::saturating_add)
    }

    #[inline]
    fn release(&mut self, engines: &mut [&mut dyn Engine], slot: usize) {
        if let Some(tensor) = self.slots[slot].take()
            && let Some(engine) = self.bound.slots[slot].engine
        {
            engines[engine].recycle(tensor);
        }
    }

    /// Gives back all that the run holds.
    pub fn recycle(&mut self, engines: &mut [&mut dyn Engine]) {
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
    fn work(&self, engines: &mut [&mut dyn Engine], step: &'v BoundStep, outputs: &mut [&mut Tensor]) -> Result<()> {
        let command = match &step.work {
            BoundWork::Command(command) => &**command,
            BoundWork::Copy => return engines[step.engine].copy(&self.view(&step.inputs[0]), outputs[0]),
            BoundWork::Transfer(passage) => return transfer(passage, engines, &self.view(&step.inputs[0]), outputs[0]),
        };
        let engine = &mut *engines[step.engine];
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

/// Brings a value to other memory. The ends are two engines, or one and the host.
fn transfer(
    Passage { transfer, from, to }: &Passage,
    engines: &mut [&mut dyn Engine],
    source: &TensorView<'_>,
    destination: &mut Tensor,
) -> Result<()> {
    match (*from, *to) {
        (Some(from), Some(to)) => match engines.get_disjoint_mut([from, to]) {
            Ok([from, to]) => transfer.transfer(Some(&mut **from), source, Some(&mut **to), destination),
            Err(error) => unreachable!("a transfer is between different memories of targets: {error}"),
        },
        (Some(from), None) => transfer.transfer(Some(&mut *engines[from]), source, None, destination),
        (None, Some(to)) => transfer.transfer(None, source, Some(&mut *engines[to]), destination),
        (None, None) => unreachable!("a transfer is between different memories"),
    }
}

/// Whether a tensor can be written where it is: kernels get outputs that are compact from their first entry.
fn writable(tensor: &Tensor) -> bool {
    tensor.is_unique() && tensor.layout().is_contiguous() && tensor.layout().offset() == 0
}

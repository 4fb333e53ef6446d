//! One run under way: the slots, and the walk over the steps.

use std::mem;

use smallvec::SmallVec;
use tenferro_core::program::ValueId;
use tenferro_core::{Tensor, TensorRead, TensorView};

use super::bind::{Bound, Place, Root};
use super::outputs::{Output, copied};
use crate::engine::Engine;
use crate::error::Result;
use crate::prepare::{Plan, PreparedProgram, Step, Work};

/// A place for one tensor.
enum Slot<'o> {
    Empty,
    Owned(Tensor),
    /// The caller's, which an output is computed into.
    Lent(&'o mut Tensor),
}

impl Slot<'_> {
    fn tensor(&self) -> &Tensor {
        match self {
            Self::Owned(tensor) => tensor,
            Self::Lent(tensor) => tensor,
            Self::Empty => unreachable!("a value is read between its step and its release"),
        }
    }
}

/// The tensors of the caller that outputs still have to be brought to.
pub(super) type Rest<'o> = SmallVec<[Option<&'o mut Tensor>; 4]>;

/// The state of a run: `'f` the prepared program, `'a` the inputs, `'o` the caller's outputs.
pub(super) struct Frame<'f, 'a, 'o> {
    prepared: &'f PreparedProgram,
    bound: &'f Bound,
    inputs: &'f [TensorRead<'a>],
    slots: SmallVec<[Slot<'o>; 4]>,
}

impl<'f, 'a, 'o> Frame<'f, 'a, 'o> {
    pub fn new(prepared: &'f PreparedProgram, bound: &'f Bound, inputs: &'f [TensorRead<'a>]) -> Self {
        let slots = prepared.plan.slots.iter().map(|_| Slot::Empty).collect();
        Self { prepared, bound, inputs, slots }
    }

    fn plan(&self) -> &'f Plan {
        &self.prepared.plan
    }

    /// Lends tensors of the caller to the slots that end as outputs, and returns those that
    /// cannot be lent.
    pub fn lend(&mut self, outputs: &'o mut [&mut Tensor]) -> Rest<'o> {
        let values = self.prepared.program.outputs().iter().map(|output| output.value);
        let mut rest = Rest::new();
        for (value, tensor) in values.zip(outputs) {
            let place = self.bound.place(value);
            match place.root {
                Root::Slot(slot) if !place.is_view && writable(tensor) && matches!(self.slots[slot], Slot::Empty) => {
                    self.slots[slot] = Slot::Lent(tensor);
                    rest.push(None);
                }
                _ => rest.push(Some(tensor)),
            }
        }
        rest
    }

    pub fn execute(&mut self, engines: &mut [&mut dyn Engine]) -> Result<()> {
        for step in &self.plan().steps {
            let engine = &mut *engines[step.engine];
            match &step.work {
                Work::Command(_) => self.step(engine, step)?,
                Work::Compact(value) => {
                    let root = self.bound.place(*value).root;
                    if root == Root::Slot(step.outputs[0] as usize) {
                        self.step(engine, step)?;
                    }
                }
            }
            for &slot in &step.release {
                if let Slot::Owned(tensor) = mem::replace(&mut self.slots[slot as usize], Slot::Empty) {
                    engines[self.plan().slots[slot as usize].engine].recycle(tensor);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, engine: &mut dyn Engine, step: &Step) -> Result<()> {
        // Outputs leave their slots while they are written, for the inputs are read from there.
        let mut taken: SmallVec<[Slot<'o>; 1]> = SmallVec::new();
        for &slot in &step.outputs {
            let slot = slot as usize;
            taken.push(match mem::replace(&mut self.slots[slot], Slot::Empty) {
                Slot::Empty => {
                    let dtype = self.plan().slots[slot].meta.dtype;
                    Slot::Owned(engine.allocate(dtype, &self.bound.shapes[slot])?)
                }
                present => present,
            });
        }
        let mut outputs: SmallVec<[&mut Tensor; 1]> = SmallVec::new();
        for slot in &mut taken {
            match slot {
                Slot::Owned(tensor) => outputs.push(tensor),
                Slot::Lent(tensor) => outputs.push(tensor),
                Slot::Empty => {}
            }
        }
        match &step.work {
            Work::Command(command) => {
                let mut inputs: SmallVec<[TensorView<'_>; 3]> = SmallVec::new();
                for &input in &step.inputs {
                    inputs.push(self.view(input)?);
                }
                command.execute(engine, &inputs, &mut outputs)?;
            }
            Work::Compact(_) => engine.copy(&self.view(step.inputs[0])?, outputs[0])?,
        }
        for (&slot, tensor) in step.outputs.iter().zip(taken) {
            self.slots[slot as usize] = tensor;
        }
        Ok(())
    }

    fn view(&self, value: ValueId) -> Result<TensorView<'_>> {
        let place = self.bound.place(value);
        let root = match place.root {
            Root::Input(i) => return self.input_view(i, place),
            Root::Scalar(i) => self.bound.scalars[i].view(),
            Root::Slot(i) => self.slots[i].tensor().view(),
        };
        Ok(if place.is_view { root.with_layout(place.layout.clone())? } else { root })
    }

    fn input_view(&self, input: usize, place: &Place) -> Result<TensorView<'a>> {
        let root = self.inputs[input].view();
        Ok(if place.is_view { root.with_layout(place.layout.clone())? } else { root })
    }

    /// The outputs of [`run`](super::run).
    pub fn into_outputs(mut self, engines: &mut [&mut dyn Engine]) -> Result<Vec<Output<'a>>> {
        let program = &self.prepared.program;
        let mut outputs = Vec::with_capacity(program.outputs().len());
        for i in 0..program.outputs().len() {
            let value = program.outputs()[i].value;
            let place = self.bound.place(value);
            outputs.push(match (place.root, self.whole(i, place)?) {
                (_, Some(tensor)) => Output::Owned(tensor),
                (Root::Input(input), None) => Output::Borrowed(self.input_view(input, place)?),
                (_, None) => Output::Owned(copied(self.engine(engines, place.root), &self.view(value)?)?),
            });
        }
        self.recycle(engines);
        Ok(outputs)
    }

    /// Brings to the caller's tensors what was not computed in them.
    pub fn deliver(mut self, engines: &mut [&mut dyn Engine], rest: Rest<'o>) -> Result<()> {
        for (i, tensor) in rest.into_iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let value = self.prepared.program.outputs()[i].value;
            let place = self.bound.place(value);
            if let (Root::Slot(_), Some(whole)) = (place.root, self.whole(i, place)?) {
                self.engine(engines, place.root).recycle(mem::replace(tensor, whole));
            } else if writable(tensor) {
                self.engine(engines, place.root).copy(&self.view(value)?, tensor)?;
            } else {
                *tensor = copied(self.engine(engines, place.root), &self.view(value)?)?;
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
        let Slot::Owned(tensor) = &self.slots[slot] else { return Ok(None) };
        if !place.layout.is_contiguous() || place.layout.len() != tensor.len() {
            return Ok(None);
        }
        let later = &self.prepared.program.outputs()[i + 1..];
        let needed = later.iter().any(|output| self.bound.place(output.value).root == place.root);
        let tensor = match mem::replace(&mut self.slots[slot], Slot::Empty) {
            Slot::Owned(tensor) if needed => {
                self.slots[slot] = Slot::Owned(tensor.clone());
                tensor
            }
            Slot::Owned(tensor) => tensor,
            Slot::Empty | Slot::Lent(_) => return Ok(None),
        };
        Ok(Some(if place.is_view { tensor.reshape(place.layout.shape())? } else { tensor }))
    }

    /// The engine whose memory holds a root; the first one copies what no engine made.
    fn engine<'e>(&self, engines: &'e mut [&mut dyn Engine], root: Root) -> &'e mut dyn Engine {
        let engine = match root {
            Root::Slot(slot) => self.plan().slots[slot].engine,
            Root::Input(_) | Root::Scalar(_) => 0,
        };
        &mut *engines[engine]
    }

    fn recycle(self, engines: &mut [&mut dyn Engine]) {
        for (slot, spec) in self.slots.into_iter().zip(&self.prepared.plan.slots) {
            if let Slot::Owned(tensor) = slot {
                engines[spec.engine].recycle(tensor);
            }
        }
    }
}

/// Whether a tensor can be written where it is.
fn writable(tensor: &Tensor) -> bool {
    tensor.is_unique() && tensor.layout().is_contiguous()
}

//! The buffer plan: which values share memory, and when memory goes back to its engine.
//!
//! Buffers of equal engine, dtype and (symbolic) shape whose lifetimes do not overlap share a
//! slot, by a linear scan over the steps (Poletto and Sarkar, 1999). A slot keeps its tensor
//! from one buffer to the next, so reuse costs nothing at run time.

use smallvec::SmallVec;
use tenferro_core::program::ValueMeta;

/// What a command or a copy writes, over its life.
pub(super) struct Buffer {
    pub engine: Option<usize>,
    meta: ValueMeta,
    /// The step that writes it.
    born: usize,
    /// The step that reads it last; its own if none does.
    dies: usize,
    /// Outputs live on.
    kept: bool,
}

impl Buffer {
    pub fn new(engine: Option<usize>, meta: ValueMeta, born: usize) -> Self {
        Self { engine, meta, born, dies: born, kept: false }
    }

    pub fn used_by_step(&mut self, step: usize) {
        self.dies = self.dies.max(step);
    }

    pub fn used_by_output(&mut self) {
        self.kept = true;
    }
}

/// A place for one tensor at a time, always of the same kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotSpec {
    /// The position of its engine among the targets; none where it is in host memory and no engine is.
    pub engine: Option<usize>,
    /// Dtype and symbolic shape.
    pub meta: ValueMeta,
}

/// The plan.
pub(super) struct Assignment {
    pub slots: Vec<SlotSpec>,
    /// By buffer.
    pub slot_of: Vec<u32>,
    /// By step: the slots whose last buffer dies there.
    pub release: Vec<SmallVec<[u32; 2]>>,
}

/// Assigns slots. Buffers are in the order of their births.
pub(super) fn assign(buffers: Vec<Buffer>, steps: usize) -> Assignment {
    let mut slots: Vec<SlotSpec> = Vec::new();
    let mut slot_of = Vec::with_capacity(buffers.len());
    // By slot: the step at which its latest buffer dies, none if that is kept.
    let mut dies: Vec<Option<usize>> = Vec::new();
    for Buffer { engine, meta, born, dies: death, kept } in buffers {
        let spec = SlotSpec { engine, meta };
        // Strictly earlier: a step must not write what it reads. The latest death is the warmest.
        let free = (0..slots.len())
            .filter(|&slot| dies[slot].is_some_and(|step| step < born) && slots[slot] == spec)
            .max_by_key(|&slot| dies[slot]);
        let slot = free.unwrap_or_else(|| {
            slots.push(spec);
            dies.push(None);
            slots.len() - 1
        });
        dies[slot] = (!kept).then_some(death);
        slot_of.push(slot as u32);
    }
    let mut release = vec![SmallVec::new(); steps];
    for (slot, step) in dies.into_iter().enumerate() {
        if let Some(step) = step {
            release[step].push(slot as u32);
        }
    }
    Assignment { slots, slot_of, release }
}

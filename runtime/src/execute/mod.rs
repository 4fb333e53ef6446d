//! Running prepared programs.

mod bind;
mod command;
mod frame;
mod inputs;
mod outputs;

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::program::SizeNames;
use tenferro_core::{Tensor, TensorRead};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::prepare::{LayoutClass, Prepared, Signature, Specialization};
use crate::runtime::Runtime;
use bind::Bound;
use frame::{Frame, Slot, Slots};

pub(crate) use bind::Bindings;
pub(crate) use inputs::{InputMeta, bind_sizes};

pub use command::Command;
pub use outputs::Output;

pub(crate) fn run<'a>(
    runtime: &Runtime,
    call: &'static str,
    engines: &mut [&mut dyn Engine],
    prepared: &Prepared,
    inputs: &[TensorRead<'a>],
) -> Result<Vec<Output<'a>>> {
    let bound = admit(runtime, call, engines, prepared, inputs)?;
    let mut slots = slots(prepared);
    let frame = Frame::new(&prepared.shared.plan, &bound, inputs, &mut slots);
    at_last_stage(prepared, engines, inputs, frame, |mut frame, engines| {
        frame.execute(engines)?;
        frame.outputs(engines)
    })
}

pub(crate) fn run_into(
    runtime: &Runtime,
    call: &'static str,
    engines: &mut [&mut dyn Engine],
    prepared: &Prepared,
    inputs: &[TensorRead<'_>],
    outputs: &mut [&mut Tensor],
) -> Result<()> {
    let bound = admit(runtime, call, engines, prepared, inputs)?;
    check_outputs(call, prepared, &bound, outputs)?;
    let mut slots = slots(prepared);
    let frame = Frame::new(&prepared.shared.plan, &bound, inputs, &mut slots);
    at_last_stage(prepared, engines, inputs, frame, |mut frame, engines| {
        if frame.bound().stage > 0 {
            check_outputs(call, prepared, frame.bound(), outputs)?;
        }
        let rest = frame.lend(outputs);
        frame.execute(engines)?;
        frame.deliver(engines, rest)
    })
}

/// Executes up to where the last of the sizes that are read off values is known, and leaves the rest to `last`.
fn at_last_stage<'a, 'o, R>(
    prepared: &Prepared,
    engines: &mut [&mut dyn Engine],
    inputs: &[TensorRead<'a>],
    mut frame: Frame<'_, 'a, 'o>,
    last: impl FnOnce(Frame<'_, 'a, 'o>, &mut [&mut dyn Engine]) -> Result<R>,
) -> Result<R> {
    let (plan, bound) = (&prepared.shared.plan, frame.bound());
    let Some(read) = plan.reads.get(bound.stage) else { return last(frame, engines) };
    frame.execute(engines)?;
    let value = frame.integer(engines, read.value)?;
    // What is kept was checked.
    let recent = usize::try_from(value).ok().and_then(|size| bound.recent_with(size));
    let next = match recent {
        Some(next) => next,
        None => {
            let shapes: SmallVec<[&[usize]; 8]> = inputs.iter().map(|input| input.shape()).collect();
            let mut sizes = bound.sizes.clone();
            prepared.lowered().bind_next(&shapes, &mut sizes, value)?;
            bound.with(plan, sizes)?
        }
    };
    at_last_stage(prepared, engines, inputs, frame.in_stage(&next), last)
}

fn slots<'o>(prepared: &Prepared) -> Slots<'o> {
    prepared.shared.plan.slots.iter().map(|_| Slot::Empty).collect()
}

/// Checks everything that a run rests on, and finds or makes the binding for these inputs.
fn admit(
    runtime: &Runtime,
    call: &'static str,
    engines: &mut [&mut dyn Engine],
    prepared: &Prepared,
    inputs: &[TensorRead<'_>],
) -> Result<Arc<Bound>> {
    if prepared.shared.runtime != runtime.id() {
        return Err(Error::ForeignRuntime { call });
    }
    let (epoch, current) = (prepared.shared.epoch, runtime.epoch());
    if epoch != current {
        return Err(Error::StaleEpoch { call, prepared: epoch, current });
    }
    check_engines(call, engines, prepared)?;
    let metas: SmallVec<[InputMeta<'_>; 8]> = inputs.iter().map(InputMeta::of).collect();
    let bindings = &prepared.shared.bindings;
    if let Some(bound) = bindings.find(&metas) {
        return Ok(bound);
    }
    let bound = Arc::new(bind(call, prepared, &metas)?);
    bindings.keep(Arc::clone(&bound));
    Ok(bound)
}

fn check_engines(call: &'static str, engines: &[&mut dyn Engine], prepared: &Prepared) -> Result<()> {
    let refuse = |message: String| Err(Error::Argument { call, argument: "engines", message });
    let targets = prepared.targets();
    if engines.len() != targets.len() {
        let (wanted, given) = (targets.len(), engines.len());
        return refuse(format!("the program was prepared for {wanted} engines, but {given} were passed"));
    }
    for (i, (engine, target)) in engines.iter().zip(targets).enumerate() {
        let given = engine.target();
        if given != *target {
            return refuse(format!("engine {i} is {given}, but the program was prepared for {target}"));
        }
    }
    Ok(())
}

fn bind(call: &'static str, prepared: &Prepared, inputs: &[InputMeta<'_>]) -> Result<Bound> {
    let program = prepared.program();
    let sizes = bind_sizes(call, program, inputs)?;
    let layouts: SmallVec<[LayoutClass; 8]> = inputs.iter().map(|input| LayoutClass::of(input.layout)).collect();
    let specialized = prepared.specialization();
    let signature = Signature { sizes: &sizes, layouts: &layouts };
    let given = Specialization::project(specialized.requirements().clone(), &signature);
    if given != *specialized {
        let expected = specialized.describe(program);
        return Err(Error::NotSpecialized { call, expected, actual: given.describe(program) });
    }
    Bound::new(&prepared.shared.plan, sizes, inputs)
}

fn check_outputs(call: &'static str, prepared: &Prepared, bound: &Bound, outputs: &[&mut Tensor]) -> Result<()> {
    let program = prepared.program();
    let wanted = program.outputs().len();
    if outputs.len() != wanted {
        let message = format!("the program has {wanted} outputs, but {} tensors were passed", outputs.len());
        return Err(Error::Argument { call, argument: "outputs", message });
    }
    let values = &prepared.shared.plan.outputs;
    for (i, ((output, given), &value)) in program.outputs().iter().zip(outputs).zip(values).enumerate() {
        let meta = program.output_meta(i);
        // Others are checked when their sizes are known.
        let Some(place) = bound.known_place(value) else { continue };
        let shape = place.layout.shape();
        if given.dtype() != meta.dtype || given.shape() != shape {
            let declared = SizeNames(program.sizes()).meta(meta);
            return Err(Error::Output {
                call,
                output: match &output.name {
                    Some(name) => format!("`{name}` of {}", program.name()),
                    None => format!("{i} of {}", program.name()),
                },
                expected: format!("{}{shape:?} (declared {declared})", meta.dtype),
                actual: format!("{}{:?}", given.dtype(), given.shape()),
            });
        }
    }
    Ok(())
}

//! Running prepared programs.

mod bind;
mod command;
mod frame;
mod inputs;
mod outputs;
mod slots;

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::program::SizeNames;
use tenferro_core::{Tensor, TensorRead};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::prepare::{LayoutClass, Prepared, Signature, Specialization};
use crate::runtime::Runtime;
use bind::{Binding, Bound, Next};
use frame::Frame;

pub(crate) use bind::{Bindings, BoundStep};
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
    span!(DEBUG, "run", program = prepared.program().name());
    let bound = admit(runtime, call, engines, prepared, inputs)?;
    // What is refused, perhaps to be prepared again, is no run.
    let recording = runtime.profiles().recording(prepared);
    at_last_stage(call, prepared, engines, inputs, Frame::new(&bound, inputs, recording), |mut frame, engines| {
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
    span!(DEBUG, "run", program = prepared.program().name());
    let bound = admit(runtime, call, engines, prepared, inputs)?;
    // What is refused, perhaps to be prepared again, is no run.
    let recording = runtime.profiles().recording(prepared);
    at_last_stage(call, prepared, engines, inputs, Frame::new(&bound, inputs, recording), |mut frame, engines| {
        // Not before, for data may decide on their shapes.
        if let Err(error) = check_outputs(call, prepared, frame.bound(), outputs) {
            frame.recycle(engines);
            return Err(error);
        }
        frame.lend(outputs);
        frame.execute(engines)?;
        frame.deliver(engines)
    })
}

/// Executes up to where the last of the sizes that are read off values is known, and leaves the rest
/// to `last`.
fn at_last_stage<'a, 'o, R>(
    call: &'static str,
    prepared: &Prepared,
    engines: &mut [&mut dyn Engine],
    inputs: &[TensorRead<'a>],
    mut frame: Frame<'_, 'a, 'o>,
    last: impl FnOnce(Frame<'_, 'a, 'o>, &mut [&mut dyn Engine]) -> Result<R>,
) -> Result<R> {
    let Some(next) = &frame.bound().next else { return last(frame, engines) };
    frame.execute(engines)?;
    match after(prepared, engines, inputs, &frame, next) {
        Ok(bound) => at_last_stage(call, prepared, engines, inputs, frame.after(&bound), last),
        Err(error) => {
            frame.recycle(engines);
            Err(error.met_by(call))
        }
    }
}

/// Reads and checks the next size, and finds or makes the binding that follows.
fn after<'f>(
    prepared: &Prepared,
    engines: &mut [&mut dyn Engine],
    inputs: &[TensorRead<'_>],
    frame: &Frame<'f, '_, '_>,
    next: &'f Next,
) -> Result<Arc<Bound>> {
    let value = frame.integer(engines, &next.value)?;
    let (bound, bindings) = (frame.bound(), &prepared.shared.bindings);
    // What is kept was checked.
    if let Some(known) = usize::try_from(value).ok().and_then(|size| bindings.find_after(next, size)) {
        return Ok(known);
    }
    let shapes: SmallVec<[&[usize]; 8]> = inputs.iter().map(|input| input.shape()).collect();
    let (lowered, mut sizes) = (prepared.lowered(), bound.sizes.clone());
    if lowered.bind_next(&shapes, &mut sizes, value).is_err() {
        // Said again in the words of this program, for what was lowered may be another's.
        sizes = bound.sizes.clone();
        lowered.in_names_of(prepared.program()).bind_next(&shapes, &mut sizes, value)?;
    }
    let size = sizes[sizes.len() - 1];
    Ok(bindings.keep_after(next, size, bound.after(&prepared.shared.plan, next, sizes)?))
}

/// Checks everything that a run rests on, and finds or makes the binding for these inputs.
fn admit<'p>(
    runtime: &Runtime,
    call: &'static str,
    engines: &mut [&mut dyn Engine],
    prepared: &'p Prepared,
    inputs: &[TensorRead<'_>],
) -> Result<Binding<'p>> {
    if prepared.shared.runtime != runtime.id() {
        return Err(Error::ForeignRuntime { call });
    }
    let (epoch, current) = (prepared.shared.epoch, runtime.epoch());
    if epoch != current {
        return Err(Error::StaleEpoch { call, prepared: epoch, current });
    }
    check_engines(call, engines, prepared)?;
    let bindings = &prepared.shared.bindings;
    if let Some(bound) = bindings.find(inputs) {
        return Ok(bound);
    }
    let metas: SmallVec<[InputMeta<'_>; 8]> = inputs.iter().map(InputMeta::of).collect();
    Ok(bindings.keep(bind(call, prepared, &metas)?))
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

pub(crate) fn bind(call: &'static str, prepared: &Prepared, inputs: &[InputMeta<'_>]) -> Result<Bound> {
    let program = prepared.program();
    let sizes = bind_sizes(call, program, inputs)?;
    let layouts: SmallVec<[LayoutClass; 8]> = inputs.iter().map(|input| LayoutClass::of(input.layout)).collect();
    let specialized = prepared.specialization();
    let signature = Signature { sizes: &sizes, layouts: &layouts };
    prepared.shared.admit(call, program, inputs)?;
    let given = Specialization::project(specialized.requirements().clone(), &signature);
    if given != *specialized {
        let expected = specialized.describe(program);
        return Err(Error::NotSpecialized { call, expected, actual: given.describe(program) });
    }
    // Of steps that are prepared only now.
    Bound::new(&prepared.shared.plan, sizes, inputs).map_err(|error| error.met_by(call))
}

fn check_outputs(call: &'static str, prepared: &Prepared, bound: &Bound, outputs: &[&mut Tensor]) -> Result<()> {
    let program = prepared.program();
    let wanted = program.outputs().len();
    if outputs.len() != wanted {
        let message = format!("the program has {wanted} outputs, but {} tensors were passed", outputs.len());
        return Err(Error::Argument { call, argument: "outputs", message });
    }
    for (i, (output, given)) in bound.outputs.iter().zip(outputs).enumerate() {
        let meta = program.output_meta(i);
        let shape = output.layout.shape();
        if given.dtype() != meta.dtype || given.shape() != shape {
            let declared = SizeNames(program.sizes()).meta(meta);
            return Err(Error::Output {
                call,
                output: match &program.outputs()[i].name {
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

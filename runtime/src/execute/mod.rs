//! Running prepared programs.

mod bind;
mod command;
mod frame;
mod inputs;
mod outputs;
mod slots;

use smallvec::SmallVec;
use tenferro_core::program::SizeNames;
use tenferro_core::{Tensor, TensorRead};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::prepare::{LayoutClass, Prepared, Signature, Specialization};
use crate::runtime::Runtime;
use bind::{Binding, Bound};
use frame::Frame;

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
    let mut frame = Frame::new(&bound, inputs);
    frame.execute(engines)?;
    frame.outputs(engines)
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
    let mut frame = Frame::into(&bound, inputs, outputs);
    frame.execute(engines)?;
    frame.deliver(engines)
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
    Bound::new(&prepared.shared.plan, &sizes, inputs)
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

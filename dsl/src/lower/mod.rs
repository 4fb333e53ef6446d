//! Typed tree to semantic programs: the same builder, verifier and derivatives that run time uses.
//!
//! A checked body lowers without errors; one that does not is a fault of the checker, reported as such.

mod derivatives;
mod expression;

use std::collections::HashMap;

use syn::ext::IdentExt;
use tenferro_core::program::{ProgramBuilder, Relation, SemanticProgram, ValueId};
use tenferro_core::{DType, Result};

use crate::check::tree::{Block, Body, Elem, Kernel, Local, Step};
use crate::diagnostics::Diagnostics;
use crate::lowered::{DTypeRef, LoweredBlock, LoweredItem, LoweredKernel, LoweredVariant};
use derivatives::Transforms;
use expression::Lowering;

/// The programs that later kernels may call, by kernel and dtype of its parameter.
type Programs = HashMap<(usize, Option<DType>), SemanticProgram>;

/// How many operations a kernel may have: each becomes part of the binary, with its derivatives.
const OPERATIONS: usize = 4096;

/// Makes the programs of every kernel whose body is right.
pub fn lower(block: Block, mut diagnostics: Diagnostics) -> LoweredBlock {
    let transforms = Transforms::new();
    let mut programs = Programs::new();
    let mut bodies: HashMap<usize, Vec<LoweredVariant>> = HashMap::new();
    for &i in &block.order {
        let kernel = &block.kernels[i];
        let Some(body) = &kernel.body else { continue };
        if !callees_ready(body, &bodies) {
            continue;
        }
        match variants(i, kernel, body, &mut programs, &transforms) {
            Ok(Some(variants)) => {
                transforms.demanded(kernel, &variants, &mut diagnostics);
                bodies.insert(i, variants);
            }
            Ok(None) => {
                let message = format!(
                    "`{}` has more than {OPERATIONS} operations, loops unrolled and calls inlined: let Rust repeat it, or \
                     work on whole tensors",
                    kernel.name
                );
                diagnostics.error(&kernel.name, message);
            }
            Err(error) => {
                let message =
                    format!("`{}` was accepted but could not be lowered; please report this: {error}", kernel.name);
                diagnostics.error(&kernel.name, message);
            }
        }
    }
    let items = block
        .kernels
        .into_iter()
        .enumerate()
        .map(|(i, kernel)| {
            LoweredItem::Kernel(LoweredKernel {
                attrs: kernel.attrs,
                vis: kernel.vis,
                name: kernel.name,
                generic: kernel.generic,
                params: kernel.params,
                outputs: kernel.outputs,
                wrt: kernel.wrt,
                bodies: bodies.remove(&i),
            })
        })
        .collect();
    LoweredBlock { items, diagnostics, expression: block.expression }
}

fn callees_ready(body: &Body, bodies: &HashMap<usize, Vec<LoweredVariant>>) -> bool {
    body.steps.iter().all(|step| match step {
        Step::Call { kernel, .. } => bodies.contains_key(kernel),
        Step::Let(..) => true,
    })
}

fn variants(
    this: usize,
    kernel: &Kernel,
    body: &Body,
    programs: &mut Programs,
    transforms: &Transforms,
) -> Result<Option<Vec<LoweredVariant>>> {
    let dtypes: Vec<Option<DType>> = match &kernel.generic {
        Some(generic) => generic.dtypes.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut variants = Vec::new();
    for dtype in dtypes {
        let Some(primal) = program(kernel, body, dtype, programs)? else { return Ok(None) };
        programs.insert((this, dtype), primal.clone());
        let derivatives = transforms.derivatives(&primal, &kernel.wrt);
        variants.push(LoweredVariant { dtype, primal, derivatives });
    }
    Ok(Some(variants))
}

/// The program of a kernel, `generic` standing for its dtype parameter; nothing if it has too many operations.
fn program(
    kernel: &Kernel,
    body: &Body,
    generic: Option<DType>,
    programs: &Programs,
) -> Result<Option<SemanticProgram>> {
    let mut b = ProgramBuilder::new(kernel.name.unraw().to_string());
    // The builder numbers sizes as the checker did.
    for size in &kernel.sizes {
        b.size(size.clone());
    }
    let mut values: HashMap<usize, ValueId> = HashMap::new();
    for (i, (param, shape)) in kernel.params.iter().zip(&kernel.param_shapes).enumerate() {
        let dtype = match param.dtype {
            DTypeRef::Fixed(dtype) => dtype,
            DTypeRef::Generic => generic.unwrap_or(DType::F64),
        };
        values.insert(i, b.input(param.ident.unraw().to_string(), dtype, shape)?);
    }
    for guard in &body.guards {
        b.guard(&guard.left, Relation::Eq, &guard.right, &guard.reason)?;
    }
    let mut lowering = Lowering { b, values, generic };
    for step in &body.steps {
        let newest = match step {
            Step::Let(Local(local), expr) => {
                let value = lowering.expr(expr)?;
                lowering.values.insert(*local, value);
                Some(value)
            }
            Step::Call { kernel: callee, generic: chosen, args, results } => {
                let args: Vec<ValueId> = args.iter().map(|arg| lowering.expr(arg)).collect::<Result<_>>()?;
                let chosen: Option<Elem> = *chosen;
                let Some(callee) = programs.get(&(*callee, chosen.map(|elem| lowering.dtype(elem)))) else { continue };
                let outputs = lowering.b.call(callee, &args)?;
                let newest = outputs.iter().copied().max();
                lowering.values.extend(results.iter().map(|local| local.0).zip(outputs));
                newest
            }
        };
        // Every operation has one value, and values are numbered from the arguments on.
        if newest.is_some_and(|value| value.0 as usize > OPERATIONS + kernel.params.len()) {
            return Ok(None);
        }
    }
    let mut outputs = Vec::new();
    let names: Vec<Option<String>> =
        kernel.outputs.list.iter().map(|output| output.name.as_ref().map(|name| name.unraw().to_string())).collect();
    for (expr, name) in body.results.iter().zip(&names) {
        outputs.push((name.as_deref(), lowering.expr(expr)?));
    }
    lowering.b.finish(&outputs).map(Some)
}

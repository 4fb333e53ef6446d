//! Syntax tree to typed tree, or errors.
//!
//! One mistake is one error: an expression that is wrong has been reported when it comes back as `None`, and
//! whatever is made of it stays silent.

mod body;
mod call;
mod einsum;
mod elementwise;
mod expression;
mod index;
mod kernel_call;
mod signature;
mod sizes;
mod structure;
pub mod tree;

use signature::Signature;
use tenferro_core::DType;

use crate::diagnostics::Diagnostics;
use crate::lowered::output_struct_name;
use crate::syntax;

/// Checks every kernel of a block.
pub fn check(block: syntax::Block, diagnostics: &mut Diagnostics) -> tree::Block {
    let mut kernels: Vec<syntax::Kernel> = Vec::new();
    for kernel in block.kernels {
        match name_taken(&kernel, &kernels) {
            Some(message) => diagnostics.error(&kernel.name, message),
            None => kernels.push(kernel),
        }
    }
    let signatures: Vec<Signature> = kernels.iter().map(|kernel| Signature::read(kernel, diagnostics)).collect();
    let (bodies, calls): (Vec<_>, Vec<_>) =
        kernels.iter().enumerate().map(|(i, kernel)| body::check(kernel, i, &signatures, diagnostics)).unzip();
    let order = order(&kernels, &calls, diagnostics);
    let kernels = kernels
        .into_iter()
        .zip(signatures)
        .zip(bodies)
        .map(|((kernel, signature), body)| tree::Kernel {
            attrs: kernel.attrs,
            vis: kernel.vis,
            name: kernel.name,
            body: if signature.sound { body } else { None },
            generic: signature.generic,
            sizes: signature.sizes.names().to_vec(),
            params: signature.params,
            param_shapes: signature.param_types.into_iter().map(|ty| ty.map_or(Vec::new(), |ty| ty.shape)).collect(),
            outputs: signature.outputs,
            wrt: signature.wrt,
            grad: kernel.grad.unwrap_or_default(),
        })
        .collect();
    tree::Block { kernels, order, expression: block.expression }
}

/// What is wrong with the name of a kernel, after others.
fn name_taken(kernel: &syntax::Kernel, others: &[syntax::Kernel]) -> Option<String> {
    let name = &kernel.name;
    if is_type(name) {
        return Some(format!("`{name}` is a type: give the kernel another name"));
    }
    if let Some(other) = others.iter().find(|other| other.name == *name) {
        let is_conditional =
            |kernel: &syntax::Kernel| kernel.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        let hint = match is_conditional(kernel) && is_conditional(other) {
            true => "alternatives under `#[cfg(..)]` stand in a block each, `#[cfg(..)] tenferro! { .. }`",
            false => "rename one of them",
        };
        return Some(format!("the kernel `{name}` is there twice: {hint}"));
    }
    // Named results come back in a struct, whose name has no underscores.
    let returned = |kernel: &syntax::Kernel| {
        let named = kernel.outputs.iter().any(|output| output.name.is_some());
        named.then(|| output_struct_name(&kernel.name))
    };
    let returned_here = returned(kernel);
    others.iter().find_map(|other| {
        let returned_there = returned(other);
        if returned_here.is_some() && returned_here == returned_there {
            return Some(format!(
                "`{}` and `{name}` would both return a struct `{}`: rename one of them",
                other.name,
                output_struct_name(name)
            ));
        }
        let (kernel, output) = match (&returned_here, &returned_there) {
            (Some(output), _) if *output == other.name => (&other.name, output),
            (_, Some(output)) if *output == *name => (name, output),
            _ => return None,
        };
        Some(format!("the kernel `{kernel}` has the name of the struct `{output}` of results: rename one of them"))
    })
}

/// Whether Rust or the language has a type of this name.
fn is_type(name: &syn::Ident) -> bool {
    const RUST: [&str; 12] = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i128", "isize", "char", "str"];
    let text = name.to_string();
    DType::from_name(&text).is_some() || RUST.contains(&text.as_str())
}

/// The kernels, each after those that it calls; a kernel that calls itself, even through others, is reported and
/// left out, and so is every kernel that calls it.
fn order(kernels: &[syntax::Kernel], calls: &[Vec<usize>], diagnostics: &mut Diagnostics) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    loop {
        let ready = |i: &usize| !order.contains(i) && calls[*i].iter().all(|callee| order.contains(callee));
        match (0..kernels.len()).find(ready) {
            Some(i) => order.push(i),
            None => break,
        }
    }
    let waiting: Vec<usize> = (0..kernels.len()).filter(|i| !order.contains(i)).collect();
    if let Some(cycle) = cycle(&waiting, calls) {
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|&i| format!("`{}`", kernels[i].name)).collect();
        let message = format!("kernels are inlined, so none can call itself: {}", names.join(" calls "));
        diagnostics.error(&kernels[cycle[0]].name, message);
    }
    order
}

/// Kernels that call one another in a ring.
fn cycle(waiting: &[usize], calls: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut path = vec![*waiting.first()?];
    loop {
        let next = *calls[*path.last()?].iter().find(|callee| waiting.contains(callee))?;
        if let Some(start) = path.iter().position(|&i| i == next) {
            return Some(path.split_off(start));
        }
        path.push(next);
    }
}

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

use crate::diagnostics::Diagnostics;
use crate::syntax;

/// Checks every kernel of a block.
pub fn check(block: syntax::Block, diagnostics: &mut Diagnostics) -> tree::Block {
    let mut kernels: Vec<syntax::Kernel> = Vec::new();
    for kernel in block.kernels {
        if kernels.iter().any(|other| other.name == kernel.name) {
            let message = format!("the kernel `{}` is there twice: rename one of them", kernel.name);
            diagnostics.error(&kernel.name, message);
        } else {
            kernels.push(kernel);
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

//! Programs really are static: asking for one allocates nothing, at the first call as at any other.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use tenferro::prelude::*;
use tenferro::program::SemanticProgram;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

tenferro! {
    #[grad(w, b)]
    fn mse<T: Real>(w: T[d], b: T, x: T[n, d], y: T[n]) -> T {
        let r[i] = x[i, j] * w[j] + b - y[i];
        mean(r * r)
    }

    fn attention(q: f64[n, d], k: f64[m, d], v: f64[m, e]) -> f64[n, e] {
        let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
        let p[i, j] = softmax[j](score[i, j]);
        einsum("nm,me->ne", p, v)
    }
}

// The only test of this binary: another one running beside it would be counted too.
#[test]
fn programs_allocate_nothing() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let programs: [&'static SemanticProgram; 15] = [
        mse.program::<f32>(),
        mse.jvp_program::<f32>(),
        mse.vjp_program::<f32>(),
        mse.grad_program::<f32>(),
        mse.value_and_grad_program::<f32>(),
        mse.hvp_program::<f32>(),
        mse.program::<f64>(),
        mse.jvp_program::<f64>(),
        mse.vjp_program::<f64>(),
        mse.grad_program::<f64>(),
        mse.value_and_grad_program::<f64>(),
        mse.hvp_program::<f64>(),
        attention.program(),
        attention.jvp_program(),
        attention.vjp_program(),
    ];
    let fingerprints = programs.map(SemanticProgram::fingerprint);
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);

    for (i, program) in programs.iter().enumerate() {
        program.verify().unwrap();
        assert!(!fingerprints[..i].contains(&fingerprints[i]), "two programs share a fingerprint");
    }
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before, "the allocator counts");
}

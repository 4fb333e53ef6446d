//! Small real products against plain sums: all sizes about those of the tiles, all spellings, layouts of every kind.

use tenferro_core::{DType, Scalar, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp};

use crate::all::einsum::einsum_program;
use crate::all::support::{Noise, WAYS, assert_same, run_on};

const SIZES: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33];

/// Entries in column-major order.
fn values<T: Scalar + Into<f64>>(tensor: &Tensor) -> Vec<f64> {
    tensor.view().iter::<T>().unwrap().map(Into::into).collect()
}

/// Where the entry of these labels lies in column-major order.
fn position(labels: &str, extent: &dyn Fn(char) -> usize, index: &dyn Fn(char) -> usize) -> usize {
    labels.chars().rev().fold(0, |position, label| position * extent(label) + index(label))
}

fn reals(tensor: &Tensor) -> Vec<f64> {
    if tensor.dtype() == DType::F32 { values::<f32>(tensor) } else { values::<f64>(tensor) }
}

/// Checks `c = a * b` in one spelling, with `spoil` NaN and infinite entries, on one thread and on two.
fn check(noise: &mut Noise, notation: &str, dtype: DType, sizes: [usize; 4], ways: [usize; 2], spoil: bool) {
    let extent = |label: char| sizes["ijkb".find(label).unwrap()];
    let (inputs, c) = notation.split_once("->").unwrap();
    let (a, b) = inputs.split_once(',').unwrap();
    let shapes = [a, b].map(|labels| labels.chars().map(extent).collect::<Vec<_>>());
    let mut operands = [noise.laid_out(dtype, &shapes[0], ways[0]), noise.laid_out(dtype, &shapes[1], ways[1])];
    if spoil {
        for (operand, shape) in operands.iter_mut().zip(&shapes) {
            let mut entries = reals(operand);
            if !entries.is_empty() {
                let (nan, infinity) = (noise.below(entries.len()), noise.below(entries.len()));
                entries[infinity] = f64::INFINITY;
                entries[nan] = f64::NAN;
            }
            *operand = match dtype {
                DType::F32 => Tensor::from_vec_col_major(shape, entries.iter().map(|&x| x as f32).collect()),
                _ => Tensor::from_vec_col_major(shape, entries),
            }
            .unwrap();
        }
    }
    let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), &[&shapes[0], &shapes[1]]).unwrap();
    let program = einsum_program(op, &operands);
    let result = run_on(&mut CpuEngine::serial(), &program, &operands);
    let what = || format!("{notation} {dtype} {sizes:?} {ways:?}");
    assert_eq!(result.shape(), c.chars().map(extent).collect::<Vec<_>>(), "{}", what());

    let (left, right, actual) = (reals(&operands[0]), reals(&operands[1]), reals(&result));
    let [m, depth, n, batch] = sizes;
    let tolerance = if dtype == DType::F32 { 1e-4 } else { 1e-12 };
    let batch = if c.contains('b') { batch } else { 1 };
    for (i, k, b_index) in (0..m * n * batch).map(|at| (at % m, at / m % n, at / m / n)) {
        let at = |j: usize| move |label: char| [i, j, k, b_index]["ijkb".find(label).unwrap()];
        let term = |j| left[position(a, &extent, &at(j))] * right[position(b, &extent, &at(j))];
        let expected: f64 = (0..depth).map(term).sum();
        let got = actual[position(c, &extent, &at(0))];
        let near = (got - expected).abs() <= tolerance * (1.0 + expected.abs()) || got == expected;
        assert!(near || got.is_nan() && expected.is_nan(), "{}: ({i}, {k}): {got}, not {expected}", what());
    }
    if noise.below(16) == 0 {
        let pooled = run_on(&mut CpuEngine::with_threads(2).unwrap(), &program, &operands);
        assert_same(&pooled, &result, &what);
    }
}

#[test]
fn small_products_agree_with_sums() {
    let mut noise = Noise::new(41);
    let spellings: Vec<String> = ["ij", "ji"]
        .iter()
        .flat_map(|a| ["jk", "kj"].map(|b| format!("{a},{b}")))
        .flat_map(|inputs| ["ik", "ki"].map(|c| format!("{inputs}->{c}")))
        .collect();
    for &m in SIZES {
        for &n in SIZES {
            for &k in SIZES {
                let dtype = if noise.below(2) == 0 { DType::F32 } else { DType::F64 };
                let ways = [noise.below(WAYS), noise.below(WAYS)];
                let spelling = &spellings[noise.below(spellings.len())];
                let spoil = noise.below(4) == 0;
                check(&mut noise, spelling, dtype, [m, k, n, 1], ways, spoil);
            }
        }
    }
    // Every spelling in every layout.
    for spelling in &spellings {
        for ways in (0..WAYS * WAYS).map(|way| [way % WAYS, way / WAYS]) {
            for dtype in [DType::F32, DType::F64] {
                check(&mut noise, spelling, dtype, [17, 9, 13, 1], ways, false);
                check(&mut noise, spelling, dtype, [16, 16, 16, 1], ways, false);
            }
        }
    }
}

#[test]
fn small_batched_products_agree_with_sums() {
    let mut noise = Noise::new(42);
    let spellings = [
        "bij,bjk->bik",
        "ijb,jkb->ikb",
        "bji,bkj->bki",
        "bij,jkb->bik",
        "ibj,bjk->ikb",
        "bij,bkj->kib",
        "jbi,bjk->bki",
    ];
    for spelling in spellings {
        for batch in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33] {
            for _ in 0..12 {
                let sizes = [0; 3].map(|_| [0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 20][noise.below(13)]);
                let dtype = if noise.below(2) == 0 { DType::F32 } else { DType::F64 };
                let ways = if noise.below(2) == 0 { [0, 0] } else { [noise.below(WAYS), noise.below(WAYS)] };
                let spoil = noise.below(4) == 0;
                check(&mut noise, spelling, dtype, [sizes[0], sizes[1], sizes[2], batch], ways, spoil);
            }
        }
    }
    // Blocks on several threads, packed and in place.
    for sizes in [[33, 34, 35, 40], [9, 8, 10, 1000]] {
        check(&mut noise, "bij,bjk->bik", DType::F64, sizes, [0, 0], false);
        check(&mut noise, "bij,bjk->bik", DType::F32, sizes, [0, 0], false);
    }
}

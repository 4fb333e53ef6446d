//! Einsum against the reference engine's loop over all labels.

use std::sync::Arc;

use tenferro_core::extension::ExtensionRef;
use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, DTypeSet, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Goal, Subscripts};
use tenferro_runtime::Engine;

use crate::all::support::{Noise, RUNTIME, WAYS, assert_near, assert_same, program, run_both, run_on, tolerance};

pub fn einsum_program(op: EinsumOp, inputs: &[Tensor]) -> Arc<SemanticProgram> {
    let metas: Vec<(DType, &[usize])> = inputs.iter().map(|x| (x.dtype(), x.shape())).collect();
    program(&metas, |b, ids| Ok(b.extension(ExtensionRef::Shared(Arc::new(op)), ids)?[0])).unwrap()
}

fn check(op: EinsumOp, inputs: &[Tensor]) {
    let text = op.to_string();
    let program = einsum_program(op, inputs);
    let (actual, expected) = run_both(&program, inputs);
    let dtype = inputs[0].dtype();
    let what = || format!("{text} {dtype} {:?}", inputs.iter().map(Tensor::layout).collect::<Vec<_>>());
    if dtype.is_float() {
        assert_near(&actual, &expected, tolerance(dtype), &what);
    } else {
        assert_same(&actual, &expected, &what);
    }
}

fn check_notation(noise: &mut Noise, notation: &str, shapes: &[&[usize]], dtype: DType, way: usize) {
    let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
    let inputs: Vec<Tensor> =
        shapes.iter().enumerate().map(|(i, shape)| noise.laid_out(dtype, shape, way * (i + 1))).collect();
    check(op, &inputs);
}

/// Equations with the extents of `i`, `j`, `k`, `l`, `b`: small enough for loops, large enough for the matrix kernel
/// and for several blocks.
const EXTENTS: &[[usize; 5]] =
    &[[2, 3, 4, 2, 2], [17, 12, 13, 5, 3], [1, 9, 30, 7, 2], [50, 33, 64, 1, 4], [5, 0, 3, 2, 2]];

const EQUATIONS: &[&str] = &[
    "ij,jk->ik",
    "ij,jk->ki",
    "ji,jk->ik",
    "ji,kj->ik",
    "ij,j->i",
    "j,ij->i",
    "ij,ij->",
    "ij,ij->i",
    "ij,ij->j",
    "ij,ij->ij",
    "ij,ji->ij",
    "i,j->ij",
    "i,j->ji",
    "i,ij->ij",
    "ij,kl->ikjl",
    "bij,bjk->bik",
    "ijb,jkb->ikb",
    "bij,jkb->ibk",
    "bij,bjk->ik",
    "ijl,jlk->ik",
    "ijl,ljk->ik",
    "jil,kjl->ki",
    "ibj,jk->ibk",
    "ibj,jk->kbi",
    "ibj,jlk->iblk",
    "ibj,jlk->ilbk",
    "ij,->ij",
    ",->",
    "i->",
    "ij->ji",
    "ij->j",
    "ij->",
    "ijk->kji",
    "ijk->ik",
    "ij,jk,kl->il",
    "ij,jk,kl,lb->ib",
    "ij,kj,lj->ikl",
    "ij,kj,lj->ilk",
    "ij,j,jk->ik",
];

#[test]
fn equations_agree_for_all_layouts() {
    let mut noise = Noise::new(31);
    for equation in EQUATIONS {
        for extents in EXTENTS {
            let extent = |label: char| extents["ijklb".find(label).unwrap()];
            let inputs = equation.split("->").next().unwrap();
            let shapes: Vec<Vec<usize>> = inputs.split(',').map(|term| term.chars().map(extent).collect()).collect();
            let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
            let all: std::collections::BTreeSet<char> = inputs.chars().filter(|&c| c != ',').collect();
            if all.into_iter().map(extent).product::<usize>() > 150_000 {
                continue;
            }
            for way in 0..WAYS {
                check_notation(&mut noise, equation, &shapes, DType::F64, way);
            }
        }
    }
}

#[test]
fn equations_agree_for_all_dtypes() {
    let mut noise = Noise::new(32);
    for dtype in DTypeSet::NUMERIC.iter() {
        for way in 0..WAYS {
            check_notation(&mut noise, "ij,jk->ik", &[&[20, 31], &[31, 25]], dtype, way);
            check_notation(&mut noise, "bij,jkb->bki", &[&[3, 20, 7], &[7, 9, 3]], dtype, way);
            check_notation(&mut noise, "ij,j->i", &[&[20, 31], &[31]], dtype, way);
            check_notation(&mut noise, "i,j->ij", &[&[20], &[31]], dtype, way);
            check_notation(&mut noise, "ij,ij->", &[&[20, 31], &[20, 31]], dtype, way);
        }
    }
}

#[test]
fn repeated_labels_take_and_embed_diagonals() {
    let mut noise = Noise::new(33);
    for n in [0, 1, 3, 40] {
        for way in 0..WAYS {
            for (notation, shapes) in [
                ("ii->i", &[&[n, n][..]][..]),
                ("ii->", &[&[n, n]]),
                ("iij->ji", &[&[n, n, 5]]),
                ("iii->i", &[&[n, n, n]]),
                ("i->ii", &[&[n]]),
                ("ij->iij", &[&[n, 3]]),
                ("i,i->ii", &[&[n], &[n]]),
                ("i,i,i->ii", &[&[n], &[n], &[n]]),
                ("ij,jk->iik", &[&[n, 4], &[4, 3]]),
                ("ii,ij->j", &[&[n, n], &[n, 6]]),
                ("i->iii", &[&[n.min(7)]]),
                ("ij,jk->kiki", &[&[n.min(7), 4], &[4, 3]]),
            ] {
                check_notation(&mut noise, notation, shapes, DType::F64, way);
            }
        }
    }
}

#[test]
fn extents_of_one_stretch() {
    let mut noise = Noise::new(34);
    for (notation, shapes) in [
        ("ij,jk->ik", &[&[4, 1][..], &[5, 3]][..]),
        ("ij,jk->ik", &[&[4, 5], &[1, 3]]),
        ("ij,ij->ij", &[&[4, 1], &[1, 5]]),
        ("ij,jk,k->i", &[&[4, 1], &[5, 3], &[3]]),
        ("ij,jk,kl->il", &[&[2, 1], &[1, 3], &[1, 4]]),
        ("ij,ij->j", &[&[1, 0], &[4, 1]]),
        ("...ij,...jk->...ik", &[&[1, 6, 3, 4], &[5, 1, 4, 2]]),
        ("...,...,...->...", &[&[1, 3], &[4, 1], &[1]]),
    ] {
        for way in 0..WAYS {
            check_notation(&mut noise, notation, shapes, DType::F64, way);
        }
    }
}

#[test]
fn random_networks_agree_under_every_plan() {
    let mut noise = Noise::new(35);
    for round in 0..300 {
        let labels = 2 + noise.below(5);
        let extents: Vec<usize> =
            (0..labels).map(|_| [0, 1, 2, 3, 3, 4, 5][noise.below(7)].max(round % 7 / 2)).collect();
        let terms = 1 + noise.below(4);
        let mut list = |at_most: usize| -> Vec<u32> {
            (0..noise.below(at_most + 1)).map(|_| noise.below(labels) as u32).collect()
        };
        let inputs: Vec<Vec<u32>> = (0..terms).map(|_| list(4)).collect();
        let mut output = list(3);
        output.retain(|label| inputs.iter().any(|labels| labels.contains(label)));
        let tensors: Vec<Tensor> = inputs
            .iter()
            .map(|labels| {
                let shape: Vec<usize> = labels.iter().map(|&label| extents[label as usize]).collect();
                let way = noise.below(4);
                noise.laid_out(DType::F64, &shape, way)
            })
            .collect();
        for plan in [EinsumOptimize::Auto, EinsumOptimize::LeftToRight, EinsumOptimize::Pairwise] {
            let subscripts = Subscripts::new(inputs.clone(), output.clone());
            check(EinsumOp::new(subscripts, &[], plan).unwrap(), &tensors);
        }
    }
}

#[test]
fn random_matrix_products_agree() {
    let mut noise = Noise::new(36);
    for round in 0..120 {
        let mut extent = || [1, 2, 3, 8, 15, 16, 17, 31, 48, 49, 95, 97, 130][noise.below(13)];
        let (m, n, k) = (extent(), extent(), extent());
        let dtype = DTypeSet::FLOAT.iter().nth(round % 4).unwrap();
        let notation = ["ij,jk->ik", "ji,jk->ki", "ij,kj->ik", "ji,kj->ki"][noise.below(4)];
        let a = if notation.starts_with("ij") { [m, k] } else { [k, m] };
        let b = if &notation[3..5] == "jk" { [k, n] } else { [n, k] };
        let way = noise.below(WAYS);
        check_notation(&mut noise, notation, &[&a, &b], dtype, way);
    }
    // Long sums, and results of several blocks.
    check_notation(&mut noise, "ij,jk->ik", &[&[3, 20_000], &[20_000, 5]], DType::F64, 0);
    check_notation(&mut noise, "ij,kj->ki", &[&[170, 160], &[165, 160]], DType::F64, 1);
    check_notation(&mut noise, "ij,j->i", &[&[600, 500], &[500]], DType::F64, 0);
    check_notation(&mut noise, "ij,j->i", &[&[600, 500], &[500]], DType::F64, 1);
    check_notation(&mut noise, "i,i->", &[&[200_000], &[200_000]], DType::F64, 0);
}

#[test]
fn sliced_contractions_agree_bit_for_bit_on_all_thread_counts() {
    let mut noise = Noise::new(37);
    // The labels to slice by their number: summed ones, those of the output, hyperedges and diagonals.
    /// Notation, shapes and sliced labels.
    type Case = (&'static str, &'static [&'static [usize]], &'static [u32]);
    let cases: &[Case] = &[
        ("ij,jk->ik", &[&[20, 40], &[40, 30]], &[1]),
        ("ij,jk->ik", &[&[20, 40], &[40, 30]], &[0]),
        ("ij,jk->ik", &[&[20, 40], &[40, 30]], &[2, 1, 0]),
        ("ij,jk,kl->li", &[&[9, 10], &[10, 11], &[11, 12]], &[1, 2]),
        ("ij,jk,kl->il", &[&[9, 10], &[10, 11], &[11, 12]], &[3, 1]),
        ("ij,kj,lj->ikl", &[&[5, 33], &[6, 33], &[7, 33]], &[1]),
        ("iij,jk->ik", &[&[8, 8, 5], &[5, 6]], &[0]),
        ("ij,jk->iik", &[&[7, 5], &[5, 6]], &[0, 1]),
        ("i,i->ii", &[&[17], &[17]], &[0]),
        ("ij,j->", &[&[30, 50], &[50]], &[1, 0]),
        ("ij,jk->ik", &[&[4, 0], &[0, 3]], &[1]),
        ("ij,jk->ik", &[&[0, 4], &[4, 3]], &[0]),
        ("ij,jk->iik", &[&[7, 0], &[0, 6]], &[1]),
        ("ij,jk->iik", &[&[0, 5], &[5, 6]], &[2, 0]),
        ("iij,jk->kik", &[&[8, 8, 5], &[5, 6]], &[0, 1, 2]),
        ("iji,jk,kk->jj", &[&[6, 5, 6], &[5, 7], &[7, 7]], &[0, 2]),
        ("ij,jk,kl->il", &[&[9, 10], &[10, 0], &[0, 12]], &[2, 0]),
        ("iij->ji", &[&[8, 8, 5]], &[0]),
        ("iij->jj", &[&[8, 8, 5]], &[1, 0]),
        ("ijk->j", &[&[4, 0, 5]], &[0, 2]),
        (",->", &[&[], &[]], &[]),
    ];
    for &(notation, shapes, slices) in cases {
        let pairs: Vec<(u32, u32)> = match shapes.len() {
            1 => vec![],
            2 => vec![(0, 1)],
            _ => vec![(0, 1), (3, 2)],
        };
        let plan = EinsumOptimize::Tree { pairs: pairs.into(), slices: slices.to_vec().into() };
        for (way, dtype) in [(0, DType::F64), (1, DType::C32), (2, DType::I64), (3, DType::F32)] {
            let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
            let inputs: Vec<Tensor> =
                shapes.iter().enumerate().map(|(i, shape)| noise.laid_out(dtype, shape, way * (i + 1))).collect();
            let op = op.with_plan(plan.clone()).unwrap();
            assert_eq!(op.tree(shapes).unwrap().slices().len(), slices.len(), "{op}");
            let program = einsum_program(op.clone(), &inputs);
            let serial = run_on(&mut CpuEngine::serial(), &program, &inputs);
            for threads in [2, 3] {
                let pooled = run_on(&mut CpuEngine::with_threads(threads).unwrap(), &program, &inputs);
                assert_same(&pooled, &serial, &|| format!("{op} on {threads} threads"));
            }
            check(op, &inputs);
        }
    }
    // More slices than can be counted are an error, not a result: a ring of many, each result within one element.
    let ring: Vec<Vec<u32>> = (0..70).map(|i| vec![i, (i + 1) % 70]).collect();
    let op = EinsumOp::new(Subscripts::new(ring, []), &[], EinsumOptimize::LeftToRight).unwrap();
    let op = op.with_plan(EinsumOptimize::Tree {
        pairs: (0..69).map(|step| (if step == 0 { 0 } else { 69 + step }, step + 1)).collect(),
        slices: (0..70).collect(),
    });
    let metas: [(DType, &[usize]); 70] = [(DType::F64, &[2, 2]); 70];
    let program = program(&metas, |b, ids| Ok(b.extension(op.unwrap(), ids)?[0])).unwrap();
    let refused = RUNTIME.prepare_for_shapes(program, &metas, &[CpuEngine::serial().target()]).unwrap_err();
    assert!(refused.to_string().contains("slices"), "{refused}");
    // Slices that a memory limit asks for.
    let shapes: [&[usize]; 3] = [&[30, 20], &[20, 25], &[25, 30]];
    let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,ki->").unwrap(), &shapes).unwrap();
    let op = op.with_goal(Goal { memory_limit: Some(50), ..Goal::DEFAULT }).unwrap();
    assert!(op.tree(&shapes).unwrap().slice_count() > 1.0);
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| noise.laid_out(DType::F64, shape, 0)).collect();
    check(op, &inputs);
}

//! Operations that move entries, and copies, against the reference engine.

use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_cpu::CpuEngine;
use tenferro_runtime::Engine;
use tenferro_runtime::reference::ReferenceEngine;

use crate::all::support::{Noise, RUNTIME, SHAPES, WAYS, assert_same, program, run_both, single_op};

fn check(op: &CoreOp, inputs: &[Tensor]) {
    let program = single_op(op, inputs).unwrap();
    let (actual, expected) = run_both(&program, inputs);
    assert_same(&actual, &expected, &|| format!("{op:?} {:?}", inputs.iter().map(Tensor::layout).collect::<Vec<_>>()));
}

#[test]
fn copies_keep_every_entry() {
    let mut noise = Noise::new(21);
    let mut engine = CpuEngine::with_threads(2).unwrap();
    let mut check = |dtype, shape: &[usize], way| {
        let x = noise.laid_out(dtype, shape, way);
        let mut copy = engine.allocate(dtype, shape).unwrap();
        engine.copy(&x.view(), &mut copy).unwrap();
        assert_same(&copy, &x, &|| format!("{dtype} {:?}", x.layout()));
        engine.recycle(copy);
    };
    for way in 0..WAYS {
        for shape in SHAPES {
            DType::ALL.into_iter().for_each(|dtype| check(dtype, shape, way));
        }
        for shape in [&[400, 401][..], &[54, 54, 54], &[3, 5, 7, 11, 13, 9], &[2, 80_000], &[80_000, 2]] {
            check(DType::F64, shape, way);
        }
    }
}

#[test]
fn every_permutation_is_copied() {
    let mut noise = Noise::new(22);
    let mut engine = CpuEngine::serial();
    let x = noise.tensor(DType::F32, &[19, 66, 5, 17]);
    for code in 0..256 {
        let axes = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
        let Ok(permuted) = x.transpose(&axes) else { continue };
        let mut copy = engine.allocate(DType::F32, permuted.shape()).unwrap();
        engine.copy(&permuted.view(), &mut copy).unwrap();
        assert_same(&copy, &permuted, &|| format!("{axes:?}"));
    }
}

/// Sizes beyond the caches, whose copies go past them where lines are aligned, and one whose lines are not.
#[test]
fn large_permutations_are_copied() {
    let mut engine = CpuEngine::with_threads(2).unwrap();
    for shape in [[128, 72, 120], [130, 67, 131]] {
        let count: usize = shape.iter().product();
        let x = Tensor::from_vec_col_major(shape, (0..count as i64).collect()).unwrap();
        let strides = [1, shape[0], shape[0] * shape[1]];
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let permuted = x.transpose(&axes).unwrap();
            let mut copy = engine.allocate(DType::I64, permuted.shape()).unwrap();
            engine.copy(&permuted.view(), &mut copy).unwrap();
            let mut entries = copy.as_slice::<i64>().unwrap().iter();
            let [a, b, c] = axes.map(|axis| (shape[axis], strides[axis]));
            for k in 0..c.0 {
                for j in 0..b.0 {
                    let start = j * b.1 + k * c.1;
                    assert!(
                        (0..a.0).all(|i| entries.next() == Some(&((start + i * a.1) as i64))),
                        "{shape:?} {axes:?}"
                    );
                }
            }
            engine.recycle(copy);
        }
    }
}

#[test]
fn a_copy_keeps_the_order_of_entries_and_needs_as_many() {
    let mut engine = CpuEngine::serial();
    let x = Tensor::from_vec_col_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap().transpose(&[1, 0]).unwrap();
    let mut y = Tensor::zeros(DType::F64, [6]).unwrap();
    engine.copy(&x.view(), &mut y).unwrap();
    assert_eq!(y.as_slice::<f64>().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);

    let mut y = Tensor::zeros(DType::F64, [3, 3]).unwrap();
    let error = engine.copy(&x.view(), &mut y).unwrap_err().to_string();
    assert!(error.contains("[3, 2]") && error.contains("[3, 3]"), "{error}");
    let mut y = Tensor::zeros(DType::F32, [3, 2]).unwrap();
    assert!(engine.copy(&x.view(), &mut y).is_err());
}

#[test]
fn padding_agrees() {
    let mut noise = Noise::new(23);
    let dims = |values: &[i64]| values.iter().map(|&v| SymDim::constant(v)).collect::<Vec<_>>().into();
    for _ in 0..400 {
        let rank = noise.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| noise.below(6)).collect();
        let interior: Vec<u32> = (0..rank).map(|_| noise.below(3) as u32).collect();
        let mut ends = || -> Vec<i64> { (0..rank).map(|_| noise.below(9) as i64 - 4).collect() };
        let op = CoreOp::Pad { low: dims(&ends()), high: dims(&ends()), interior: interior.into() };
        let dtype = DType::ALL[noise.below(7)];
        let way = noise.below(WAYS);
        let x = noise.laid_out(dtype, &shape, way);
        let inputs = [x, Tensor::scalar(noise.scalar(dtype))];
        // Not every padding leaves an extent of at least 0.
        if single_op(&op, &inputs).is_ok() {
            check(&op, &inputs);
        }
    }
}

#[test]
fn concatenation_agrees() {
    let mut noise = Noise::new(24);
    for dtype in DType::ALL {
        for axis in 0..3_u32 {
            let mut part = |extent, way| {
                let mut shape = [3, 4, 5];
                shape[axis as usize] = extent;
                noise.laid_out(dtype, &shape, way)
            };
            let inputs = [part(2, 0), part(0, 0), part(1, 1), part(70, 3), part(3, 4)];
            check(&CoreOp::Concatenate { axis }, &inputs);
        }
    }
}

#[test]
fn diagonals_are_embedded() {
    let mut noise = Noise::new(25);
    for shape in [&[0][..], &[1], &[4], &[3, 5], &[2, 3, 40]] {
        for dtype in DType::ALL {
            for way in 0..WAYS {
                check(&CoreOp::EmbedDiag, &[noise.laid_out(dtype, shape, way)]);
            }
        }
    }
}

#[test]
fn triangles_agree() {
    let mut noise = Noise::new(26);
    for shape in SHAPES.iter().filter(|shape| shape.len() > 1) {
        let rank = shape.len() as u32;
        for (row, column) in [(0, 1), (1, 0), (rank - 1, 0), (rank - 2, rank - 1)] {
            for k in [0, 1, -2, 40, i64::MAX, i64::MIN] {
                let (dtype, way) = (DType::ALL[noise.below(7)], noise.below(WAYS));
                let inputs = [noise.laid_out(dtype, shape, way)];
                if row != column {
                    check(&CoreOp::Tril { row, column, k }, &inputs);
                    check(&CoreOp::Triu { row, column, k }, &inputs);
                }
            }
        }
    }
}

#[test]
fn parts_are_read_and_replaced_wherever_they_start() {
    let mut noise = Noise::new(27);
    for shape in SHAPES {
        for way in 0..WAYS {
            let dtype = DType::ALL[noise.below(7)];
            let part: Vec<usize> = shape.iter().map(|&extent| noise.below(extent + 1)).collect();
            let far = |noise: &mut Noise, extent: usize| noise.below(3 * extent + 1) as i64 - extent as i64;
            let starts = shape.iter().map(|&extent| far(&mut noise, extent)).collect();
            let starts = Tensor::from_vec_col_major([shape.len()], starts).unwrap();
            let x = noise.laid_out(dtype, shape, way);
            let sizes = part.iter().map(|&size| SymDim::from(size)).collect();
            check(&CoreOp::DynamicSlice { sizes }, &[x.clone(), starts.clone()]);
            let update = noise.laid_out(dtype, &part, way + 1);
            check(&CoreOp::DynamicUpdateSlice, &[x, update, starts]);
        }
    }
    let extremes = Tensor::from_vec_col_major([2], vec![i64::MIN, i64::MAX]).unwrap();
    let x = noise.tensor(DType::F64, &[3, 4]);
    check(&CoreOp::DynamicSlice { sizes: vec![2.into(), 2.into()].into() }, &[x, extremes]);
}

/// Indices below a limit, the same for every place beside the axis if the way says so.
fn indices(noise: &mut Noise, shape: &[usize], axis: usize, limit: usize, way: usize) -> Tensor {
    let below = |noise: &mut Noise, len: usize| (0..len).map(|_| noise.below(limit.max(1)) as i64).collect();
    match way % 3 {
        0 => {
            let list = below(noise, shape[axis]);
            let list = Tensor::from_vec_col_major([shape[axis]], list).unwrap();
            list.broadcast_in_dim(shape, &[axis]).unwrap()
        }
        1 => {
            let turned: Vec<usize> = shape.iter().rev().copied().collect();
            let all: Vec<usize> = (0..shape.len()).rev().collect();
            let entries = below(noise, shape.iter().product());
            Tensor::from_vec_col_major(turned, entries).unwrap().transpose(&all).unwrap()
        }
        _ => Tensor::from_vec_col_major(shape, below(noise, shape.iter().product())).unwrap(),
    }
}

#[test]
fn entries_move_to_and_from_indices() {
    let mut noise = Noise::new(28);
    for shape in SHAPES.iter().filter(|shape| !shape.is_empty()) {
        for axis in 0..shape.len() {
            for way in 0..WAYS {
                let mut taken = shape.to_vec();
                taken[axis] = if shape[axis] == 0 { 0 } else { noise.below(9) };
                let dtype = DType::ALL[noise.below(7)];
                let x = noise.laid_out(dtype, shape, way);
                let indices = indices(&mut noise, &taken, axis, shape[axis], way);
                let updates = noise.laid_out(dtype, &taken, way + 2);
                let axis = axis as u32;
                check(&CoreOp::Gather { axis }, &[x.clone(), indices.clone()]);
                check(&CoreOp::Scatter { axis }, &[x.clone(), indices.clone(), updates.clone()]);
                if dtype != DType::Bool {
                    check(&CoreOp::ScatterAdd { axis }, &[x, indices, updates]);
                }
            }
        }
    }
}

#[test]
fn the_first_index_outside_is_named() {
    let (x, updates) = (Tensor::zeros(DType::F64, [3, 2]).unwrap(), Tensor::zeros(DType::F64, [2, 2]).unwrap());
    for (held, first) in [([0, 3, -1, 2], 3), ([-1, 0, 0, 7], -1), ([0, 1, i64::MIN, 2], i64::MIN)] {
        let indices = Tensor::from_vec_col_major([2, 2], held.to_vec()).unwrap();
        for op in [CoreOp::Gather { axis: 0 }, CoreOp::Scatter { axis: 0 }, CoreOp::ScatterAdd { axis: 0 }] {
            let mut inputs = vec![x.clone(), indices.clone(), updates.clone()];
            inputs.truncate(op.row().operands.len());
            let program = single_op(&op, &inputs).unwrap();
            let reads: Vec<TensorRead<'_>> = inputs.iter().map(TensorRead::from).collect();
            let engines: [&mut dyn Engine; 2] = [&mut CpuEngine::serial(), &mut ReferenceEngine::new()];
            for engine in engines {
                let prepared = RUNTIME.prepare(program.clone(), &reads, &[engine.target()]).unwrap();
                let error = RUNTIME.run(&mut [engine], &prepared, &reads).unwrap_err().to_string();
                let name = op.name();
                let expected = format!("{name}: `indices` hold {first}, which axis 0 of extent 3 does not have");
                assert!(error.contains(&expected), "{error}");
            }
        }
    }
}

#[test]
fn iota_counts_along_its_axis() {
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for shape in [&[4][..], &[0], &[2, 3], &[2, 0, 3], &[2, 3, 4]] {
            for axis in 0..shape.len() as u32 {
                let dims: Vec<SymDim> = shape.iter().map(|&n| n.into()).collect();
                let program = program(&[], |b, _| b.op(CoreOp::Iota { shape: dims.into(), axis, dtype }, &[])).unwrap();
                let (actual, expected) = run_both(&program, &[]);
                assert_same(&actual, &expected, &|| format!("{shape:?} {axis}"));
            }
        }
    }
}

//! The engine as a runtime sees it, and the memory it keeps.

use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp, Goal};
use tenferro_runtime::Engine;

use crate::all::einsum::einsum_program;
use crate::all::support::{Noise, RUNTIME, assert_same, run_on, single_op};

#[test]
fn the_target_does_not_depend_on_threads() {
    let target = CpuEngine::serial().target();
    assert_eq!(target.engine_id.as_str(), "tenferro-cpu.default.v1");
    assert_eq!(CpuEngine::with_threads(2).unwrap().target(), target);
    assert_eq!(tenferro_cpu::runtime_engine_registration(), tenferro_cpu::runtime_engine_registration());
    assert_eq!(tenferro_cpu::runtime_engine_registration().target(), &target);
}

#[test]
fn elementwise_programs_are_prepared_once_and_products_once_a_shape() {
    let runtime = tenferro_runtime::Runtime::builder()
        .register_engine(tenferro_cpu::runtime_engine_registration())
        .unwrap()
        .install_extension_module(tenferro_cpu::families::einsum::module())
        .unwrap()
        .build()
        .unwrap();
    let target = CpuEngine::serial().target();
    let mut b = tenferro_core::program::ProgramBuilder::new("square");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.mul(x, x).unwrap();
    let square = Arc::new(b.finish(&[(None, y)]).unwrap());
    for n in [3, 4, 5] {
        runtime.prepare_for_shapes(square.clone(), &[(DType::F64, &[n])], std::slice::from_ref(&target)).unwrap();
    }
    let entries = runtime.prepared_cache_stats().entries;
    let mut b = tenferro_core::program::ProgramBuilder::new("product");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n.clone(), n]).unwrap();
    let y = tenferro_einsum::einsum(&mut b, "ij,jk->ik", &[x, x]).unwrap();
    let product = Arc::new(b.finish(&[(None, y)]).unwrap());
    for n in [3, 4, 5] {
        runtime.prepare_for_shapes(product.clone(), &[(DType::F64, &[n, n])], std::slice::from_ref(&target)).unwrap();
    }
    let after = runtime.prepared_cache_stats().entries;
    // Each program has a redirect; elementwise work one entry besides, the product one a shape.
    assert_eq!((entries, after - entries), (2, 4));
}

#[test]
fn a_warm_engine_allocates_nothing_large() {
    let mut noise = Noise::new(51);
    let mut engine = CpuEngine::serial();
    let notation = EinsumNotation::parse("aib,bjc,cka->kij").unwrap();
    let shapes: &[&[usize]] = &[&[30, 20, 30], &[30, 20, 30], &[30, 20, 30]];
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| noise.laid_out(DType::F64, shape, 1)).collect();
    let program = einsum_program(EinsumOp::concrete(&notation, shapes).unwrap(), &inputs);
    let reads: Vec<TensorRead<'_>> = inputs.iter().map(TensorRead::from).collect();
    let prepared = RUNTIME.prepare(program, &reads, &[engine.target()]).unwrap();
    let mut free = Vec::new();
    for _ in 0..4 {
        let outputs = RUNTIME.run(&mut [&mut engine], &prepared, &reads).unwrap();
        for output in outputs {
            let tensor = output.into_tensor(&mut engine).unwrap();
            engine.recycle(tensor);
        }
        free.push(engine.pooled_bytes());
    }
    assert!(free[0] > 0);
    assert_eq!(free[1..], [free[0]; 3]);
    engine.set_pool_limit(0);
    assert_eq!(engine.pooled_bytes(), 0);
}

/// The free buffers of all threads count, are given back, and together keep the limit.
#[test]
fn slices_on_threads_keep_the_limit_of_the_engine() {
    let mut noise = Noise::new(52);
    let mut engine = CpuEngine::with_threads(3).unwrap();
    let shapes: &[&[usize]] = &[&[60, 40], &[40, 50], &[50, 60]];
    let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,ki->").unwrap(), shapes).unwrap();
    let op = op.with_goal(Goal { memory_limit: Some(200), ..Goal::DEFAULT }).unwrap();
    assert!(op.tree(shapes).unwrap().slice_count() > 1.0);
    let inputs: Vec<Tensor> = shapes.iter().map(|shape| noise.laid_out(DType::F64, shape, 0)).collect();
    let program = einsum_program(op, &inputs);
    let free = |engine: &mut CpuEngine| {
        let result = run_on(engine, &program, &inputs);
        (engine.pooled_bytes(), result)
    };
    let (bytes, result) = free(&mut engine);
    assert!(bytes > 0);
    for left in [bytes / 2, 1000, 0] {
        engine.trim_pool(left);
        assert!(engine.pooled_bytes() <= left, "{} of {left}", engine.pooled_bytes());
    }
    for limit in [0, 1000, 20_000, 1 << 20] {
        engine.set_pool_limit(limit);
        let (bytes, again) = free(&mut engine);
        assert!(bytes <= limit, "{bytes} of {limit}");
        assert_same(&again, &result, &|| format!("with {limit} bytes"));
    }
}

#[test]
fn a_command_refuses_another_engine() {
    let x = Tensor::zeros(DType::F64, [3]).unwrap();
    let program = single_op(&CoreOp::Exp, std::slice::from_ref(&x)).unwrap();
    let inputs = [TensorRead::from(&x)];
    let prepared = RUNTIME.prepare(program, &inputs, &[CpuEngine::serial().target()]).unwrap();
    let mut other = tenferro_runtime::reference::ReferenceEngine::new();
    assert!(RUNTIME.run(&mut [&mut other], &prepared, &inputs).is_err());
}

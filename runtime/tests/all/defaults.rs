//! The three ways to give inputs, and programs with fixed inputs.

use std::sync::Arc;

use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_runtime::reference::ReferenceEngine;
use tenferro_runtime::{CompiledGraph, Engine, Error, InputSpec, Output, Prepared, Result, Runtime};

use super::support::*;

/// `a + 10 b + 100 c`, of vectors.
fn three() -> Arc<SemanticProgram> {
    program(&[("a", &["n"]), ("b", &["n"]), ("c", &["n"])], |b, v, s| {
        let mut sum = v[0];
        for (factor, input) in [(10.0, v[1]), (100.0, v[2])] {
            let factor = b.constant(tenferro_core::ScalarValue::F64(factor)).unwrap();
            let factor = b.broadcast_in_dim(factor, &[s[0].clone()], &[]).unwrap();
            let term = b.mul(factor, input).unwrap();
            sum = b.add(sum, term).unwrap();
        }
        vec![sum]
    })
}

fn prepare(runtime: &Runtime, graph: &CompiledGraph, inputs: &[Tensor]) -> Result<Prepared> {
    runtime.prepare(graph, &reads(inputs), &[target()])
}

fn run(runtime: &Runtime, prepared: &Prepared, inputs: &[Tensor]) -> Result<Vec<f64>> {
    let mut engine = ReferenceEngine::new();
    runtime.warm_up(&mut [&mut engine], prepared, &reads(inputs))?;
    let outputs = runtime.run(&mut [&mut engine], prepared, &reads(inputs))?;
    let mut into = Tensor::zeros(DType::F64, outputs[0].shape()).unwrap();
    runtime.run_into(&mut [&mut engine], prepared, &reads(inputs), &mut [&mut into])?;
    assert_eq!(into.to_vec_col_major::<f64>().unwrap(), values(&outputs[0]));
    Ok(values(&outputs[0]))
}

#[test]
fn all_or_those_without_a_default_or_none() {
    let runtime = runtime();
    let [one, two, three_] = [1.0, 2.0, 3.0].map(|x| vector(&[x]));
    let partial = CompiledGraph::new(three()).with_default("b", two.clone()).unwrap();
    let full = partial.clone().with_default("a", one.clone()).unwrap().with_default("c", three_.clone()).unwrap();
    let eights = [vector(&[8.0]), vector(&[8.0]), vector(&[8.0])];
    let given = [vector(&[4.0]), vector(&[5.0])];

    let prepared = prepare(&runtime, &full, &[]).unwrap();
    assert_eq!(run(&runtime, &prepared, &[]).unwrap(), [321.0]);
    // The way of giving them need not be the same at both.
    assert_eq!(run(&runtime, &prepared, &eights).unwrap(), [888.0]);
    let prepared = prepare(&runtime, &partial, &eights).unwrap();
    assert_eq!(run(&runtime, &prepared, &given).unwrap(), [524.0]);
    let prepared = prepare(&runtime, &partial, &given).unwrap();
    assert_eq!(run(&runtime, &prepared, &given).unwrap(), [524.0]);
    assert_eq!(run(&runtime, &prepared, &eights).unwrap(), [888.0]);
    // A tensor in the place of one bound before.
    let other = full.clone().with_default("a", vector(&[7.0])).unwrap();
    let prepared = prepare(&runtime, &other, &[]).unwrap();
    assert_eq!(run(&runtime, &prepared, &[]).unwrap(), [327.0]);
    // What is bound is no part of the key.
    let plain = runtime.prepare(three(), &reads(&eights), &[target()]).unwrap();
    assert_eq!(run(&runtime, &plain, &eights).unwrap(), [888.0]);
    let stats = runtime.prepared_cache_stats();
    assert_eq!((stats.entries, stats.preparations), (2, 2));
}

#[test]
fn inputs_without_a_tensor_and_inputs_in_excess() {
    let runtime = runtime();
    let graph = CompiledGraph::new(three()).with_default("b", vector(&[2.0])).unwrap();
    let given = [vector(&[4.0]), vector(&[5.0])];
    let prepared = prepare(&runtime, &graph, &given).unwrap();
    let cases = [
        (0, "no tensor for input `a`, `c` of test (3 inputs, 0 given, 1 bound)"),
        (1, "no tensor for input `c` of test (3 inputs, 1 given, 1 bound)"),
        (4, "argument `inputs`: test takes 3 inputs or the 2 that nothing is bound to, but 4 were given"),
    ];
    for (count, message) in cases {
        let inputs = vec![vector(&[1.0]); count];
        let mut engine = ReferenceEngine::new();
        let errors = [
            ("Runtime::prepare", prepare(&runtime, &graph, &inputs).unwrap_err()),
            ("Runtime::run", runtime.run(&mut [&mut engine], &prepared, &reads(&inputs)).unwrap_err()),
            (
                "Runtime::run_into",
                runtime.run_into(&mut [&mut engine], &prepared, &reads(&inputs), &mut []).unwrap_err(),
            ),
            ("Runtime::warm_up", runtime.warm_up(&mut [&mut engine], &prepared, &reads(&inputs)).unwrap_err()),
        ];
        for (call, error) in errors {
            assert_eq!(matches!(error, Error::UnboundPlaceholder { .. }), count < 2);
            assert_eq!(error.to_string(), format!("{call}: {message}"));
        }
    }
    let shapes = runtime.prepare_for_shapes(&graph, &[(DType::F64, &[1])], &[target()]).unwrap_err();
    assert!(shapes.to_string().starts_with("Runtime::prepare_for_shapes: no tensor for input `c`"), "{shapes}");
    assert!(runtime.prepare_for_shapes(&graph, &[(DType::F64, &[1]), (DType::F64, &[1])], &[target()]).is_ok());
    // Given and bound tensors must agree in their sizes.
    let error = prepare(&runtime, &graph, &[vector(&[1.0, 2.0]), vector(&[1.0, 2.0])]).unwrap_err();
    assert_eq!(error.to_string(), "test: size `n`: 2 on axis 0 of `a`, 1 on axis 0 of `b`");
}

#[test]
fn results_that_are_inputs() {
    let program = program(&[("a", &["n", "m"]), ("b", &["n", "m"])], |b, v, _| {
        let (a, c) = (b.transpose(v[0], &[1, 0]).unwrap(), b.transpose(v[1], &[1, 0]).unwrap());
        vec![v[0], v[1], a, c]
    });
    let (a, b) = (counting(&[2, 3]), counting(&[2, 3]));
    let graph = CompiledGraph::new(program).with_default("a", a.clone()).unwrap();
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let inputs = [TensorRead::from(&b)];
    let outputs = {
        let prepared = runtime.prepare(&graph, &inputs, &[engine.target()]).unwrap();
        runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap()
        // The results outlive what was prepared, and what is bound to it.
    };
    drop(graph);
    let pointer = |output: &Output<'_>| output.view().buffer::<f64>().unwrap().as_ptr();
    let is_owned: Vec<bool> = outputs.iter().map(|output| matches!(output, Output::Owned(_))).collect();
    assert_eq!(is_owned, [true, false, true, false]);
    // The bound tensor is shared and the given one borrowed; only the view of the bound one is copied.
    assert_eq!(pointer(&outputs[0]), a.view().buffer::<f64>().unwrap().as_ptr());
    assert_eq!(pointer(&outputs[1]), b.view().buffer::<f64>().unwrap().as_ptr());
    assert_eq!(pointer(&outputs[3]), b.view().buffer::<f64>().unwrap().as_ptr());
    let turned = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
    assert_eq!((values(&outputs[2]), values(&outputs[3])), (turned.to_vec(), turned.to_vec()));
    assert_eq!((values(&outputs[0]), outputs[2].shape()), (values(&outputs[1]), [3, 2].as_slice()));
}

#[test]
fn a_result_of_its_own_is_compact() {
    let same = program(&[("a", &["n", "m"])], |_, v, _| vec![v[0]]);
    let turned = counting(&[2, 3]).transpose(&[1, 0]).unwrap();
    assert!(!turned.layout().is_contiguous());
    let graph = CompiledGraph::new(same).with_default("a", turned.clone()).unwrap();
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let prepared = runtime.prepare(&graph, &[], &[engine.target()]).unwrap();
    let Output::Owned(tensor) = runtime.run(&mut [&mut engine], &prepared, &[]).unwrap().remove(0) else {
        panic!("what is bound is not lent");
    };
    assert!(tensor.layout().is_contiguous());
    assert_eq!(tensor, turned);
}

#[test]
fn a_tensor_that_does_not_fit_is_not_bound() {
    let graph = CompiledGraph::new(program(&[("a", &["n", "3"])], |b, v, _| vec![b.exp(v[0]).unwrap()]));
    let bind = |name: &str, tensor| graph.clone().with_default(name, tensor).unwrap_err().to_string();
    assert_eq!(
        bind("z", counting(&[2, 3])),
        "CompiledGraph::with_default: argument `input`: test has no input `z`; its inputs are `a`"
    );
    assert_eq!(
        bind("a", Tensor::zeros(DType::F32, [2, 3]).unwrap()),
        "CompiledGraph::with_default: input `a`: expected f64[n, 3], got f32[2, 3]"
    );
    assert_eq!(
        bind("a", counting(&[6])),
        "CompiledGraph::with_default: argument `tensor`: input `a` is declared f64[n, 3], the tensor has shape [6]"
    );
    assert!(graph.default_input(0).is_none() && graph.default_input(1).is_none());
}

#[test]
fn input_specs_fix_order_and_shapes() {
    let program = program(&[("a", &["n", "m"]), ("b", &["m"])], |b, v, s| {
        let wide = b.broadcast_in_dim(v[1], &[s[0].clone(), s[1].clone()], &[1]).unwrap();
        vec![b.sub(v[0], wide).unwrap()]
    });
    let f64_ = |name, shape| InputSpec { name, dtype: DType::F64, shape };
    let graph = CompiledGraph::compile_with_input_specs(&program, &[f64_("b", &[3]), f64_("a", &[2, 3])]).unwrap();
    assert_eq!((graph.input_index("b"), graph.input_index("a"), graph.input_index("c")), (Some(0), Some(1), None));
    assert_eq!(graph.program().sizes(), []);
    let runtime = runtime();
    let inputs = [vector(&[1.0, 1.0, 2.0]), counting(&[2, 3])];
    let prepared = prepare(&runtime, &graph, &inputs).unwrap();
    assert_eq!(run(&runtime, &prepared, &inputs).unwrap(), [0.0, 1.0, 2.0, 3.0, 3.0, 4.0]);
    // Spec: a program of fixed shapes refuses others at both calls.
    let other = [vector(&[1.0, 1.0]), counting(&[2, 2])];
    for error in [prepare(&runtime, &graph, &other).unwrap_err(), run(&runtime, &prepared, &other).unwrap_err()] {
        assert_eq!(error.to_string(), "test: axis 0 of `b` must have extent 3, but has 2");
    }

    let refused: [(&[InputSpec<'_>], &str); 7] = [
        (&[f64_("b", &[3])], "argument `specs`: input `a` of test is not listed"),
        (&[f64_("b", &[3]), f64_("b", &[3])], "argument `specs`: input `b` is listed twice"),
        (&[f64_("b", &[3]), f64_("z", &[3])], "argument `specs`: test has no input `z`; its inputs are `a`, `b`"),
        (
            &[InputSpec { dtype: DType::I64, ..f64_("b", &[3]) }, f64_("a", &[2, 3])],
            "input `b`: expected f64[m], got i64[3]",
        ),
        (
            &[f64_("b", &[3, 1]), f64_("a", &[2, 3])],
            "test: input `b` has rank 2 (shape [3, 1]), but is declared f64[m]",
        ),
        (&[f64_("b", &[4]), f64_("a", &[2, 3])], "test: size `m`: 3 on axis 1 of `a`, 4 on axis 0 of `b`"),
        (&[], "argument `specs`: input `a` of test is not listed"),
    ];
    for (specs, message) in refused {
        let text = CompiledGraph::compile_with_input_specs(&program, specs).unwrap_err().to_string();
        assert_eq!(text.strip_prefix("CompiledGraph::compile_with_input_specs: ").unwrap_or(&text), message);
    }
    let beyond = [f64_("b", &[usize::MAX]), f64_("a", &[2, usize::MAX])];
    assert!(CompiledGraph::compile_with_input_specs(&program, &beyond).is_err());
}

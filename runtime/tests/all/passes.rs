//! The passes that preparation runs.

use std::sync::Arc;

use tenferro_core::ad;
use tenferro_core::program::passes::CompilerOptions;
use tenferro_core::program::{ProgramBuilder, SemanticProgram};
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{Engine, Error, Prepared, Runtime};

fn runtime(options: CompilerOptions) -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.compiler_options(options).build().unwrap()
}

fn commands(prepared: &Prepared) -> Vec<&str> {
    prepared.commands().collect()
}

/// `exp(-(-x)) + y x + x y`
fn wordy() -> Arc<SemanticProgram> {
    let text = "program wordy(x: f64[n], y: f64[n]) -> f64[n] {
        %1 = neg x : f64[n]
        %2 = neg %1 : f64[n]
        %3 = exp %2 : f64[n]
        %4 = mul x y : f64[n]
        %5 = mul y x : f64[n]
        %6 = add %3 %4 : f64[n]
        %7 = add %6 %5 : f64[n]
        return %7
    }";
    Arc::new(SemanticProgram::parse(text).unwrap())
}

#[test]
fn preparation_runs_the_passes_of_the_configuration() {
    let mut engine = ReferenceEngine::new();
    let (x, y) = (vec![0.5, -1.0], vec![2.0, 3.0]);
    let tensors = [x, y].map(|values| Tensor::from_vec_col_major([2], values).unwrap());
    let inputs: Vec<TensorRead<'_>> = tensors.iter().map(TensorRead::from).collect();
    let mut results = Vec::new();
    for (options, names) in [
        (CompilerOptions::NONE, vec!["neg", "neg", "exp", "mul", "mul", "add", "add"]),
        (CompilerOptions::default(), vec!["exp", "mul", "add", "add"]),
    ] {
        let runtime = runtime(options);
        let prepared = runtime.prepare(wordy(), &inputs, &[engine.target()]).unwrap();
        assert_eq!(commands(&prepared), names);
        // What was prepared keeps its text.
        assert_eq!(*prepared.program(), *wordy());
        let outputs = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap();
        results.push(outputs[0].view().to_vec_col_major::<f64>().unwrap());
    }
    assert_eq!(results[0], results[1]);
}

#[test]
fn the_passes_belong_to_the_epoch() {
    let runtime = Runtime::builder().register_engine(reference::registration()).unwrap().build().unwrap();
    let target = ReferenceEngine::new().target();
    let shapes: [(DType, &[usize]); 2] = [(DType::F64, &[2]); 2];
    let prepare = || runtime.prepare_for_shapes(wordy(), &shapes, std::slice::from_ref(&target)).unwrap();
    let before = prepare();
    assert_eq!(commands(&before).len(), 4);
    runtime.reconfigure(|builder| Ok(builder.compiler_options(CompilerOptions::NONE))).unwrap();
    assert_eq!(commands(&prepare()).len(), 7);
    // Other edits keep them.
    runtime.reconfigure(Ok).unwrap();
    assert_eq!(commands(&prepare()).len(), 7);
    let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0]).unwrap();
    let error = runtime.run(&mut [&mut ReferenceEngine::new()], &before, &[(&x).into(), (&x).into()]).unwrap_err();
    assert!(matches!(error, Error::StaleEpoch { .. }), "{error}");
}

/// What a checkpoint computes again is not shared with what was computed.
#[test]
fn checkpoints_are_expanded_after_the_passes() {
    let mut b = ProgramBuilder::new("inner");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let y = b.exp(x).unwrap();
    let z = b.sin(y).unwrap();
    let inner = b.finish(&[(None, z)]).unwrap();
    let mut b = ProgramBuilder::new("loss");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let y = ad::checkpoint(&mut b, inner, &[x]).unwrap()[0];
    let loss = b.finish(&[(None, y)]).unwrap();
    let both = Arc::new(ad::value_and_grad(&loss, &[0], &ad::AdContext::new()).unwrap());
    let runtime = runtime(CompilerOptions::default());
    let prepared = runtime.prepare_for_shapes(&both, &[(DType::F64, &[])], &[ReferenceEngine::new().target()]).unwrap();
    assert_eq!(commands(&prepared).iter().filter(|name| **name == "exp").count(), 2);
}

/// Passes may drop and renumber the sizes that are read off values.
#[test]
fn programs_with_sizes_of_values_run_as_without_passes() {
    let mut b = ProgramBuilder::new("kept");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let [c, d] = ["c", "d"].map(|name| b.input(name, DType::I64, &[]).unwrap());
    // of a constant, which folding finds
    let first = b.dynamic_truncate(x, c, 0).unwrap();
    let zeros = b.constant_like(first, 2.0).unwrap();
    let sum = b.sum(zeros, &[0]).unwrap();
    let second = b.dynamic_truncate(x, d, 0).unwrap();
    let negated = b.neg(second).unwrap();
    let again = b.neg(negated).unwrap();
    let program = Arc::new(b.finish(&[(None, sum), (None, again)]).unwrap());
    let x = Tensor::from_vec_col_major([4], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let mut engine = ReferenceEngine::new();
    for options in [CompilerOptions::NONE, CompilerOptions::default()] {
        let runtime = runtime(options);
        for (c, d) in [(1i64, 3i64), (4, 0), (0, 4)] {
            let [count_c, count_d] = [c, d].map(|value| Tensor::from_vec_col_major([], vec![value]).unwrap());
            let inputs = [(&x).into(), (&count_c).into(), (&count_d).into()];
            let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
            let outputs = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap();
            let values = |i: usize| outputs[i].view().to_vec_col_major::<f64>().unwrap();
            assert_eq!(values(0), [2.0 * c as f64], "{options:?}");
            assert_eq!(values(1), [1.0, 2.0, 3.0, 4.0][..d as usize], "{options:?}");
        }
    }
}

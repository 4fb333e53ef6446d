//! What a profile says of runs.

use std::sync::Arc;
use std::time::Duration;

use tenferro_core::program::ProgramBuilder;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_runtime::Runtime;
use tenferro_runtime::reference::{self, ReferenceEngine};

use super::support::*;

#[test]
fn work_is_counted_by_shapes() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let mut b = ProgramBuilder::new("work");
    let (m, k, n) = (b.size("m"), b.size("k"), b.size("n"));
    let x = b.input("x", DType::F64, &[m.clone(), k.clone()]).unwrap();
    let y = b.input("y", DType::F64, &[k, n]).unwrap();
    let product = tenferro_einsum::einsum(&mut b, "ij,jk->ik", &[x, y]).unwrap();
    let exp = b.exp(product).unwrap();
    let sum = b.sum(exp, &[0]).unwrap();
    let turned = b.transpose(x, &[1, 0]).unwrap();
    let lower = b.op(tenferro_core::ops::CoreOp::Tril { row: 0, column: 1, k: 0 }, &[turned]).unwrap();
    let program = Arc::new(b.finish(&[(None, sum), (None, lower)]).unwrap());
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let prepared = runtime.prepare(&program, &reads(&inputs), &[target()]).unwrap();
    let ((), profile) = runtime.profile(|| {
        for _ in 0..3 {
            runtime.run(&mut [&mut engine], &prepared, &reads(&inputs)).unwrap();
        }
    });
    let run = &profile.runs()[0];
    assert_eq!((profile.runs().len(), run.program.as_str(), run.thread), (3, "work", 0));
    let work: Vec<_> =
        run.commands.iter().map(|command| (command.name.as_str(), command.bytes, command.flops)).collect();
    assert_eq!(
        work,
        [
            // A product and a sum at each of 2 * 3 * 4 points.
            ("einsum", 8 * (6 + 12 + 8), Some(48.0)),
            ("exp", 8 * 16, Some(8.0)),
            ("sum", 8 * (8 + 4), Some(8.0)),
            ("tril", 8 * 12, Some(0.0)),
        ]
    );
    let mut last = Duration::ZERO;
    for run in profile.runs() {
        assert!(run.start >= last && run.start + run.time <= profile.wall());
        last = run.start;
        for command in &run.commands {
            assert!(command.start >= last && command.start + command.time <= run.start + run.time);
            assert_eq!(command.engine, reference::ENGINE_ID);
            last = command.start + command.time;
        }
    }
    let totals = profile.totals();
    assert!(totals.is_sorted_by_key(|total| std::cmp::Reverse(total.time)));
    let einsum = totals.iter().find(|total| total.name == "einsum").unwrap();
    assert_eq!((einsum.count, einsum.bytes, einsum.flops), (3, 3 * 208, Some(144.0)));
    let text = profile.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 + 4 + 1, "{text}");
    assert!(lines[0].starts_with("3 runs in "), "{text}");
    assert!(lines[1].starts_with("command") && lines[6].starts_with("(between commands)"), "{text}");
}

#[test]
fn copies_are_recorded_too() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let flat = program(&[("x", &["n", "3"])], |b, v, sizes| {
        let flat = b.reshape(v[0], &[sizes[0].clone() * 3]).unwrap();
        vec![b.exp(flat).unwrap()]
    });
    let x = counting(&[3, 2]);
    let prepared = runtime.prepare(&flat, &[TensorRead::from(&counting(&[2, 3]))], &[target()]).unwrap();
    let mut names = |input: TensorRead<'_>| {
        let (_, profile) = runtime.profile(|| runtime.run(&mut [&mut engine], &prepared, &[input]).unwrap().len());
        profile.runs()[0].commands.iter().map(|command| command.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(TensorRead::from(&counting(&[2, 3]))), ["exp"]);
    assert_eq!(names(TensorRead::from(x.view().transpose(&[1, 0]).unwrap())), ["compact", "exp"]);
}

#[test]
fn only_what_runs_meanwhile_on_the_runtime_is_recorded() {
    let (runtime, other) = (runtime(), super::support::runtime());
    let x = [vector(&[0.5])];
    let run = |runtime: &Runtime| {
        let prepared = runtime.prepare(sum_of_squares(), &reads(&x), &[target()]).unwrap();
        let mut sum = Tensor::zeros(DType::F64, []).unwrap();
        runtime.run_into(&mut [&mut ReferenceEngine::new()], &prepared, &reads(&x), &mut [&mut sum]).unwrap();
        sum
    };
    run(&runtime);
    let ((inner, sum), outer) = runtime.profile(|| {
        run(&other);
        let (sum, inner) = runtime.profile(|| run(&runtime.clone()));
        std::thread::scope(|scope| _ = scope.spawn(|| run(&runtime)).join().unwrap());
        (inner, sum)
    });
    run(&runtime);
    assert_eq!(sum.to_vec_col_major::<f64>().unwrap(), [0.25]);
    assert_eq!((inner.runs().len(), outer.runs().len()), (1, 2));
    assert_eq!(outer.runs().iter().map(|run| run.thread).collect::<Vec<_>>(), [0, 1]);
    // What was begun is ended, also by a panic.
    let panicked = std::panic::catch_unwind(|| runtime.profile(|| panic!("meanwhile")));
    assert!(panicked.is_err());
    let ((), after) = runtime.profile(|| ());
    assert!(after.runs().is_empty());
}

#[test]
fn a_run_that_fails_is_recorded_up_to_there() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let mut b = ProgramBuilder::new("head");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let twice = b.add(count, count).unwrap();
    let head = b.dynamic_truncate(x, twice, 0).unwrap();
    let y = b.exp(head).unwrap();
    let program = Arc::new(b.finish(&[(None, y)]).unwrap());
    let inputs = |k: i64| [counting(&[6]), Tensor::scalar(k)];
    let prepared = runtime.prepare(&program, &reads(&inputs(2)), &[target()]).unwrap();
    let names = |profile: &tenferro_runtime::Profile| {
        profile.runs()[0].commands.iter().map(|command| command.name.clone()).collect::<Vec<_>>()
    };
    let good = inputs(2);
    let (result, profile) = runtime.profile(|| runtime.run(&mut [&mut engine], &prepared, &reads(&good)).map(drop));
    result.unwrap();
    assert_eq!(names(&profile), ["add", "exp"]);
    let bad = inputs(-1);
    let (result, profile) = runtime.profile(|| runtime.run(&mut [&mut engine], &prepared, &reads(&bad)).map(drop));
    assert!(result.is_err());
    assert_eq!(names(&profile), ["add"]);
}

#[test]
fn what_is_refused_is_no_run() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let prepared = runtime.prepare(product(), &reads(&inputs), &[target()]).unwrap();
    let other = [counting(&[2, 5]), counting(&[5, 4])];
    let (_, profile) = runtime.profile(|| {
        assert!(runtime.run(&mut [], &prepared, &reads(&inputs)).is_err());
        assert!(runtime.run(&mut [&mut engine], &prepared, &reads(&other[..1])).is_err());
        runtime.reconfigure(Ok).unwrap();
        assert!(runtime.run(&mut [&mut engine], &prepared, &reads(&inputs)).is_err());
        let mut product = counting(&[2, 4]);
        assert!(runtime.run_into(&mut [&mut engine], &prepared, &reads(&inputs), &mut [&mut product]).is_err());
    });
    assert!(profile.runs().is_empty(), "{profile}");
}

//! What a kernel can be asked beside numbers: where results go, preparing, views, expressions.

use crate::all::support::*;
use tenferro::cpu::CpuEngine;
use tenferro::prelude::*;
use tenferro::runtime::Engine;

tenferro! {
    /// Counts the entries above a bound, and says where the first largest stands.
    pub fn survey(x: f64[n], bound: f64) -> (above: i64, place: i64) {
        (sum((x > bound) as i64), argmax(x))
    }
}

/// Kernels, arguments and the locals of an expansion may have one name.
mod names {
    tenferro::tenferro! {
        pub fn x(session: f64[n], results: f64[n]) -> (out: f64[n], first: i64) {
            (session + results, argmax(session))
        }
        pub fn session(x: f64[n], out: f64) -> f64[n] { x * out }
        pub fn d_x(ct: f64) -> f64 { ct * ct }
    }
}

/// An expansion uses no name that is not its own: no prelude, and `Ok` means something else.
#[allow(non_snake_case)]
#[no_implicit_prelude]
#[deny(deprecated, clippy::pedantic)]
mod bare {
    #[allow(dead_code)]
    pub struct Ok;
    ::tenferro::tenferro! {
        pub fn r#match(r#type: f64[n], Ok: f64, _unused: i64) -> (r#fn: f64, Ok: f64) { (sum(r#type), 2.0 * Ok) }
        #[deprecated]
        pub fn programs(x: f64) -> f64 { x * x }
    }
}

#[test]
#[allow(deprecated)]
fn an_expansion_uses_no_names_but_its_own() {
    let cpu = &mut Session::cpu();
    let x = TypedTensor::from_vec(vec![1.0, 3.0]);
    let out = bare::r#match.run(cpu, &x, 3.0, 0).unwrap();
    assert_eq!((out.r#fn, out.Ok), (4.0, 6.0));
    let (mut total, mut twice) = (0.0, 0.0);
    bare::r#match.run_into(cpu, &x, 3.0, 0, &mut total, &mut twice).unwrap();
    assert_eq!((total, twice), (4.0, 6.0));
    let (_, (by_type, by_ok)) = bare::r#match.vjp(cpu, &x, 3.0, 0, 1.0, 1.0).unwrap();
    assert_eq!((by_type.as_slice().unwrap(), by_ok), (&[1.0, 1.0][..], 2.0));
    assert_eq!(bare::r#match.program().input_index("type"), Some(0));
    assert_eq!(bare::programs.grad(cpu, 3.0).unwrap(), 6.0);
}

#[test]
fn names_do_not_get_in_the_way_of_one_another() {
    let cpu = &mut Session::cpu();
    let v = TypedTensor::from_vec_col_major([2], vec![1.0, 3.0]).unwrap();
    assert_eq!(names::x.run(cpu, &v, &v).unwrap().out.as_slice().unwrap(), [2.0, 6.0]);
    assert_eq!(names::session.run(cpu, &v, 2.0).unwrap().as_slice().unwrap(), [2.0, 6.0]);
    assert_eq!(names::d_x.grad(cpu, 3.0).unwrap(), 6.0);
}

#[test]
fn run_into_writes_over_tensors_and_scalars() {
    let cpu = &mut Session::cpu();
    let x = TypedTensor::from_vec_col_major([2], vec![1.0, 3.0]).unwrap();
    let (mut total, mut share) = (0.0, TypedTensor::zeros([2]).unwrap());
    for _ in 0..2 {
        normalise.run_into(cpu, &x, &mut total, &mut share).unwrap();
        assert_eq!(total, 4.0);
        assert_eq!(share.as_slice().unwrap(), [0.25, 0.75]);
    }
    let mut wrong = TypedTensor::zeros([3]).unwrap();
    assert!(normalise.run_into(cpu, &x, &mut total, &mut wrong).is_err());
    assert_eq!(wrong.shape(), [3], "the tensor stays the caller's after an error");
}

#[test]
fn views_of_any_strides_are_operands() {
    let cpu = &mut Session::cpu();
    let (q, k, v) = (tensor::<f64, 2>([3, 2], 1), tensor([4, 2], 2), tensor([4, 5], 3));
    let expected = attention.run(cpu, &q, &k, &v).unwrap();
    let turned = TypedTensor::from_fn([2, 3], |[i, j]| q[[j, i]]).unwrap();
    let view = turned.view().transpose([1, 0]).unwrap();
    assert_close(&attention.run(cpu, &view, k.view(), &v).unwrap(), &expected, 1e-15);
    // The same shapes once compact and once not: whatever was chosen for the strides is chosen again.
    assert_eq!(attention.run(cpu, &q, &k, &v).unwrap(), expected);
    assert_close(&attention.run(cpu, view, &k, &v).unwrap(), &expected, 1e-15);
}

#[test]
fn a_prepared_kernel_runs_on_any_engine_of_its_target() {
    let session = Session::cpu();
    let mut engine = CpuEngine::serial();
    let prepared = mse.prepare::<f64>(session.runtime(), &[engine.target()], ([3], [], [5, 3], [5])).unwrap();
    let (w, x, y) = (tensor([3], 1), tensor([5, 3], 2), tensor([5], 3));
    let loss = prepared.run(&mut [&mut engine], (&w, 0.5, &x, &y)).unwrap();
    assert_eq!(loss, mse.run(&mut Session::cpu(), &w, 0.5, &x, &y).unwrap());

    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut engine = CpuEngine::serial();
                assert_eq!(prepared.run(&mut [&mut engine], (&w, 0.5, &x, &y)).unwrap(), loss);
            });
        }
    });
    assert!(format!("{prepared:?}").contains("mse"));
}

#[test]
fn one_argument_is_prepared_bare() {
    let session = Session::cpu();
    let mut engine = CpuEngine::serial();
    let prepared = normalise.prepare::<f32>(session.runtime(), &[engine.target()], [2]).unwrap();
    let x = TypedTensor::from_vec_col_major([2], vec![1.0f32, 3.0]).unwrap();
    assert_eq!(prepared.run(&mut [&mut engine], (&x,)).unwrap().total, 4.0);
}

#[test]
fn a_kernel_is_known_by_its_trait() {
    fn inputs<T, K: Kernel<T>>(_: K) -> Vec<String> {
        K::program().inputs().iter().map(|input| input.name.to_string()).collect()
    }
    assert_eq!(inputs::<f64, _>(mse), ["w", "b", "x", "y"]);
    assert_eq!(<attention as Kernel<f32>>::NAME, "attention");
    assert_eq!(mse.program::<f64>().input_index("x"), Some(2));
    assert_eq!(mse.vjp_program::<f64>().input_index("ct"), Some(4));
}

#[test]
fn integer_results() {
    let x = TypedTensor::from_vec_col_major([4], vec![0.5, 2.0, -1.0, 2.0]).unwrap();
    let out = survey.run(&mut Session::cpu(), &x, 0.0).unwrap();
    assert_eq!((out.above, out.place), (3, 1));
}

tenferro! {
    fn far(x: f64[2*n - 1, n*n]) -> f64 { -2.5e300 * sum(x) * 1e-9 }
    fn two() -> f64 { 1.0 + 1.0 }
}

#[test]
fn constants_and_sizes_of_every_form_are_written() {
    let cpu = &mut Session::cpu();
    let x = TypedTensor::from_fn([3, 4], |[i, j]| if i + j == 0 { 1.0 } else { 0.0 }).unwrap();
    assert_eq!(far.run(cpu, &x).unwrap(), -2.5e300 * 1e-9);
    let message = far.run(cpu, &TypedTensor::zeros([3, 5]).unwrap()).unwrap_err().to_string();
    assert!(message.contains("n*n"), "{message}");
    assert_eq!(two.run(cpu).unwrap(), 2.0);
    let (runtime, target) = (cpu.runtime().clone(), cpu.target().clone());
    assert_eq!(two.prepare(&runtime, &[target], ()).unwrap().run(&mut [cpu.engine()], ()).unwrap(), 2.0);
}

#[test]
fn a_block_is_an_expression() {
    let cpu = &mut Session::cpu();
    let norm2 = tenferro! { |x: f64[n]| -> f64 { x[i] * x[i] -> [] } };
    let x = TypedTensor::from_vec_col_major([2], vec![3.0, 4.0]).unwrap();
    assert_eq!(norm2.run(cpu, &x).unwrap(), 25.0);
    assert_eq!(norm2.grad(cpu, &x).unwrap().as_slice().unwrap(), [6.0, 8.0]);
}

#[test]
fn a_session_keeps_what_it_prepared() {
    let cpu = &mut Session::cpu();
    let x = tensor::<f64, 1>([3], 1);
    for _ in 0..3 {
        normalise.run(cpu, &x).unwrap();
    }
    let stats = cpu.runtime().prepared_cache_stats();
    for _ in 0..3 {
        normalise.run(cpu, &x).unwrap();
    }
    assert_eq!(cpu.runtime().prepared_cache_stats(), stats, "a known shape does not ask the runtime");
    // More shapes than a session remembers still come back from the runtime.
    for n in [1, 2, 3, 4, 5, 6, 1, 2, 3] {
        let x = TypedTensor::<f64, 1>::ones([n]).unwrap();
        assert_eq!(normalise.run(cpu, &x).unwrap().total, n as f64);
    }
}

#[test]
fn a_reconfigured_runtime_prepares_again() {
    let cpu = &mut Session::cpu();
    let x = tensor::<f64, 1>([3], 1);
    let before = normalise.run(cpu, &x).unwrap().total;
    cpu.runtime().reconfigure(Ok).unwrap();
    assert_eq!(normalise.run(cpu, &x).unwrap().total, before);
}

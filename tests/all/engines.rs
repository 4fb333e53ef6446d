//! The CPU engine against the reference engine, and one thread against several.

use crate::all::support::*;
use tenferro::dtype::ScalarValue;
use tenferro::prelude::*;

/// Rows of the linear models, queries, keys.
type Sizes = [usize; 3];

const SMALL: Sizes = [300, 33, 65];
/// Large enough that reductions, elementwise work and products are split between threads.
const LARGE: Sizes = [40_000, 600, 700];

/// Every number that every method of the shared kernels returns.
fn everything<T: Real>(session: &mut Session, [n, queries, keys]: Sizes) -> Vec<ScalarValue> {
    let (w, b) = (tensor::<T, 1>([7], 1), element::<T>(0.25));
    let (x, y) = (tensor([n, 7], 2), tensor([n], 3));
    let (dw, db) = (tensor([7], 4), element::<T>(-0.5));
    let (q, k, v) = (tensor::<T, 2>([queries, 16], 1), tensor([keys, 16], 2), tensor([keys, 9], 3));
    let (dq, dk, dv) = (tensor([queries, 16], 4), tensor([keys, 16], 5), tensor([keys, 9], 6));
    let mut numbers = Numbers::default();

    numbers.scalar(mse.run(session, &w, b, &x, &y).unwrap());
    let (gw, gb) = mse.grad(session, &w, b, &x, &y).unwrap();
    numbers.tensor(&gw).scalar(gb);
    let (loss, (gw, gb)) = mse.value_and_grad(session, &w, b, &x, &y).unwrap();
    numbers.scalar(loss).tensor(&gw).scalar(gb);
    let (loss, (gw, gb)) = mse.vjp(session, &w, b, &x, &y, db).unwrap();
    numbers.scalar(loss).tensor(&gw).scalar(gb);
    let (loss, tangent) = mse.jvp(session, &w, b, &x, &y, &dw, db).unwrap();
    numbers.scalar(loss).scalar(tangent);
    let (hw, hb) = mse.hvp(session, &w, b, &x, &y, &dw, db).unwrap();
    numbers.tensor(&hw).scalar(hb);

    let (loss, gradient) = logistic.value_and_grad(session, &w, &x, &y).unwrap();
    numbers.scalar(loss).tensor(&gradient);

    numbers.tensor(&attention.run(session, &q, &k, &v).unwrap());
    let (out, tangent) = attention.jvp(session, &q, &k, &v, &dq, &dk, &dv).unwrap();
    numbers.tensor(&out).tensor(&tangent);
    let (out, (gq, gk, gv)) = attention.vjp(session, &q, &k, &v, &tangent).unwrap();
    numbers.tensor(&out).tensor(&gq).tensor(&gk).tensor(&gv);

    let NormaliseOutput { total, share } = normalise.run(session, &y).unwrap();
    numbers.scalar(total).tensor(&share);
    numbers.0
}

#[derive(Default)]
struct Numbers(Vec<ScalarValue>);

impl Numbers {
    fn scalar<T: Real>(&mut self, value: T) -> &mut Self {
        self.0.push(value.to_value());
        self
    }

    fn tensor<T: Real, const R: usize>(&mut self, tensor: &TypedTensor<T, R>) -> &mut Self {
        self.0.extend(tensor.iter().map(Scalar::to_value));
        self
    }
}

fn as_f64(value: &ScalarValue) -> f64 {
    match value {
        ScalarValue::F32(v) => (*v).into(),
        ScalarValue::F64(v) => *v,
        other => unreachable!("{other} is not real"),
    }
}

fn agrees_with_the_reference<T: Real>(tolerance: f64) {
    let (cpu, reference) =
        (everything::<T>(&mut Session::cpu(), SMALL), everything::<T>(&mut Session::reference(), SMALL));
    assert_eq!(cpu.len(), reference.len());
    for (a, b) in cpu.iter().zip(&reference) {
        assert_near(as_f64(a), as_f64(b), tolerance);
    }
}

#[test]
fn the_cpu_engine_agrees_with_the_reference_engine() {
    agrees_with_the_reference::<f32>(2e-4);
    agrees_with_the_reference::<f64>(1e-12);
}

#[test]
fn results_are_bitwise_the_same_for_every_number_of_threads() {
    let (single, double) =
        (everything::<f32>(&mut Session::cpu(), LARGE), everything::<f64>(&mut Session::cpu(), LARGE));
    for threads in [2, 3] {
        let pooled = &mut Session::cpu_with_threads(threads).unwrap();
        assert_eq!(everything::<f32>(pooled, LARGE), single, "{threads} threads");
        assert_eq!(everything::<f64>(pooled, LARGE), double, "{threads} threads");
    }
}

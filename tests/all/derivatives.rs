//! Derivatives against central differences and against one another, in both real precisions.

use crate::all::support::*;
use tenferro::prelude::*;

/// The step and the tolerance of central differences.
struct Precision {
    step: f64,
    tolerance: f64,
}

const SINGLE: Precision = Precision { step: 1e-2, tolerance: 2e-3 };
const DOUBLE: Precision = Precision { step: 1e-5, tolerance: 1e-8 };

/// Each test for `f32` and `f64`.
macro_rules! in_both_precisions {
    ($($name:ident)*) => {
        mod f32 { $(#[test] fn $name() { super::$name::<f32>(super::SINGLE); })* }
        mod f64 { $(#[test] fn $name() { super::$name::<f64>(super::DOUBLE); })* }
    };
}

in_both_precisions! { scalar_kernel one_gradient tensor_kernel named_outputs }

fn scalar_kernel<T: Real>(Precision { step, tolerance }: Precision) {
    let cpu = &mut Session::cpu();
    let (w, b) = (tensor([3], 1), element::<T>(0.25));
    let (x, y) = (tensor([5, 3], 2), tensor([5], 3));
    let (dw, db) = (tensor([3], 4), element::<T>(-0.5));

    let loss = mse.run(cpu, &w, b, &x, &y).unwrap();
    let (same, (gw, gb)) = mse.value_and_grad(cpu, &w, b, &x, &y).unwrap();
    assert_eq!(loss, same);
    assert_eq!(mse.grad(cpu, &w, b, &x, &y).unwrap(), (gw.clone(), gb));

    let at = |h: f64| (moved(&w, h, &dw), element::<T>(value(b) + h * value(db)));
    let ((w1, b1), (w0, b0)) = (at(step), at(-step));
    let ahead = value(mse.run(cpu, &w1, b1, &x, &y).unwrap());
    let behind = value(mse.run(cpu, &w0, b0, &x, &y).unwrap());
    let slope = inner(&gw, &dw) + value(gb) * value(db);
    assert_near(slope, (ahead - behind) / (2.0 * step), tolerance);

    let (value_, tangent) = mse.jvp(cpu, &w, b, &x, &y, &dw, db).unwrap();
    assert_near(value(value_), value(loss), tolerance);
    assert_near(value(tangent), slope, tolerance);

    let (value_, (vw, vb)) = mse.vjp(cpu, &w, b, &x, &y, element(2.0)).unwrap();
    assert_near(value(value_), value(loss), tolerance);
    assert_close(&vw, &moved(&gw, 1.0, &gw), tolerance);
    assert_near(value(vb), 2.0 * value(gb), tolerance);

    let (hw, hb) = mse.hvp(cpu, &w, b, &x, &y, &dw, db).unwrap();
    let (gw1, gb1) = mse.grad(cpu, &w1, b1, &x, &y).unwrap();
    let (gw0, gb0) = mse.grad(cpu, &w0, b0, &x, &y).unwrap();
    assert_close(&hw, &central(&gw1, &gw0, step), tolerance);
    assert_near(value(hb), (value(gb1) - value(gb0)) / (2.0 * step), tolerance);
}

fn one_gradient<T: Real>(Precision { step, tolerance }: Precision) {
    let cpu = &mut Session::cpu();
    let (w, x) = (tensor::<T, 1>([4], 1), tensor([6, 4], 2));
    let y = TypedTensor::from_fn([6], |[i]| element((i % 2) as f64)).unwrap();
    let dw = tensor([4], 3);

    let gradient = logistic.grad(cpu, &w, &x, &y).unwrap();
    let (w1, w0) = (moved(&w, step, &dw), moved(&w, -step, &dw));
    let ahead = value(logistic.run(cpu, &w1, &x, &y).unwrap());
    let behind = value(logistic.run(cpu, &w0, &x, &y).unwrap());
    assert_near(inner(&gradient, &dw), (ahead - behind) / (2.0 * step), tolerance);

    let curvature = logistic.hvp(cpu, &w, &x, &y, &dw).unwrap();
    let (g1, g0) = (logistic.grad(cpu, &w1, &x, &y).unwrap(), logistic.grad(cpu, &w0, &x, &y).unwrap());
    assert_close(&curvature, &central(&g1, &g0, step), tolerance);
}

fn tensor_kernel<T: Real>(Precision { step, tolerance }: Precision) {
    let cpu = &mut Session::cpu();
    let (q, k, v) = (tensor::<T, 2>([3, 2], 1), tensor([4, 2], 2), tensor([4, 5], 3));
    let (dq, dk, dv) = (tensor([3, 2], 4), tensor([4, 2], 5), tensor([4, 5], 6));
    let ct = tensor([3, 5], 7);

    let out = attention.run(cpu, &q, &k, &v).unwrap();
    let (same, tangent) = attention.jvp(cpu, &q, &k, &v, &dq, &dk, &dv).unwrap();
    assert_close(&same, &out, tolerance);
    let mut at = |h: f64| attention.run(cpu, &moved(&q, h, &dq), &moved(&k, h, &dk), &moved(&v, h, &dv)).unwrap();
    assert_close(&tangent, &central(&at(step), &at(-step), step), tolerance);

    let (same, (gq, gk, gv)) = attention.vjp(cpu, &q, &k, &v, &ct).unwrap();
    assert_close(&same, &out, tolerance);
    assert_near(inner(&ct, &tangent), inner(&gq, &dq) + inner(&gk, &dk) + inner(&gv, &dv), tolerance);
}

fn named_outputs<T: Real>(Precision { step, tolerance }: Precision) {
    let cpu = &mut Session::cpu();
    let x = TypedTensor::<T, 1>::from_fn([3], |[i]| element(1.0 + i as f64)).unwrap();
    let (dx, ct_share) = (tensor([3], 1), tensor([3], 2));

    let out: NormaliseOutput<T> = normalise.run(cpu, &x).unwrap();
    assert_eq!(out.total, element(6.0));
    let (same, (d_total, d_share)) = normalise.jvp(cpu, &x, &dx).unwrap();
    assert_close(&same.share, &out.share, tolerance);
    let (x1, x0) = (moved(&x, step, &dx), moved(&x, -step, &dx));
    let (ahead, behind) = (normalise.run(cpu, &x1).unwrap(), normalise.run(cpu, &x0).unwrap());
    assert_near(value(d_total), (value(ahead.total) - value(behind.total)) / (2.0 * step), tolerance);
    assert_close(&d_share, &central(&ahead.share, &behind.share, step), tolerance);

    let (_, gradient) = normalise.vjp(cpu, &x, element(0.5), &ct_share).unwrap();
    assert_near(0.5 * value(d_total) + inner(&ct_share, &d_share), inner(&gradient, &dx), tolerance);
}

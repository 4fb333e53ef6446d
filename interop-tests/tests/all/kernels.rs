//! Kernels of the language on arrays of the crate `ndarray`.

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, arr1, arr2, s};
use tenferro::prelude::*;

tenferro! {
    /// `a x`, and where it is large.
    fn weighted(a: f64[n, m], x: f64[m]) -> f64[n] {
        let y[i] = a[i, j] * x[j];
        y
    }

    fn total<T: Real>(a: T[n, m]) -> T {
        a[i, j] -> []
    }
}

fn by_hand(a: ArrayView2<'_, f64>, x: &[f64]) -> Vec<f64> {
    a.axis_iter(Axis(0)).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

#[test]
fn a_kernel_runs_on_arrays_of_any_strides() {
    let mut cpu = Session::cpu();
    let array = Array2::from_shape_fn((6, 8), |(i, j)| (10 * i + j) as f64);
    let column_major = Array2::from_shape_fn((6, 8).f(), |(i, j)| (i * j) as f64);
    let repeated = arr1(&[1.0, 2.0, 3.0]);
    let views = [
        array.view(),
        column_major.view(),
        array.t(),
        array.slice(s![..;-1, ..;-1]),
        array.slice(s![1..;2, ..;3]),
        array.slice(s![..;-2, 2..5]),
        column_major.slice(s![..3, ..;-1]),
        repeated.broadcast((4, 3)).unwrap(),
        array.slice(s![..0, ..]),
    ];
    for view in views {
        let x: Vec<f64> = (0..view.ncols()).map(|j| 1.0 + j as f64).collect();
        let y = weighted.run(&mut cpu, view, &arr1(&x)).unwrap();
        assert_eq!(y.as_slice().unwrap(), by_hand(view, &x), "strides {:?}", view.strides());
        // References to views and owned arrays, mixed with tensors.
        let tensor = TypedTensor::from(x.clone());
        let (by_reference, owned) = (&view, view.to_owned());
        assert_eq!(weighted.run(&mut cpu, by_reference, &tensor).unwrap(), y);
        assert_eq!(weighted.run(&mut cpu, &owned, tensor.view()).unwrap(), y);
    }
}

#[test]
fn gradients_and_generic_kernels_take_arrays_too() {
    let mut cpu = Session::cpu();
    let a = arr2(&[[1.0_f32, 2.0], [3.0, 4.0]]);
    assert_eq!(total.run(&mut cpu, &a).unwrap(), 10.0);
    assert_eq!(total.grad(&mut cpu, &a).unwrap().to_ndarray(), Array2::<f32>::ones((2, 2)));
}

#[test]
fn sizes_are_checked_as_for_tensors() {
    let mut cpu = Session::cpu();
    let error = weighted.run(&mut cpu, &arr2(&[[1.0, 2.0]]), &arr1(&[1.0])).unwrap_err();
    assert!(error.to_string().contains("size `m`"), "{error}");
}

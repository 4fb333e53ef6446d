//! Printing, against what NumPy prints for the same arrays.

use tenferro_core::{Complex, DType, Scalar, Tensor, TypedTensor};

fn vector<T: Scalar>(values: impl Into<Vec<T>>) -> TypedTensor<T, 1> {
    TypedTensor::from_vec(values.into())
}

fn shown<T: Scalar>(values: impl Into<Vec<T>>) -> String {
    vector(values).to_string()
}

#[test]
fn decimal_points_are_aligned() {
    assert_eq!(shown([1.0, 2.0, 3.0]), "[1. 2. 3.]");
    assert_eq!(shown([1.5, 2.25, 3.0]), "[1.5  2.25 3.  ]");
    assert_eq!(shown([-1.5, 10.0, 3.0]), "[-1.5 10.   3. ]");
    assert_eq!(shown([-0.0, 1.0]), "[-0.  1.]");
    assert_eq!(shown([0.1_f32, 0.2, 0.3]), "[0.1 0.2 0.3]");
}

#[test]
fn eight_decimals_at_most() {
    assert_eq!(shown([1.0 / 3.0, 2.0 / 3.0]), "[0.33333333 0.66666667]");
    assert_eq!(shown([std::f64::consts::PI]), "[3.14159265]");
    assert_eq!(shown([0.999999999, 2.0]), "[1. 2.]");
    assert_eq!(shown([1.0_f32 / 3.0]), "[0.33333334]");
    assert_eq!(format!("{:.3}", vector([1.0 / 3.0, 2.0])), "[0.333 2.   ]");
}

#[test]
fn exponents_where_sizes_differ_or_are_extreme() {
    assert_eq!(shown([1e-5, 1.0]), "[1.e-05 1.e+00]");
    assert_eq!(shown([1e10, 1.0]), "[1.e+10 1.e+00]");
    assert_eq!(shown([123456.789, 0.001]), "[1.23456789e+05 1.00000000e-03]");
    assert_eq!(shown([1.0, 1000.0]), "[   1. 1000.]");
    assert_eq!(shown([1.0, 1001.0]), "[1.000e+00 1.001e+03]");
    assert_eq!(shown([1e8]), "[1.e+08]");
    assert_eq!(shown([99999999.0]), "[99999999.]");
    assert_eq!(shown([1e6_f32]), "[1.e+06]");
    assert_eq!(shown([-1.5e-200, 2e200]), "[-1.5e-200  2.0e+200]");
    assert_eq!(shown([0.0, 0.0]), "[0. 0.]");
    // The shortest decimal that reads back as this `f32` is 8.519087e-6; the next digit is not 0.
    assert_eq!(shown([-8.519087e-6_f32, 1.2459948e-5]), "[-8.5190868e-06  1.2459948e-05]");
}

#[test]
fn special_values() {
    assert_eq!(shown([1.0, f64::NAN, -f64::INFINITY]), "[  1.  nan -inf]");
    assert_eq!(shown([f64::NAN, f64::INFINITY]), "[nan inf]");
    assert_eq!(shown([1.5, f64::INFINITY]), "[1.5 inf]");
    assert_eq!(shown([1e-10, f64::INFINITY]), "[1.e-10    inf]");
}

#[test]
fn complex_numbers() {
    assert_eq!(shown([Complex::new(1.0, 2.0), Complex::new(3.5, -1.0)]), "[1. +2.j 3.5-1.j]");
    assert_eq!(shown([Complex::new(0.0_f32, 1.25), Complex::new(-1.0, 1.0)]), "[ 0.+1.25j -1.+1.j  ]");
    assert_eq!(shown([Complex::new(1.0, f64::NAN)]), "[1.+nanj]");
    assert_eq!(shown([Complex::new(1e-9, 1.0)]), "[1.e-09+1.j]");
}

#[test]
fn integers_and_booleans() {
    assert_eq!(shown([1, -10, 100]), "[  1 -10 100]");
    assert_eq!(shown([true, false]), "[ True False]");
    assert_eq!(shown([true, true]), "[ True  True]");
    assert_eq!(format!("{:?}", Tensor::scalar(true)), "tensor(True, dtype=bool)");
    assert_eq!(shown([i64::MIN]), "[-9223372036854775808]");
}

#[test]
fn the_last_axis_runs_across() {
    let a = TypedTensor::from_vec_row_major([2, 3], (0..6).map(f64::from).collect()).unwrap();
    assert_eq!(a.to_string(), "[[0. 1. 2.]\n [3. 4. 5.]]");
    assert_eq!(a.transpose([1, 0]).unwrap().to_string(), "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
    let cube = Tensor::zeros(DType::F64, [2, 2, 2]).unwrap();
    assert_eq!(cube.to_string(), "[[[0. 0.]\n  [0. 0.]]\n\n [[0. 0.]\n  [0. 0.]]]");
}

#[test]
fn rank_0_and_no_elements() {
    assert_eq!(Tensor::scalar(1.5).to_string(), "1.5");
    assert_eq!(Tensor::scalar(1.0).to_string(), "1.0");
    assert_eq!(Tensor::scalar(Complex::new(1.0, -2.0)).to_string(), "1-2i");
    assert_eq!(format!("{:.2}", Tensor::scalar(std::f64::consts::PI)), "3.14");
    assert_eq!(format!("{:?}", Tensor::scalar(1.0)), "tensor(1., dtype=f64)");
    assert_eq!(Tensor::zeros(DType::F64, [0]).unwrap().to_string(), "[]");
    assert_eq!(format!("{:?}", Tensor::zeros(DType::F64, [0]).unwrap()), "tensor([], dtype=f64)");
    assert_eq!(format!("{:?}", Tensor::zeros(DType::I32, [0, 3]).unwrap()), "tensor([], shape=[0, 3], dtype=i32)");
}

#[test]
fn long_lines_are_broken() {
    let lines = [
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23",
        " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47",
        " 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71",
        " 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95",
        " 96 97 98 99]",
    ];
    assert_eq!(shown((0..100).collect::<Vec<i32>>()), lines.join("\n"));
}

#[test]
fn large_tensors_are_summarised() {
    assert_eq!(shown((0..2000).collect::<Vec<i64>>()), "[   0    1    2 ... 1997 1998 1999]");
    assert_eq!(shown(vec![0; 1000]).matches('0').count(), 1000);
    let row = "[1. 1. 1. ... 1. 1. 1.]";
    let ones = TypedTensor::<f64, 2>::ones([50, 50]).unwrap();
    assert_eq!(ones.to_string(), format!("[{row}\n {row}\n {row}\n ...\n {row}\n {row}\n {row}]"));
    assert_eq!(
        format!("{:?}", vector((0..1001).collect::<Vec<i64>>())),
        "tensor([   0,    1,    2, ...,  998,  999, 1000], shape=[1001], dtype=i64)"
    );
    // A short axis is shown whole.
    let wide = TypedTensor::from_fn([2, 1000], |[i, j]| (1000 * i + j) as i32).unwrap();
    assert_eq!(wide.to_string(), "[[   0    1    2 ...  997  998  999]\n [1000 1001 1002 ... 1997 1998 1999]]");
}

#[test]
fn debug_names_the_dtype() {
    let a = TypedTensor::from_rows([[1.0_f32, 2.0], [3.0, 4.0]]);
    let text = "tensor([[1., 2.],\n        [3., 4.]], dtype=f32)";
    assert_eq!(format!("{a:?}"), text);
    assert_eq!(format!("{:?}", a.view()), text);
    assert_eq!(format!("{:?}", a.as_dyn()), text);
    let long = vector((0..19).collect::<Vec<i32>>());
    assert_eq!(
        format!("{long:?}"),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,\n        16, 17, 18], dtype=i32)"
    );
    let full_line = vector((0..16).collect::<Vec<i32>>());
    assert_eq!(
        format!("{full_line:?}"),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15],\n       dtype=i32)"
    );
}

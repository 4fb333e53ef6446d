//! Tensors of every dtype, shape and stride.

use tenferro_core::{DType, Scalar, ScalarValue, Tensor, with_dtype};

/// Shapes of every rank up to 6, some without elements.
pub fn shapes() -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = (0..=6).map(|rank| [2, 3, 1, 2, 1, 2][..rank].to_vec()).collect();
    shapes.extend([vec![0], vec![3, 0], vec![0, 5], vec![2, 0, 3], vec![1, 1]]);
    shapes
}

/// The same shape laid out in many ways, each with other elements at its indices.
pub fn laid_out(dtype: DType, shape: &[usize]) -> Vec<Tensor> {
    let rank = shape.len();
    let axes: Vec<usize> = (0..rank).collect();
    let backwards: Vec<usize> = axes.iter().rev().copied().collect();
    let turned: Vec<usize> = shape.iter().rev().copied().collect();
    let large: Vec<usize> = shape.iter().map(|extent| 2 * extent + 1).collect();
    let ones: Vec<usize> = shape.iter().map(|&extent| extent.min(1)).collect();
    let start = vec![1; rank];
    let limit: Vec<usize> = shape.iter().map(|extent| 2 * extent + 1).collect();
    let plain = numbered(dtype, shape);
    let gaps = numbered(dtype, &large).strided_slice(&start, &limit, &vec![2; rank]).unwrap();
    let repeated = numbered(dtype, &ones).broadcast_in_dim(shape, &axes).unwrap();
    vec![
        plain.reverse(&axes).unwrap(),
        numbered(dtype, &turned).transpose(&backwards).unwrap(),
        gaps.reverse(&axes[..rank.min(1)]).unwrap(),
        plain,
        gaps,
        repeated,
    ]
}

/// Elements that tell positions apart, special values among them.
fn numbered(dtype: DType, shape: &[usize]) -> Tensor {
    with_dtype!(dtype, T => {
        let mut next = 0.0;
        Tensor::from_fn(shape, |_| {
            next += 1.0;
            element::<T>(next)
        })
        .unwrap()
    })
}

fn element<T: Scalar>(number: f64) -> T {
    let special = [f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-310, 0.1];
    let number = if number % 4.0 == 0.0 { special[number as usize % special.len()] } else { -number };
    let value = match ScalarValue::from_f64(number, T::DTYPE) {
        ScalarValue::C32(z) => ScalarValue::C32(tenferro_core::Complex::new(1.5, z.re)),
        ScalarValue::C64(z) => ScalarValue::C64(tenferro_core::Complex::new(z.re, 0.3)),
        ScalarValue::Bool(_) => ScalarValue::Bool(number % 3.0 == 0.0),
        value => value,
    };
    T::from_value(value).unwrap()
}

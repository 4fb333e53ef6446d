//! Every dtype at every rank: construction, reading, conversion to and from typed.

use tenferro_core::{DType, Scalar, ScalarValue, Tensor, with_dtype};

/// Distinct values while they last.
fn values<T: Scalar>(count: usize) -> Vec<T> {
    let value = |i: usize| T::from_value(ScalarValue::from_f64((i % 7) as f64, T::DTYPE)).unwrap();
    (0..count).map(value).collect()
}

fn round_trip<T: Scalar>(shape: &[usize]) {
    let len = shape.iter().product();
    let elements = values::<T>(len);
    let tensor = Tensor::from_vec_col_major(shape, elements.clone()).unwrap();
    assert_eq!((tensor.dtype(), tensor.shape(), tensor.rank()), (T::DTYPE, shape, shape.len()));
    assert_eq!((tensor.len(), tensor.is_empty()), (len, len == 0));
    assert_eq!(tensor.as_slice::<T>().unwrap(), elements);
    assert_eq!(tensor.to_vec_col_major::<T>().unwrap(), elements);

    let row_major = tensor.to_vec_row_major::<T>().unwrap();
    assert_eq!(Tensor::from_vec_row_major(shape, row_major).unwrap(), tensor);

    let from_fn = Tensor::from_fn(shape, |index| tensor.get::<T>(index).unwrap()).unwrap();
    assert_eq!(from_fn, tensor);

    let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
    axes.rotate_left(shape.len() / 3);
    let turned = tensor.transpose(&axes).unwrap();
    assert_eq!(turned.view().to_tensor().unwrap(), turned);
    let gathered: Vec<T> = turned.view().iter().unwrap().collect();
    assert_eq!(turned.to_contiguous().unwrap().as_slice::<T>().unwrap(), gathered);
    assert_eq!(tensor.reshape(&[len]).unwrap().as_slice::<T>().unwrap(), elements);

    let view = tenferro_core::TensorView::from_slice_col_major(shape, &elements).unwrap();
    assert_eq!(view, tensor.view());

    assert_eq!(Tensor::zeros(T::DTYPE, shape).unwrap(), Tensor::full(shape, T::ZERO).unwrap());
    assert!(Tensor::full(shape, T::ONE).unwrap().view().iter::<T>().unwrap().all(|one| one == T::ONE));
}

#[test]
fn every_dtype_at_every_rank() {
    let shapes: [&[usize]; 10] = [
        &[],
        &[5],
        &[0],
        &[2, 3],
        &[3, 0],
        &[2, 3, 4],
        &[2, 0, 4],
        &[1, 2, 3, 2],
        &[2, 1, 2, 3, 2],
        &[2, 2, 1, 3, 1, 2],
    ];
    for dtype in DType::ALL {
        for shape in shapes {
            with_dtype!(dtype, T => round_trip::<T>(shape));
        }
    }
    round_trip::<f64>(&[2, 1, 2, 1, 2, 1, 2, 1]);
}

#[test]
fn scalars_of_every_dtype() {
    for dtype in DType::ALL {
        let value = ScalarValue::one(dtype);
        let tensor = Tensor::scalar(value);
        assert_eq!((tensor.dtype(), tensor.rank(), tensor.len()), (dtype, 0, 1));
        with_dtype!(dtype, T => {
            assert_eq!(tensor.item::<T>().unwrap().to_value(), value);
            assert_eq!(tensor.try_into_typed::<T, 0>().unwrap().item(), T::ONE);
        });
    }
}

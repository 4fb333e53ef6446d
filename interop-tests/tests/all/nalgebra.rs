//! Matrices and vectors, both ways.

use nalgebra::{DMatrix, DVector, Matrix2x3, Vector3};
use tenferro_core::{DType, Scalar, TypedTensor, TypedView, with_dtype};

use super::support::laid_out;

fn agree<T: Scalar>(tensor: &TypedView<'_, T, 2>, matrix: impl Fn(usize, usize) -> T) {
    for ([i, j], element) in tensor.indexed_iter() {
        assert_eq!(matrix(i, j), element, "at [{i}, {j}]");
    }
}

#[test]
fn tensors_of_forward_strides_are_matrix_views() {
    for dtype in DType::ALL {
        for shape in [[2, 3], [3, 1], [1, 3], [1, 1], [0, 3], [5, 0], [0, 0]] {
            for tensor in laid_out(dtype, &shape) {
                with_dtype!(dtype, T => {
                    let tensor = tensor.try_into_typed::<T, 2>().unwrap();
                    let copy = tensor.to_nalgebra();
                    assert_eq!(copy.shape(), (shape[0], shape[1]));
                    agree(&tensor.view(), |i, j| copy[(i, j)]);
                    assert_eq!(TypedTensor::<_, 2>::from_nalgebra(&copy).unwrap(), tensor);
                    assert_eq!(TypedView::<_, 2>::from_nalgebra(&copy).unwrap(), tensor.view());

                    let view = tensor.view();
                    let mut neighbours = view.layout().strides().iter().zip(shape).filter(|(_, extent)| *extent > 1);
                    let forward = tensor.is_empty() || neighbours.all(|(&stride, _)| stride > 0);
                    match view.as_nalgebra() {
                        Ok(lent) => {
                            assert!(forward);
                            assert_eq!(lent.shape(), (shape[0], shape[1]));
                            assert_eq!(lent.iter().count(), tensor.len());
                            agree(&view, |i, j| lent[(i, j)]);
                            assert_eq!(TypedTensor::<_, 2>::from_nalgebra(&lent).unwrap(), tensor);
                        }
                        Err(error) => {
                            assert!(!forward);
                            assert!(error.to_string().starts_with("as_nalgebra: shape"), "{error}");
                        }
                    }
                });
            }
        }
    }
}

#[test]
fn vectors_have_one_axis() {
    let v = Vector3::new(1.0, 2.0, 3.0);
    let lent = TypedView::<_, 1>::from_nalgebra(&v).unwrap();
    assert_eq!(lent.as_slice().unwrap().as_ptr(), v.as_slice().as_ptr());
    assert_eq!(TypedTensor::<_, 1>::from_nalgebra(&v).unwrap().to_nalgebra(), DVector::from_vec(vec![1.0, 2.0, 3.0]));
    let every_second = TypedTensor::from([1, 0, 2, 0, 3]).slice::<1>(&tenferro_core::s![..;2]).unwrap();
    let strided = every_second.view();
    assert_eq!(strided.as_nalgebra().unwrap().clone_owned(), Vector3::new(1, 2, 3));
    assert!(strided.reverse(&[0]).unwrap().as_nalgebra().is_err());
    assert_eq!(TypedTensor::<f32, 1>::zeros([0]).unwrap().view().as_nalgebra().unwrap().len(), 0);
    assert_eq!(TypedTensor::<f32, 1>::zeros([0]).unwrap().to_nalgebra().len(), 0);
}

#[test]
fn matrices_of_every_storage() {
    let fixed = Matrix2x3::new(1, 2, 3, 4, 5, 6);
    let tensor = TypedTensor::from([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(TypedView::<_, 2>::from_nalgebra(&fixed).unwrap(), tensor.view());
    let large = DMatrix::from_fn(5, 7, |i, j| 10 * i + j).map(|x| x as i64);
    let part = large.view_with_steps((0, 1), (3, 3), (1, 1));
    let copy = TypedTensor::<_, 2>::from_nalgebra(&part).unwrap();
    assert_eq!(copy, TypedTensor::from([[1, 3, 5], [21, 23, 25], [41, 43, 45]]));
    assert_eq!(TypedTensor::<_, 2>::from_nalgebra(&fixed.transpose()).unwrap(), tensor.t());
}

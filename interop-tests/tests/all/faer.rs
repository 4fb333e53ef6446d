//! Matrices and columns, both ways.

use faer::{Mat, mat};
use tenferro_core::{DType, TypedTensor, TypedView, with_dtype};

use super::support::laid_out;

#[test]
fn tensors_with_a_unit_stride_are_matrix_views() {
    for dtype in DType::ALL {
        for shape in [[2, 3], [3, 1], [1, 3], [1, 1], [0, 3], [5, 0], [0, 0]] {
            for tensor in laid_out(dtype, &shape) {
                with_dtype!(dtype, T => {
                    let tensor = tensor.try_into_typed::<T, 2>().unwrap();
                    let copy = tensor.to_faer();
                    assert_eq!(copy.shape(), (shape[0], shape[1]));
                    assert_eq!(TypedTensor::<_, 2>::from_faer(copy.as_ref()).unwrap(), tensor);

                    let view = tensor.view();
                    let layout = view.layout();
                    let unit = |axis: usize| shape[axis] < 2 || layout.strides()[axis].abs() == 1;
                    match view.as_faer() {
                        Ok(lent) => {
                            assert!(tensor.is_empty() || unit(0) || unit(1));
                            assert_eq!(lent.shape(), (shape[0], shape[1]));
                            for ([i, j], element) in view.indexed_iter() {
                                assert_eq!(lent[(i, j)], element);
                                let all = view.buffer().as_ptr_range();
                                assert!(all.contains(&std::ptr::from_ref(&lent[(i, j)])), "the memory is the same");
                            }
                            assert_eq!(TypedTensor::<_, 2>::from_faer(lent).unwrap(), tensor);
                        }
                        Err(error) => {
                            assert!(!tensor.is_empty() && !unit(0) && !unit(1));
                            assert!(error.to_string().starts_with("as_faer: shape"), "{error}");
                        }
                    }
                });
            }
        }
    }
}

#[test]
fn columns_are_read_where_they_lie_and_other_parts_copied() {
    let m = mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let column = TypedView::<_, 1>::from_faer(m.col(1)).unwrap();
    assert_eq!(column.as_slice().unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(column.as_slice().unwrap().as_ptr(), &raw const m[(0, 1)]);
    let row = m.as_ref().transpose().col(0);
    assert!(TypedView::<_, 1>::from_faer(row).is_err());
    assert_eq!(TypedTensor::<_, 1>::from_faer(row).unwrap(), TypedTensor::from([1.0, 2.0]));
    assert_eq!(TypedTensor::from([1, 2]).to_faer()[1], 2);
    let turned = TypedTensor::<_, 2>::from_faer(m.as_ref().reverse_rows().transpose()).unwrap();
    assert_eq!(turned, TypedTensor::from([[5.0, 3.0, 1.0], [6.0, 4.0, 2.0]]));
    assert_eq!(TypedTensor::<_, 2>::from_faer(Mat::<f64>::zeros(0, 4).as_ref()).unwrap().shape(), [0, 4]);
}

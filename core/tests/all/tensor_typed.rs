//! Tensors and views with dtype and rank in their type.

use tenferro_core::{Tensor, TypedTensor, TypedView};

fn matrix() -> TypedTensor<i32, 2> {
    TypedTensor::from_rows([[1, 2, 3], [4, 5, 6]])
}

#[test]
fn constructors() {
    assert_eq!(TypedTensor::from_vec_row_major([2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap(), matrix());
    assert_eq!(TypedTensor::from_vec_col_major([2, 3], vec![1, 4, 2, 5, 3, 6]).unwrap(), matrix());
    assert_eq!(TypedTensor::from_fn([2, 3], |[i, j]| (3 * i + j + 1) as i32).unwrap(), matrix());
    assert_eq!(TypedTensor::<f32, 1>::zeros([2]).unwrap().as_slice().unwrap(), [0.0; 2]);
    assert_eq!(TypedTensor::<bool, 1>::ones([2]).unwrap().as_slice().unwrap(), [true; 2]);
    assert_eq!(TypedTensor::full([2], 7_i64).unwrap().as_slice().unwrap(), [7; 2]);
    assert_eq!(TypedTensor::<i64, 2>::eye(3).unwrap().as_slice().unwrap(), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(TypedTensor::<i64, 2>::eye(0).unwrap().shape(), [0, 0]);
    assert_eq!(TypedTensor::from_rows([[0.0; 0]; 3]).shape(), [3, 0]);
}

#[test]
fn element_access() {
    let mut a = matrix();
    assert_eq!((a[[1, 2]], a.get([0, 1]), a.get([2, 0])), (6, Some(2), None));
    a[[1, 2]] = 9;
    let turned = a.transpose([1, 0]).unwrap();
    assert_eq!(turned[[2, 1]], 9);
    assert_eq!(turned.to_vec_col_major(), [1, 2, 3, 4, 5, 9]);
    assert_eq!(turned.to_vec_row_major(), [1, 4, 2, 5, 3, 9]);
    assert_eq!(turned.iter().len(), 6);

    // A strided tensor becomes compact when written, and its elements keep their indices.
    let mut reversed = a.reverse(&[0, 1]).unwrap();
    reversed[[0, 0]] = -1;
    assert_eq!(reversed, TypedTensor::from_rows([[-1, 5, 4], [3, 2, 1]]));
    assert_eq!(a[[1, 2]], 9);
}

#[test]
#[should_panic(expected = "index [0, 3] is outside shape [2, 3]")]
fn reading_outside_panics() {
    let _ = matrix()[[0, 3]];
}

#[test]
#[should_panic(expected = "index [2, 0] is outside shape [2, 3]")]
fn writing_outside_panics() {
    matrix()[[2, 0]] = 1;
}

#[test]
fn views() {
    let a = matrix();
    assert_eq!(a.strided_slice([0, 0], [2, 3], [1, 2]).unwrap(), TypedTensor::from_rows([[1, 3], [4, 6]]));
    let cube: TypedTensor<i32, 3> = a.broadcast_in_dim([2, 4, 3], [0, 2]).unwrap();
    assert_eq!((cube[[1, 3, 2]], cube.len()), (6, 24));
    let square = a.strided_slice([0, 0], [2, 2], [1, 1]).unwrap();
    let diagonal: TypedTensor<i32, 1> = square.diagonal(0, 1).unwrap();
    assert_eq!(diagonal.to_vec_col_major(), [1, 5]);
    assert_eq!(a.reshape([3, 2]).unwrap(), TypedTensor::from_rows([[1, 5], [4, 3], [2, 6]]));
    assert_eq!(a.transpose([1, 0]).unwrap().reshape([6]).unwrap().as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn borrowed_views_read_as_owned_tensors_do() {
    let a = matrix();
    let view = a.view();
    assert_eq!((view.shape(), view[[1, 0]], view.get([0, 3])), ([2, 3], 4, None));
    assert_eq!(view.as_slice().unwrap(), a.as_slice().unwrap());
    let turned = view.transpose([1, 0]).unwrap();
    assert!(turned.as_slice().is_err());
    assert_eq!(turned.to_tensor().unwrap(), a.transpose([1, 0]).unwrap());
    assert!(turned.iter().eq(1..=6));
    assert_eq!(turned.reshape([6]).unwrap(), None);
    let row = TypedView::from_slice_col_major([3], &[1, 2, 3]).unwrap();
    assert_eq!(row.broadcast_in_dim([3, 2], [0]).unwrap()[[2, 1]], 3);
    let layout = a.layout().clone();
    assert!(TypedView::<_, 3>::from_slice_with_layout(layout, a.as_slice().unwrap()).is_err());
}

#[test]
fn map_changes_the_type() {
    let halves: TypedTensor<f64, 2> = matrix().transpose([1, 0]).unwrap().map(|x| f64::from(x) / 2.0);
    assert_eq!(halves, TypedTensor::from_rows([[0.5, 2.0], [1.0, 2.5], [1.5, 3.0]]));
}

#[test]
fn rank_0() {
    let mut a = TypedTensor::scalar(2.5);
    assert_eq!((a.shape(), a.len(), a.item(), a[[]]), ([], 1, 2.5, 2.5));
    a[[]] = 3.0;
    assert_eq!(a.iter().collect::<Vec<_>>(), [3.0]);
    assert!(a.map(|x| x > 1.0).item());
}

#[test]
fn dynamic_and_back() {
    let dynamic: Tensor = matrix().into();
    assert_eq!(TypedTensor::<i32, 2>::try_from(dynamic.clone()).unwrap(), matrix());
    assert!(TypedTensor::<i32, 1>::try_from(dynamic.clone()).is_err());
    assert_eq!(dynamic.view().try_into_typed::<i32, 2>().unwrap(), matrix().view());
    assert_eq!(&dynamic, matrix().as_dyn());
}

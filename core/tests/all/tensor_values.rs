//! Nested construction, iteration, views along axes, joining and writing.

use tenferro_core::{Complex, DType, Error, Layout, Tensor, TensorView, TypedTensor, TypedView, s, with_dtype};

fn matrix() -> TypedTensor<i32, 2> {
    TypedTensor::from([[1, 2, 3], [4, 5, 6]])
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn nested_arrays_of_every_depth() {
    assert_eq!(TypedTensor::from([1, 2]).to_vec_col_major(), [1, 2]);
    assert_eq!(matrix().to_vec_row_major(), [1, 2, 3, 4, 5, 6]);
    let deep = TypedTensor::from([[[[[[1.0, 2.0]], [[3.0, 4.0]]]]]]);
    assert_eq!((deep.shape(), deep.to_vec_row_major()), ([1, 1, 1, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(TypedTensor::from([[[[[true]]]]]).shape(), [1; 5]);
    assert_eq!(TypedTensor::from([[[[1_i64; 2]; 3]; 4]; 5]).shape(), [5, 4, 3, 2]);
    assert_eq!(TypedTensor::from([[[false; 2]; 0]; 3]).shape(), [3, 0, 2]);
    assert_eq!(TypedTensor::from([Complex::new(0.0_f32, 1.0)]).shape(), [1]);
    assert_eq!(TypedTensor::from(vec![1, 2]), TypedTensor::from(&[1, 2][..]));
}

#[test]
fn nested_vecs_must_not_be_ragged() {
    let rows = vec![vec![1, 2, 3], vec![4, 5, 6]];
    assert_eq!(Tensor::from_nested(&rows).unwrap(), matrix().into_dyn());
    assert_eq!(Tensor::from_nested(&[&[1, 2, 3][..], &[4, 5, 6]]).unwrap(), matrix().into_dyn());
    assert_eq!(Tensor::from_nested(&rows[..1]).unwrap().shape(), [1, 3]);
    assert_eq!(Tensor::from_nested(&2.5).unwrap().item::<f64>().unwrap(), 2.5);
    assert_eq!(Tensor::from_nested(&Vec::<Vec<f32>>::new()).unwrap().shape(), [0, 0]);
    assert_eq!(Tensor::from_nested(&Vec::<[[f32; 2]; 3]>::new()).unwrap().shape(), [0, 3, 2]);
    let ragged = [vec![vec![1, 2], vec![3, 4]], vec![vec![5, 6], vec![7, 8, 9]]];
    assert_eq!(message(Tensor::from_nested(&ragged)), "from_nested: `values` has 3 entries at [1, 1], expected 2");
    let ragged = [vec![], vec![1]];
    assert_eq!(message(Tensor::from_nested(&ragged)), "from_nested: `values` has 1 entries at [1], expected 0");
    let wrong_rank = TypedTensor::<_, 1>::from_nested(&rows);
    assert_eq!(message(wrong_rank), "from_nested: `values` has rank 2, expected 1");
}

#[test]
fn views_of_row_major_slices() {
    let numbers = [1, 2, 3, 4, 5, 6];
    assert_eq!(TypedView::from_slice_row_major([2, 3], &numbers).unwrap(), matrix().view());
    let error = message(TensorView::from_slice_row_major([2, 2], &numbers));
    assert_eq!(error, "from_slice_row_major: `values` has 6 elements, shape [2, 2] needs 4");
}

#[test]
fn iterators_walk_in_column_major_order() {
    let a = matrix();
    let turned = a.t().reverse(&[0]).unwrap();
    assert_eq!(turned.iter().collect::<Vec<_>>(), [3, 2, 1, 6, 5, 4]);
    assert_eq!((&turned).into_iter().sum::<i32>(), 21);
    let mut walked = 0;
    for (index, element) in turned.indexed_iter() {
        assert_eq!(turned[index], element);
        walked += 1;
    }
    assert_eq!((walked, turned.indexed_iter().len()), (6, 6));
    for (index, element) in turned.as_dyn().view().indexed_iter::<i32>().unwrap() {
        assert_eq!(turned.as_dyn().get::<i32>(&index).unwrap(), element);
    }
    let (view, mut elements) = (a.view(), Vec::new());
    for element in &view {
        elements.push(element);
    }
    assert_eq!(elements, [1, 4, 2, 5, 3, 6]);
    assert_eq!(TypedTensor::scalar(7).indexed_iter().collect::<Vec<_>>(), [([], 7)]);
    assert_eq!(TypedTensor::<f32, 2>::zeros([0, 3]).unwrap().indexed_iter().count(), 0);
    assert_eq!(message(a.as_dyn().iter::<f32>()), "iter: `tensor` is i32, expected f32");

    let shared = a.clone();
    let mut turned = a.t();
    turned.iter_mut().unwrap().for_each(|element| *element = -*element);
    assert_eq!(turned, TypedTensor::from([[-1, -4], [-2, -5], [-3, -6]]));
    assert_eq!(shared, matrix());
}

#[test]
fn an_axis_is_walked_view_by_view() {
    let a = matrix().t();
    let rows: Vec<TypedTensor<i32, 1>> = a.axis_iter(0).unwrap().collect();
    assert_eq!(rows, [TypedTensor::from([1, 4]), TypedTensor::from([2, 5]), TypedTensor::from([3, 6])]);
    let view = a.view().reverse(&[0]).unwrap();
    let columns: Vec<_> = view.axis_iter::<1>(1).unwrap().map(|column| column.to_vec_col_major()).collect();
    assert_eq!(columns, [[3, 2, 1], [6, 5, 4]]);
    let empty = Tensor::zeros(DType::F32, [2, 0, 3]).unwrap();
    let shapes: Vec<_> = empty.axis_iter(2).unwrap().map(|part| part.shape().to_vec()).collect();
    assert_eq!(shapes, [[2, 0], [2, 0], [2, 0]]);
    assert_eq!(empty.axis_iter(1).unwrap().len(), 0);
    assert_eq!(message(empty.axis_iter(3).map(drop)), "axis_iter: `axis` names axis 3, which rank 3 does not have");
    assert_eq!(message(a.axis_iter::<2>(0).map(drop)), "axis_iter: `result` has rank 1, expected 2");
    assert!(TypedTensor::scalar(1).axis_iter::<0>(0).is_err());
    assert_eq!(a.index_axis::<1>(0, 2).unwrap(), TypedTensor::from([3, 6]));
    assert_eq!(message(a.index_axis::<1>(0, 3)), "index_axis: `index` is 3 on axis 0 of shape [3, 2]");
}

#[test]
fn axes_of_extent_one_come_and_go() {
    let a = matrix();
    let tall = a.unsqueeze::<3>(1).unwrap();
    assert_eq!(tall.shape(), [2, 1, 3]);
    assert_eq!(tall.squeeze::<2>(&[1]).unwrap(), a);
    assert_eq!(a.unsqueeze::<3>(2).unwrap().shape(), [2, 3, 1]);
    let error = message(a.unsqueeze::<3>(3));
    assert_eq!(error, "unsqueeze: `axis` names axis 3, which rank 3 does not have");
    let error = message(tall.squeeze::<1>(&[0, 1]));
    assert_eq!(error, "squeeze: `operand` has shape [2, 1, 3], expected extents of 1 on axes [0, 1]");
    assert_eq!(TypedTensor::full([1, 1], 5).unwrap().squeeze::<0>(&[1, 0]).unwrap().item(), 5);
}

#[test]
fn broadcasting_aligns_at_the_last_axes() {
    let row = TypedTensor::from([1, 2, 3]);
    assert_eq!(row.broadcast_to([2, 3]).unwrap(), TypedTensor::from([[1, 2, 3], [1, 2, 3]]));
    let column = TypedTensor::from([[1], [2]]);
    assert_eq!(column.broadcast_to([2, 2]).unwrap(), TypedTensor::from([[1, 1], [2, 2]]));
    assert_eq!(TypedTensor::scalar(1).broadcast_to([2, 0]).unwrap().shape(), [2, 0]);
    let expected = "extents of 1 or those of [3, 2], aligned at the last axes";
    assert_eq!(
        message(row.broadcast_to([3, 2])),
        format!("broadcast_to: `operand` has shape [3], expected {expected}")
    );
    assert!(column.broadcast_to([2]).is_err());
}

/// What joining copies, element by element.
#[test]
fn joined_tensors_of_every_dtype_rank_and_axis() {
    for dtype in DType::ALL {
        with_dtype!(dtype, T => {
            let one = <T as tenferro_core::Scalar>::ONE;
            for rank in 1..=4 {
                for axis in 0..rank {
                    let shapes = [1, 0, 3, 2].map(|extent| {
                        let mut shape = [2, 3, 1, 2][..rank].to_vec();
                        shape[axis] = extent;
                        shape
                    });
                    let mut odd = 0;
                    let parts = shapes.map(|shape| {
                        let part = Tensor::from_fn(&shape, |_| { odd += 1; if odd % 3 == 0 { one } else { T::default() } });
                        part.unwrap().t().to_contiguous().unwrap().t()
                    });
                    let joined = Tensor::concatenate(&parts, axis).unwrap();
                    assert_eq!(joined.shape()[axis], 6);
                    let mut start = 0;
                    for part in &parts {
                        let mut from = vec![0; rank];
                        let mut to = joined.shape().to_vec();
                        (from[axis], to[axis]) = (start, start + part.shape()[axis]);
                        assert_eq!(&joined.strided_slice(&from, &to, &vec![1; rank]).unwrap(), part);
                        start += part.shape()[axis];
                    }
                }
            }
        });
    }
    let a = matrix();
    for axis in 0..=2 {
        let stacked = TypedTensor::<_, 3>::stack([a.view(), a.view().reverse(&[1]).unwrap()], axis).unwrap();
        assert_eq!(stacked.index_axis(axis, 0).unwrap(), a);
        assert_eq!(stacked.index_axis(axis, 1).unwrap(), a.reverse(&[1]).unwrap());
    }
    assert_eq!(TypedTensor::concatenate([&a, &a], 0).unwrap().shape(), [4, 3]);
    let scalars = [TypedTensor::scalar(1), TypedTensor::scalar(2)];
    assert_eq!(TypedTensor::<_, 1>::stack(&scalars, 0).unwrap(), TypedTensor::from([1, 2]));
}

#[test]
fn what_cannot_be_joined() {
    let a = matrix();
    let none: [&Tensor; 0] = [];
    assert_eq!(message(Tensor::concatenate(none, 0)), "concatenate: `tensors` names no tensor");
    assert_eq!(message(Tensor::stack(none, 0)), "stack: `tensors` names no tensor");
    let narrow = TypedTensor::from([[1, 2]]);
    let expected = "concatenate: `tensors` has shape [1, 2], expected one that goes with [2, 3]";
    assert_eq!(message(Tensor::concatenate([&a, &narrow], 0)), expected);
    assert!(Tensor::concatenate([a.as_dyn(), &Tensor::scalar(1)], 0).is_err());
    let floats = Tensor::zeros(DType::F64, [2, 3]).unwrap();
    let error = message(Tensor::concatenate([a.as_dyn(), &floats], 0));
    assert_eq!(error, "concatenate: `tensors` is f64, expected i32");
    let error = message(Tensor::concatenate([&a, &a], 2));
    assert_eq!(error, "concatenate: `axis` names axis 2, which rank 2 does not have");
    assert!(Tensor::stack([&a, &a], 3).is_err());
    assert!(Tensor::stack([&a, &narrow], 0).is_err());
    let vast = Tensor::scalar(1).with_layout(Layout::new(&[isize::MAX as usize], &[0], 0).unwrap()).unwrap();
    assert!(matches!(Tensor::concatenate([&vast, &vast, &vast], 0), Err(Error::Overflow { .. })));
}

#[test]
fn writing_leaves_shared_elements_alone() {
    let a = matrix();
    let mut b = a.t();
    b.assign(&s![1.., ..], &TypedTensor::from([7, 8])).unwrap();
    assert_eq!(b, TypedTensor::from([[1, 4], [7, 8], [7, 8]]));
    b.fill(&s![..;-2, 0], 0).unwrap();
    assert_eq!(b, TypedTensor::from([[0, 4], [7, 8], [0, 8]]));
    b.assign(&s![0, 0], &TypedTensor::scalar(5)).unwrap();
    assert_eq!(b[[0, 0]], 5);
    b.assign(&s![1..1], &TypedTensor::<i32, 2>::zeros([0, 2]).unwrap()).unwrap();
    // A part of the tensor over another part of itself: the values are read before they are written.
    let first = b.slice::<1>(&s![0]).unwrap();
    b.assign(&s![1..], &first).unwrap();
    assert_eq!(b, TypedTensor::from([[5, 4], [5, 4], [5, 4]]));

    let mut c = a.as_dyn().reverse(&[0]).unwrap();
    c.set(&[0, 1], -5).unwrap();
    assert_eq!(c, Tensor::from_nested(&[[4, -5, 6], [1, 2, 3]]).unwrap());
    assert_eq!(message(c.set(&[2, 0], 0)), "set: index [2, 0] is outside shape [2, 3]");
    assert_eq!(message(c.set(&[0, 0], 0.0)), "set: `tensor` is i32, expected f64");
    assert_eq!(message(c.assign(&s![0], &TypedTensor::scalar(1.0))), "assign: `values` is f64, expected i32");
    let expected = "extents of 1 or those of [2], aligned at the last axes";
    assert_eq!(
        message(c.assign(&s![.., 0], &TypedTensor::from([1, 2, 3]))),
        format!("assign: `values` has shape [3], expected {expected}")
    );
    assert_eq!(a, matrix());
}

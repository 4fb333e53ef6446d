//! Arrays of any strides, both ways.

use ndarray::{Array, Array2, Array3, ArrayD, Axis, IxDyn, ShapeBuilder, arr0, arr1, s};
use proptest::prelude::*;
use tenferro_core::{Complex, DType, Tensor, TensorView, TypedTensor, TypedView, with_dtype};

use super::support::{laid_out, shapes};

#[test]
fn tensors_of_any_layout_are_array_views_and_come_back() {
    for dtype in DType::ALL {
        for shape in shapes() {
            for tensor in laid_out(dtype, &shape) {
                with_dtype!(dtype, T => {
                    let array = tensor.as_ndarray::<T>().unwrap();
                    assert_eq!(array.shape(), shape);
                    for (index, &element) in array.indexed_iter() {
                        assert_eq!(tensor.get::<T>(ndarray::Dimension::slice(&index)).unwrap(), element);
                    }
                    if let Some(first) = array.first() {
                        let lent = tensor.view().buffer::<T>().unwrap().as_ptr_range();
                        assert!(lent.contains(&std::ptr::from_ref(first)), "the memory is the same");
                    }
                    assert_eq!(tensor.to_ndarray::<T>().unwrap(), array);
                    assert_eq!(Tensor::from_ndarray(&array).unwrap(), tensor);
                });
            }
        }
    }
}

/// One step from an array view to another.
#[derive(Debug, Clone)]
enum Step {
    Swap(usize, usize),
    Invert(usize),
    Slice(usize, isize),
    Repeat(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3_usize, 0..3_usize).prop_map(|(a, b)| Step::Swap(a, b)),
        (0..3_usize).prop_map(Step::Invert),
        (0..3_usize, prop_oneof![Just(-2), Just(2), Just(3)]).prop_map(|(axis, step)| Step::Slice(axis, step)),
        (0..3_usize).prop_map(Step::Repeat),
    ]
}

proptest! {
    #[test]
    fn array_views_of_any_strides_are_tensors(shape in prop::array::uniform3(0..4_usize), steps in prop::collection::vec(step(), 0..4)) {
        let array = Array3::from_shape_fn(shape, |(i, j, k)| 100 * i as i64 + 10 * j as i64 + k as i64);
        let mut view = array.view();
        let mut repeated: Option<usize> = None;
        for step in steps {
            match step {
                Step::Swap(a, b) => view.swap_axes(a, b),
                Step::Invert(axis) => view.invert_axis(Axis(axis)),
                Step::Slice(axis, step) => view.slice_axis_inplace(Axis(axis), ndarray::Slice::new(0, None, step)),
                Step::Repeat(axis) => if view.len_of(Axis(axis)) > 0 { repeated = Some(axis) },
            }
        }
        let mut shape = [view.dim().0, view.dim().1, view.dim().2];
        if let Some(axis) = repeated.filter(|&axis| view.len_of(Axis(axis)) > 0) {
            view.collapse_axis(Axis(axis), 0);
            shape[axis] = 5;
        }
        let view = view.broadcast(shape).unwrap();
        let copy = TypedTensor::from_ndarray(&view).unwrap();
        prop_assert_eq!(copy.shape(), shape);
        for ((i, j, k), &element) in view.indexed_iter() {
            prop_assert_eq!(copy[[i, j, k]], element);
        }
        match TypedView::from_ndarray(view) {
            Ok(lent) => prop_assert_eq!(lent, copy.view()),
            Err(error) => prop_assert!(error.to_string().contains("is not contiguous"), "{}", error),
        }
    }
}

#[test]
fn memory_without_gaps_is_read_where_it_lies() {
    let array = Array::from_shape_fn((2, 3, 4), |(i, j, k)| (12 * i + 4 * j + k) as f32);
    for view in [
        array.view(),
        array.slice(s![.., ..;-1, ..]),
        array.slice(s![..;-1, ..;-1, ..;-1]),
        array.slice(s![1.., .., ..]),
    ] {
        let lent = TypedView::from_ndarray(view).unwrap();
        let all = array.as_slice().unwrap().as_ptr_range();
        assert!(all.contains(&lent.buffer().as_ptr()));
        assert_eq!(lent, TypedTensor::from_ndarray(&view).unwrap().view());
    }
    assert!(TypedView::from_ndarray(array.view().permuted_axes([2, 0, 1])).is_ok());
    let column_major = Array2::<f64>::zeros((3, 2).f());
    assert_eq!(TypedView::from_ndarray(column_major.view()).unwrap().as_slice().unwrap().len(), 6);
    // Repeated elements lie where one of them does.
    let row = arr1(&[1, 2, 3]);
    let lent = TypedView::from_ndarray(row.broadcast((4, 3)).unwrap()).unwrap();
    assert_eq!(lent, TypedTensor::from([[1, 2, 3]; 4]).view());
}

/// Between the rows lent here somebody else may write, so a tensor view must not reach over them.
#[test]
fn gaps_are_not_reached_over() {
    let mut array = Array2::<i32>::zeros((4, 3));
    let (mut even, odd) = array.multi_slice_mut((s![..;2, ..], s![1..;2, ..]));
    let error = TypedView::from_ndarray(odd.view()).unwrap_err();
    let expected =
        "from_ndarray: shape [2, 3] with strides [6, 1] is not contiguous; copy it with `Tensor::from_ndarray`";
    assert_eq!(error.to_string(), expected);
    even.fill(1);
    assert_eq!(TypedTensor::from_ndarray(&odd).unwrap(), TypedTensor::zeros([2, 3]).unwrap());
}

#[test]
fn ranks_and_dtypes_are_those_of_the_array() {
    assert_eq!(TypedTensor::from_ndarray(&arr0(7)).unwrap().item(), 7);
    assert_eq!(TypedTensor::scalar(7).to_ndarray(), arr0(7));
    let z = Complex::new(1.0, -2.0);
    assert_eq!(TypedTensor::from([z]).to_ndarray(), arr1(&[z]));
    let dynamic = ArrayD::from_elem(IxDyn(&[1, 2, 3, 1, 2, 1, 2, 2]), true);
    let tensor = Tensor::from_ndarray(&dynamic).unwrap();
    assert_eq!((tensor.rank(), tensor.to_ndarray::<bool>().unwrap()), (8, dynamic.clone()));
    assert_eq!(TensorView::from_ndarray(dynamic.view()).unwrap(), tensor.view());
    let error = tensor.as_ndarray::<f32>().unwrap_err();
    assert_eq!(error.to_string(), "as_ndarray: `tensor` is bool, expected f32");
}

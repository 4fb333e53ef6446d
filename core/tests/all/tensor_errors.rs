//! What is refused, and with what words; nothing of it panics.

use tenferro_core::{DType, Error, Layout, Tensor, TensorView, TypedTensor};

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("was not refused"),
        Err(error) => error.to_string(),
    }
}

fn matrix() -> Tensor {
    Tensor::from_vec_col_major([2, 3], (0..6).map(f64::from).collect()).unwrap()
}

#[test]
fn wrong_lengths() {
    assert_eq!(
        message(Tensor::from_vec_row_major([2, 2], vec![1; 3])),
        "from_vec_row_major: `values` has 3 elements, shape [2, 2] needs 4"
    );
    assert_eq!(
        message(TensorView::from_slice_col_major([0, 2], &[1])),
        "from_slice_col_major: `values` has 1 elements, shape [0, 2] needs 0"
    );
    let layout = Layout::new(&[2], &[3], 4).unwrap();
    assert_eq!(
        message(TensorView::from_slice_with_layout(layout.clone(), &[0.0; 7])),
        "from_slice_with_layout: `layout` of shape [2] with strides [3] and offset 4 needs 8 elements, there are 7"
    );
    assert!(TensorView::from_slice_with_layout(layout, &[0.0; 8]).is_ok());
}

#[test]
fn wrong_dtype() {
    assert_eq!(message(matrix().as_slice::<f32>()), "as_slice: `tensor` is f64, expected f32");
    assert_eq!(message(matrix().as_mut_slice::<bool>()), "as_mut_slice: `tensor` is f64, expected bool");
    assert_eq!(message(matrix().get::<i32>(&[0, 0])), "get: `tensor` is f64, expected i32");
    assert_eq!(message(matrix().try_into_typed::<i64, 2>()), "try_into_typed: `tensor` is f64, expected i64");
}

#[test]
fn wrong_rank() {
    assert_eq!(message(matrix().try_into_typed::<f64, 3>()), "try_into_typed: `tensor` has rank 2, expected 3");
    assert_eq!(message(matrix().transpose(&[0])), "transpose: `axes` has rank 1, expected 2");
    assert_eq!(
        message(matrix().strided_slice(&[0, 0], &[1], &[1, 1])),
        "strided_slice: `limit` has rank 1, expected 2"
    );
    assert_eq!(message(Layout::new(&[1], &[], 0)), "Layout::new: `strides` has rank 0, expected 1");
    let typed = matrix().try_into_typed::<f64, 2>().unwrap();
    assert!(typed.diagonal::<1>(0, 1).is_err());
}

#[test]
fn wrong_axes() {
    assert_eq!(message(matrix().transpose(&[0, 2])), "transpose: `axes` names axis 2, which rank 2 does not have");
    assert_eq!(message(matrix().transpose(&[1, 1])), "transpose: `axes` [1, 1] names axis 1 twice");
    assert_eq!(message(matrix().reverse(&[0, 0])), "reverse: `axes` [0, 0] names axis 0 twice");
    assert_eq!(message(matrix().diagonal(1, 1)), "diagonal: `axes` [1, 1] names axis 1 twice");
    assert_eq!(
        message(matrix().broadcast_in_dim(&[2, 3], &[0, 5])),
        "broadcast_in_dim: `axes` names axis 5, which rank 2 does not have"
    );
}

#[test]
fn wrong_extents() {
    assert_eq!(
        message(matrix().diagonal(0, 1)),
        "diagonal: `operand` has shape [2, 3], expected equal extents on axes 0 and 1"
    );
    assert_eq!(
        message(matrix().broadcast_in_dim(&[2, 3, 4], &[0, 2])),
        "broadcast_in_dim: `operand` has shape [2, 3], expected extents of 1 or those of [2, 3, 4] on its axes [0, 2]"
    );
    assert_eq!(
        message(matrix().strided_slice(&[0, 2], &[2, 4], &[1, 1])),
        "strided_slice: `limit` asks for 2..4 on axis 1 of shape [2, 3]"
    );
    assert_eq!(
        message(matrix().strided_slice(&[1, 0], &[0, 3], &[1, 1])),
        "strided_slice: `limit` asks for 1..0 on axis 0 of shape [2, 3]"
    );
    assert_eq!(message(matrix().strided_slice(&[0, 0], &[2, 3], &[1, 0])), "strided_slice: `stride` is 0 on axis 1");
    assert_eq!(message(matrix().reshape(&[4])), "reshape: `shape` has shape [4], expected as many elements as [2, 3]");
    assert_eq!(message(matrix().item::<f64>()), "item: `tensor` has shape [2, 3], expected exactly one element");
}

#[test]
fn wrong_index() {
    assert_eq!(message(matrix().get::<f64>(&[2, 0])), "index: index [2, 0] is outside shape [2, 3]");
    assert_eq!(message(matrix().get::<f64>(&[0])), "index: index [0] is outside shape [2, 3]");
}

#[test]
fn strided_elements_are_no_slice() {
    assert_eq!(
        message(matrix().transpose(&[1, 0]).unwrap().as_slice::<f64>()),
        "as_slice: shape [3, 2] with strides [2, 1] is not contiguous; make it so with `to_contiguous`"
    );
}

#[test]
fn what_is_not_contiguous_says_how_to_copy_it() {
    let turned = matrix().transpose(&[1, 0]).unwrap();
    let error = turned.view().as_slice::<f64>().unwrap_err().to_string();
    assert!(error.ends_with("is not contiguous; copy it with `to_tensor`"), "{error}");
    assert_eq!(turned.view().to_tensor().unwrap().as_slice::<f64>().unwrap().len(), 6);
}

/// Functions that call others report their own name, arguments and shapes.
#[test]
fn errors_name_the_function_that_was_called() {
    let mut a = matrix();
    assert_eq!(message(Tensor::stack([&a, &a], 3)), "stack: `axis` is 3, but the result has rank 3");
    assert!(Tensor::stack([&a, &a], 2).is_ok());
    let values = Tensor::zeros(DType::F64, [4]).unwrap();
    assert_eq!(
        message(a.assign(&tenferro_core::s![.., ..], &values)),
        "assign: `values` has shape [4], expected extents of 1 or those of [2, 3], aligned at the last axes"
    );
}

#[test]
fn a_wrong_index_is_reported_where_it_is_written() {
    use std::panic::{catch_unwind, set_hook, take_hook};
    use std::sync::{Arc, Mutex};
    let places = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&places);
    let before = take_hook();
    set_hook(Box::new(move |info| {
        let place = info.location().map(|place| (place.file().to_string(), place.line()));
        noted.lock().unwrap().push((std::thread::current().id(), place));
    }));
    let tensor = TypedTensor::from([[1, 2], [3, 4]]);
    let line = line!();
    let of_tensor = catch_unwind(|| tensor[[2, 0]]);
    let of_view = catch_unwind(|| tensor.view()[[2, 0]]);
    set_hook(before);
    assert!(of_tensor.is_err() && of_view.is_err());
    let own = std::thread::current().id();
    let places: Vec<_> =
        places.lock().unwrap().iter().filter(|(thread, _)| *thread == own).filter_map(|(_, p)| p.clone()).collect();
    assert_eq!(places, [(file!().to_string(), line + 1), (file!().to_string(), line + 2)]);
}

#[test]
fn sizes_beyond_memory() {
    let huge = usize::MAX / 2;
    assert_eq!(
        message(Tensor::zeros(DType::F32, [huge, 3])),
        format!("zeros: shape [{huge}, 3] is larger than memory can address")
    );
    assert!(Tensor::allocate(DType::C64, &[isize::MAX as usize]).is_err());
    assert!(Tensor::allocate(DType::Bool, &[isize::MAX as usize]).is_err());
    assert!(Tensor::allocate(DType::F64, &[usize::MAX, 0]).is_err());
    assert!(TypedTensor::<f64, 2>::eye(huge).is_err());
    assert!(Layout::new(&[2, 2], &[isize::MAX, isize::MAX], 0).is_err());
    assert!(Layout::new(&[2], &[isize::MIN], 0).is_err());
    // A single element can be read as any number of them, as long as they can be counted.
    let one = Tensor::scalar(1.0);
    assert!(one.broadcast_in_dim(&[1 << 31, 1 << 31], &[]).is_ok());
    assert!(one.broadcast_in_dim(&[1 << 32, 1 << 31], &[]).is_err());
    let large = one.broadcast_in_dim(&[1 << 31, 1 << 31], &[]).unwrap();
    assert!(matches!(large.to_contiguous(), Err(Error::OutOfMemory { .. })));
}

#[test]
fn strides_that_mean_nothing_do_no_harm() {
    // The stride of an axis of extent 1 is never multiplied by more than 0.
    let layout = Layout::new(&[1, 2], &[isize::MIN, 1], 0).unwrap();
    assert_eq!(layout.reverse(&[0]).unwrap().index(&[0, 1]).unwrap(), 1);
    let layout = Layout::new(&[1, 1], &[isize::MAX, isize::MAX], 3).unwrap();
    assert_eq!(layout.diagonal(0, 1).unwrap().required_len(), 4);
    assert_eq!(layout.strided_slice(&[0, 0], &[1, 1], &[usize::MAX, 2]).unwrap().offset(), 3);
    assert_eq!(layout.strided_slice(&[1, 0], &[1, 1], &[1, 1]).unwrap().required_len(), 0);
    assert_eq!(layout.broadcast_in_dim(&[5, 1], &[0, 1]).unwrap().required_len(), 4);
    // Without elements the offset is arbitrary.
    let nowhere = Layout::new(&[0], &[1], 1000).unwrap();
    let mut empty = Tensor::scalar(1.0).with_layout(nowhere).unwrap();
    assert!(empty.as_slice::<f64>().unwrap().is_empty());
    assert!(empty.as_mut_slice::<f64>().unwrap().is_empty());
    assert!(empty.to_vec_col_major::<f64>().unwrap().is_empty());
}

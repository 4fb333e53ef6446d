//! Sharing, copy on write, alignment, and memory taken again.

use tenferro_core::{Complex64, DType, Tensor, TensorRead, TypedTensor};

fn address(tensor: &Tensor) -> usize {
    tensor.view().buffer::<f64>().unwrap().as_ptr().addr()
}

#[test]
fn clones_and_views_share_elements() {
    let a = Tensor::full([3, 4], 1.0).unwrap();
    assert!(a.is_unique());
    let views = [
        a.clone(),
        a.transpose(&[1, 0]).unwrap(),
        a.strided_slice(&[1, 1], &[3, 4], &[1, 2]).unwrap(),
        a.reverse(&[0]).unwrap(),
        a.broadcast_in_dim(&[3, 4, 5], &[0, 1]).unwrap(),
        a.reshape(&[12]).unwrap(),
        a.to_contiguous().unwrap(),
        a.with_layout(a.layout().clone()).unwrap(),
    ];
    for view in &views {
        assert_eq!(address(view), address(&a));
        assert!(!view.is_unique());
    }
    drop(views);
    assert!(a.is_unique());
}

#[test]
fn writing_copies_what_is_shared() {
    let mut a = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let before = address(&a);
    a.as_mut_slice::<f64>().unwrap()[0] = 5.0;
    assert_eq!(address(&a), before);

    let b = a.clone();
    a.as_mut_slice::<f64>().unwrap()[0] = 6.0;
    assert_ne!(address(&a), before);
    assert_eq!(b.get::<f64>(&[0, 0]).unwrap(), 5.0);
    assert!(b.is_unique());
}

#[test]
fn writing_to_a_lone_view_keeps_its_memory_if_it_is_contiguous() {
    let a = Tensor::full([2, 3], 0.0).unwrap();
    let mut column = a.strided_slice(&[0, 1], &[2, 2], &[1, 1]).unwrap();
    let mut row = a.strided_slice(&[1, 0], &[2, 3], &[1, 1]).unwrap();
    let before = address(&a);
    drop(a);
    row.as_mut_slice::<f64>().unwrap().copy_from_slice(&[1.0, 2.0, 3.0]);
    assert_ne!(address(&row), before);
    assert!(column.is_unique());
    column.as_mut_slice::<f64>().unwrap().copy_from_slice(&[8.0, 9.0]);
    assert_eq!(address(&column), before);
    assert_eq!(column.to_vec_col_major::<f64>().unwrap(), [8.0, 9.0]);
}

#[test]
fn repeated_elements_are_written_one_by_one() {
    let mut a = Tensor::scalar(1.0).broadcast_in_dim(&[3], &[]).unwrap();
    a.as_mut_slice::<f64>().unwrap()[1] = 2.0;
    assert_eq!(a.as_slice::<f64>().unwrap(), [1.0, 2.0, 1.0]);
}

#[test]
fn elements_are_aligned_to_64_bytes() {
    for len in 0..200 {
        let tensors = [
            Tensor::allocate(DType::F64, &[len]).unwrap(),
            Tensor::from_vec_col_major([len], vec![0.0; len]).unwrap(),
            Tensor::from_fn([len], |_| 1.0).unwrap(),
        ];
        for tensor in tensors {
            assert_eq!(address(&tensor) % 64, 0);
        }
    }
}

#[test]
fn pooled_memory_is_taken_again() {
    let a = Tensor::allocate(DType::F64, &[10, 10]).unwrap();
    assert!(a.byte_capacity() >= 800);
    let before = address(&a);
    let turned = a.transpose(&[1, 0]).unwrap();
    drop(a);
    let a = turned.reuse(DType::C64, &[5, 2]).unwrap();
    assert_eq!((a.dtype(), a.shape()), (DType::C64, &[5, 2][..]));
    assert!(a.layout().is_contiguous());
    assert_eq!(a.as_slice::<Complex64>().unwrap().as_ptr().addr(), before);

    let shared = a.clone();
    let a = a.reuse(DType::F32, &[1]).unwrap_err();
    assert_eq!(a, shared);
    drop(shared);
    let a = a.reuse(DType::F64, &[105]).map_or_else(|kept| kept, |_| panic!("grown"));
    assert!(a.reuse(DType::F64, &[usize::MAX, 2]).is_err());
}

#[test]
fn pooled_memory_holds_valid_bools() {
    let a = Tensor::full([8], -1_i64).unwrap().reuse(DType::Bool, &[64]).unwrap();
    assert_eq!(a.as_slice::<bool>().unwrap(), [false; 64]);
}

#[test]
fn tensors_cross_threads() {
    let a = TypedTensor::from_vec((0..100).collect());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut mine = a.clone();
            scope.spawn(move || {
                mine[[0]] = 7;
                assert_eq!(mine.iter().sum::<i32>(), 4957);
            });
        }
    });
    assert_eq!(a.iter().sum::<i32>(), 4950);
}

#[test]
fn an_argument_is_a_reference_or_a_view() {
    let a = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0]]);
    let reads: [TensorRead<'_>; 4] = [(&a).into(), a.as_dyn().into(), a.view().into(), a.as_dyn().view().into()];
    for read in reads {
        assert_eq!((read.dtype(), read.shape()), (DType::F64, &[2, 2][..]));
        assert_eq!(read.view(), a.as_dyn().view());
    }
}

//! `slice` with `s!`, against indexing by hand.

use proptest::prelude::*;
use tenferro_core::tensor::{Ellipsis, NewAxis, Slice};
use tenferro_core::{Tensor, TensorView, TypedTensor, s};

/// The indices of an axis that a range with a step keeps, by walking the whole axis.
fn kept(extent: usize, start: isize, end: Option<isize>, step: isize) -> Option<Vec<usize>> {
    let from_start = |index: isize| if index < 0 { index + extent as isize } else { index };
    let (start, end) = (from_start(start), end.map_or(extent as isize, from_start));
    if start < 0 || start > end || end > extent as isize || step == 0 {
        return None;
    }
    let mut indices: Vec<usize> = (start as usize..end as usize).collect();
    if step < 0 {
        indices.reverse();
    }
    Some(indices.into_iter().step_by(step.unsigned_abs()).collect())
}

fn numbered(shape: &[usize]) -> Tensor {
    let mut next = 0_i64;
    Tensor::from_fn(shape, |_| {
        next += 1;
        next
    })
    .unwrap()
}

fn entry() -> impl Strategy<Value = Slice> {
    let step = (-3..=3_isize).prop_filter("a step", |&step| step != 0);
    prop_oneof![
        (-3..3_isize).prop_map(Slice::Index),
        (-4..5_isize, prop::option::of(-4..5_isize), step).prop_map(|(start, end, step)| Slice::Range {
            start,
            end,
            step
        }),
        Just(Slice::NewAxis),
        Just(Slice::Ellipsis),
    ]
}

/// Shape and elements that the slices keep, axis by axis, or `None` where they are refused.
fn oracle(view: &TensorView<'_>, slices: &[Slice]) -> Option<(Vec<usize>, Vec<i64>)> {
    let takes_axis = |slice: &&Slice| matches!(slice, Slice::Index(_) | Slice::Range { .. });
    let named = slices.iter().filter(takes_axis).count();
    if slices.iter().filter(|&&slice| slice == Slice::Ellipsis).count() > 1 {
        return None;
    }
    let rest = view.rank().checked_sub(named)?;
    let (mut shape, mut axes) = (Vec::new(), Vec::new());
    let whole = |axes: &mut Vec<Vec<usize>>, shape: &mut Vec<usize>| {
        for _ in 0..rest {
            let extent = view.shape()[axes.len()];
            axes.push((0..extent).collect());
            shape.push(extent);
        }
    };
    for slice in slices {
        let extent = view.shape().get(axes.len()).copied().unwrap_or(0);
        match *slice {
            Slice::NewAxis => shape.push(1),
            Slice::Ellipsis => whole(&mut axes, &mut shape),
            Slice::Index(index) => {
                let index = if index < 0 { index + extent as isize } else { index };
                (0..extent as isize).contains(&index).then_some(())?;
                axes.push(vec![index as usize]);
            }
            Slice::Range { start, end, step } => {
                let indices = kept(extent, start, end, step)?;
                shape.push(indices.len());
                axes.push(indices);
            }
        }
    }
    if !slices.contains(&Slice::Ellipsis) {
        whole(&mut axes, &mut shape);
    }
    let mut indices = vec![vec![]];
    for axis in axes.iter().rev() {
        let prepend = |&i: &usize, index: &Vec<usize>| [&[i][..], index].concat();
        indices = indices.iter().flat_map(|index| axis.iter().map(move |i| prepend(i, index))).collect();
    }
    Some((shape, indices.iter().map(|index| view.get(index).unwrap()).collect()))
}

proptest! {
    #[test]
    fn slices_keep_what_indexing_by_hand_finds(
        shape in prop::collection::vec(0..4_usize, 0..4),
        slices in prop::collection::vec(entry(), 0..5),
        turned: bool,
    ) {
        let tensor = numbered(&shape);
        let tensor = if turned { tensor.t().reverse(&(0..shape.len()).collect::<Vec<_>>()).unwrap() } else { tensor };
        match (oracle(&tensor.view(), &slices), tensor.slice(&slices)) {
            (None, Err(_)) => {}
            (Some((shape, elements)), Ok(part)) => {
                prop_assert_eq!(part.shape(), &shape[..]);
                prop_assert_eq!(part.to_vec_col_major::<i64>().unwrap(), elements);
                prop_assert!(part.layout().required_len() <= tensor.len());
            }
            (expected, actual) => prop_assert!(false, "{:?} is {:?}, expected {:?}", slices, actual, expected),
        }
    }
}

#[test]
fn entries_are_what_they_say() {
    let a = TypedTensor::from([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]);
    let rows = |part: TypedTensor<i32, 2>| part.to_string();
    assert_eq!(rows(a.slice(&s![1.., ..2]).unwrap()), "[[10 11]\n [20 21]]");
    assert_eq!(rows(a.slice(&s![..=0, 1..=2]).unwrap()), "[[1 2]]");
    assert_eq!(rows(a.slice(&s![-1.., -3..-1]).unwrap()), "[[21 22]]");
    assert_eq!(rows(a.slice(&s![..=-2, 2..=-1]).unwrap()), "[[ 2  3]\n [12 13]]");
    assert_eq!(rows(a.slice(&s![..;2, ..;-3]).unwrap()), "[[ 3  0]\n [23 20]]");
    assert_eq!(rows(a.slice(&s![0..2; -1, 1..;2]).unwrap()), "[[11 13]\n [ 1  3]]");
    assert_eq!(rows(a.slice(&s![NewAxis, Ellipsis, -1]).unwrap()), "[[ 3 13 23]]");
    assert_eq!(rows(a.slice(&s![]).unwrap()), a.to_string());
    let (n, i) = (2_usize, -1_isize);
    assert_eq!(rows(a.slice(&s![..n, i..]).unwrap()), "[[ 3]\n [13]]");
    assert_eq!(a.slice::<0>(&s![2, 0]).unwrap().item(), 20);
    assert_eq!(a.view().slice::<1>(&s![.., 1]).unwrap().to_vec_col_major(), [1, 11, 21]);
    assert_eq!(a.slice::<2>(&s![3.., ..]).unwrap().shape(), [0, 4]);
}

#[test]
fn refusals_name_the_axis() {
    let a = TypedTensor::from([[1, 2, 3], [4, 5, 6]]);
    let message = |slices: &[Slice]| a.as_dyn().slice(slices).unwrap_err().to_string();
    assert_eq!(message(&s![2]), "slice: `slices` ask for 2 on axis 0 of shape [2, 3]");
    assert_eq!(message(&s![.., -4]), "slice: `slices` ask for -4 on axis 1 of shape [2, 3]");
    assert_eq!(message(&s![.., 1..4]), "slice: `slices` ask for 1..4 on axis 1 of shape [2, 3]");
    assert_eq!(message(&s![3..]), "slice: `slices` ask for 3.. on axis 0 of shape [2, 3]");
    assert_eq!(message(&s![usize::MAX]), format!("slice: `slices` ask for {} on axis 0 of shape [2, 3]", isize::MAX));
    assert_eq!(message(&s![..;0]), "slice: `slices` have step 0 on axis 0");
    assert_eq!(message(&s![0, 0, 0]), "slice: `slices` has rank 3, expected 2");
    assert_eq!(message(&s![Ellipsis, Ellipsis]), "slice: `slices` have more than one ellipsis");
    assert_eq!(a.slice::<2>(&s![0]).unwrap_err().to_string(), "slice: `result` has rank 1, expected 2");
    assert!(a.slice::<2>(&s![..;isize::MIN, ..;isize::MAX]).is_ok());
}

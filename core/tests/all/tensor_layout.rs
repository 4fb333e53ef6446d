//! The algebra of views against an array that is rebuilt, element by element, at every step.

use proptest::prelude::*;
use tenferro_core::{Layout, Tensor};

/// The oracle: a shape, and the elements in column-major order.
#[derive(Debug, Clone, PartialEq)]
struct Naive {
    shape: Vec<usize>,
    data: Vec<i64>,
}

impl Naive {
    fn from_fn(shape: &[usize], element: impl Fn(&[usize]) -> i64) -> Naive {
        let data = indices(shape).map(|index| element(&index)).collect();
        Naive { shape: shape.to_vec(), data }
    }

    fn get(&self, index: &[usize]) -> i64 {
        let axes = index.iter().zip(&self.shape).rev();
        self.data[axes.fold(0, |position, (&i, &n)| position * n + i)]
    }

    fn apply(&self, step: &Step) -> Naive {
        match step {
            Step::Transpose(axes) => {
                let shape: Vec<usize> = axes.iter().map(|&axis| self.shape[axis]).collect();
                Naive::from_fn(&shape, |index| {
                    let mut source = vec![0; index.len()];
                    for (&i, &axis) in index.iter().zip(axes) {
                        source[axis] = i;
                    }
                    self.get(&source)
                })
            }
            Step::Slice { start, limit, stride } => {
                let extent = |axis: usize| (start[axis]..limit[axis]).step_by(stride[axis]).count();
                let shape: Vec<usize> = (0..self.shape.len()).map(extent).collect();
                Naive::from_fn(&shape, |index| {
                    let along = |axis: usize| start[axis] + index[axis] * stride[axis];
                    self.get(&(0..index.len()).map(along).collect::<Vec<_>>())
                })
            }
            Step::Reverse(axes) => Naive::from_fn(&self.shape, |index| {
                let turned = |axis: usize| match axes.contains(&axis) {
                    true => self.shape[axis] - 1 - index[axis],
                    false => index[axis],
                };
                self.get(&(0..index.len()).map(turned).collect::<Vec<_>>())
            }),
            Step::Broadcast { shape, axes } => Naive::from_fn(shape, |index| {
                let own = |axis: usize| match self.shape[axis] {
                    1 => 0,
                    _ => index[axes[axis]],
                };
                self.get(&(0..axes.len()).map(own).collect::<Vec<_>>())
            }),
            Step::Diagonal(a, b) => {
                let others: Vec<usize> = (0..self.shape.len()).filter(|axis| axis != a && axis != b).collect();
                let mut shape: Vec<usize> = others.iter().map(|&axis| self.shape[axis]).collect();
                shape.push(self.shape[*a]);
                Naive::from_fn(&shape, |index| {
                    let mut source = vec![index[others.len()]; self.shape.len()];
                    for (&axis, &i) in others.iter().zip(index) {
                        source[axis] = i;
                    }
                    self.get(&source)
                })
            }
            Step::Reshape(shape) => Naive { shape: shape.clone(), data: self.data.clone() },
        }
    }
}

/// The indices of a shape in column-major order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..shape.iter().product()).map(|number: usize| {
        let cut = |rest: &mut usize, &extent: &usize| {
            let index = *rest % extent;
            *rest /= extent;
            Some(index)
        };
        shape.iter().scan(number, cut).collect()
    })
}

#[derive(Debug, Clone)]
enum Step {
    Transpose(Vec<usize>),
    Slice { start: Vec<usize>, limit: Vec<usize>, stride: Vec<usize> },
    Reverse(Vec<usize>),
    Broadcast { shape: Vec<usize>, axes: Vec<usize> },
    Diagonal(usize, usize),
    Reshape(Vec<usize>),
}

impl Step {
    /// A step that fits the shape, made from arbitrary numbers.
    fn new(shape: &[usize], mut random: impl FnMut(usize) -> usize) -> Step {
        let rank = shape.len();
        let mut shuffled = |n: usize| {
            let mut axes: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                axes.swap(i, random(i + 1));
            }
            axes
        };
        let axes = shuffled(rank);
        let mut targets = shuffled(rank + 2);
        match random(6) {
            0 => Step::Transpose(axes),
            1 => {
                let start: Vec<usize> = shape.iter().map(|&n| random(n + 1)).collect();
                let limit = shape.iter().zip(&start).map(|(&n, &s)| s + random(n - s + 1)).collect();
                let stride = shape.iter().map(|_| 1 + random(3)).collect();
                Step::Slice { start, limit, stride }
            }
            2 => Step::Reverse(axes[..random(rank + 1)].to_vec()),
            3 if rank < 5 => {
                targets.truncate(rank);
                let mut target: Vec<usize> = (0..rank + 2).map(|_| random(4)).collect();
                for (axis, &t) in targets.iter().enumerate() {
                    if shape[axis] != 1 {
                        target[t] = shape[axis];
                    }
                }
                Step::Broadcast { shape: target, axes: targets }
            }
            4 => {
                let pairs = axes.iter().flat_map(|&a| axes.iter().map(move |&b| (a, b)));
                match pairs.into_iter().find(|&(a, b)| a != b && shape[a] == shape[b]) {
                    Some((a, b)) => Step::Diagonal(a, b),
                    None => Step::Transpose(axes),
                }
            }
            _ => Step::Reshape(regrouped(shape, random)),
        }
    }
}

/// A shape with as many elements, its factors grouped at random and axes of extent 1 strewn in.
fn regrouped(shape: &[usize], mut random: impl FnMut(usize) -> usize) -> Vec<usize> {
    let mut grouped = vec![1];
    for &extent in shape {
        let mut rest = extent;
        for factor in [2, 3, 5] {
            while rest > 1 && rest % factor == 0 {
                rest /= factor;
                match random(2) {
                    0 => grouped.push(factor),
                    _ => *grouped.last_mut().unwrap() *= factor,
                }
            }
        }
        grouped.push(rest);
    }
    grouped.retain(|&extent| extent != 1 || random(4) == 0);
    grouped
}

fn apply(tensor: &Tensor, step: &Step) -> Tensor {
    match step {
        Step::Transpose(axes) => tensor.transpose(axes),
        Step::Slice { start, limit, stride } => tensor.strided_slice(start, limit, stride),
        Step::Reverse(axes) => tensor.reverse(axes),
        Step::Broadcast { shape, axes } => tensor.broadcast_in_dim(shape, axes),
        Step::Diagonal(a, b) => tensor.diagonal(*a, *b),
        Step::Reshape(shape) => tensor.reshape(shape),
    }
    .unwrap()
}

fn check(tensor: &Tensor, naive: &Naive) {
    assert_eq!(tensor.shape(), naive.shape);
    assert_eq!(tensor.to_vec_col_major::<i64>().unwrap(), naive.data);
    assert!(tensor.view().iter::<i64>().unwrap().eq(naive.data.iter().copied()));
    for index in indices(&naive.shape) {
        assert_eq!(tensor.get::<i64>(&index).unwrap(), naive.get(&index));
    }
    let reversed: Vec<usize> = (0..naive.shape.len()).rev().collect();
    let row_major = naive.apply(&Step::Transpose(reversed));
    assert_eq!(tensor.to_vec_row_major::<i64>().unwrap(), row_major.data);
    check_layout(tensor.layout());
}

fn check_layout(layout: &Layout) {
    let positions: Vec<usize> = indices(layout.shape()).map(|index| layout.index(&index).unwrap()).collect();
    assert_eq!(layout.len(), positions.len());
    assert_eq!(layout.is_empty(), positions.is_empty());
    assert_eq!(layout.offsets().len(), positions.len());
    assert!(layout.offsets().eq(positions.iter().copied()));
    assert_eq!(layout.required_len(), positions.iter().max().map_or(0, |last| last + 1));
    assert_eq!(layout.is_contiguous(), positions.windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert_eq!(&Layout::new(layout.shape(), layout.strides(), layout.offset()).unwrap(), layout);
}

/// Whether some strides reach the positions of `layout` in the order of another shape.
fn reshape_is_a_view(layout: &Layout, shape: &[usize]) -> bool {
    let positions: Vec<usize> = layout.offsets().collect();
    let Some(&first) = positions.first() else {
        return true;
    };
    let mut strides = Vec::new();
    let mut neighbour = 1;
    for &extent in shape {
        let second = if extent > 1 { positions[neighbour] } else { first };
        strides.push(second as isize - first as isize);
        neighbour *= extent;
    }
    indices(shape).zip(&positions).all(|(index, &position)| {
        let distance: isize = index.iter().zip(&strides).map(|(&i, s)| i as isize * s).sum();
        first as isize + distance == position as isize
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn views_of_views_are_those_of_the_naive_array(
        shape in prop::collection::vec(0_usize..5, 0..5),
        numbers in prop::collection::vec(any::<u32>(), 64),
    ) {
        let mut numbers = numbers.into_iter().cycle();
        let mut naive = Naive::from_fn(&shape, |_| 0);
        naive.data = (0..naive.data.len() as i64).collect();
        let mut tensor = Tensor::from_vec_col_major(&shape, naive.data.clone()).unwrap();
        for _ in 0..5 {
            let step = Step::new(&naive.shape, |below| numbers.next().unwrap() as usize % below);
            let next = naive.apply(&step);
            if next.data.len() > 500 {
                break;
            }
            if let Step::Reshape(shape) = &step {
                let view = tensor.layout().reshape(shape).unwrap();
                prop_assert_eq!(view.is_some(), reshape_is_a_view(tensor.layout(), shape));
                prop_assert_eq!(tensor.view().reshape(shape).unwrap().is_some(), view.is_some());
            }
            (tensor, naive) = (apply(&tensor, &step), next);
            check(&tensor, &naive);
        }
        let compact = tensor.to_contiguous().unwrap();
        prop_assert!(compact.layout().is_contiguous());
        check(&compact, &naive);
        tensor.as_mut_slice::<i64>().unwrap().reverse();
        naive.data.reverse();
        check(&tensor, &naive);
    }

    #[test]
    fn arbitrary_layouts_are_refused_or_sound(
        shape in prop::collection::vec(0_usize..4, 3),
        strides in prop::collection::vec(-7_isize..8, 3),
        offset in 0_usize..40,
    ) {
        let reach = indices(&shape).map(|index| {
            offset as isize + index.iter().zip(&strides).map(|(&i, s)| i as isize * s).sum::<isize>()
        });
        let (lowest, highest) = reach.fold((0, -1), |(low, high), position| (low.min(position), high.max(position)));
        match Layout::new(&shape, &strides, offset) {
            Err(_) => prop_assert!(lowest < 0),
            Ok(layout) => {
                prop_assert!(lowest == 0);
                check_layout(&layout);
                let tensor = Tensor::from_vec_col_major([40], (0..40).collect::<Vec<i32>>()).unwrap();
                prop_assert_eq!(tensor.with_layout(layout).is_ok(), highest < 40);
            }
        }
    }
}

#[test]
fn strides_of_a_compact_layout() {
    assert_eq!(Layout::col_major(&[2, 3, 4]).unwrap().strides(), [1, 2, 6]);
    assert_eq!(Layout::row_major(&[2, 3, 4]).unwrap().strides(), [12, 4, 1]);
    assert_eq!(Layout::col_major(&[]).unwrap().len(), 1);
    assert_eq!(Layout::col_major(&[3, 0, 2]).unwrap().len(), 0);
}

#[test]
fn contiguity_ignores_axes_of_extent_1_and_empty_layouts() {
    assert!(Layout::new(&[2, 1, 3], &[1, 77, 2], 5).unwrap().is_contiguous());
    assert!(Layout::new(&[2, 0], &[9, -9], 5).unwrap().is_contiguous());
    assert!(!Layout::new(&[2, 3], &[1, 3], 0).unwrap().is_contiguous());
    assert!(!Layout::new(&[2], &[0], 0).unwrap().is_contiguous());
}

#[test]
fn small_ranks_are_held_in_place() {
    let layout = Layout::col_major(&[2; 6]).unwrap().transpose(&[5, 4, 3, 2, 1, 0]).unwrap();
    assert!(!tenferro_core::Shape::from_slice(layout.shape()).spilled());
}

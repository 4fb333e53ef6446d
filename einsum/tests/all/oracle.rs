//! Two plain evaluations: one loop over all labels, and a contraction tree followed step by step.

use tenferro_core::Complex64;
use tenferro_einsum::{ContractionTree, EinsumOp};

/// Column-major; all dtypes are computed in complex doubles, exact for the integers that occur.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    pub data: Vec<Complex64>,
}

impl Array {
    pub fn new(shape: &[usize], data: &[f64]) -> Self {
        assert_eq!(data.len(), shape.iter().product::<usize>());
        Self { shape: shape.to_vec(), data: data.iter().map(|&x| x.into()).collect() }
    }

    pub fn from_fn(shape: &[usize], mut f: impl FnMut(usize) -> Complex64) -> Self {
        Self { shape: shape.to_vec(), data: (0..shape.iter().product()).map(&mut f).collect() }
    }

    pub fn zeros(shape: &[usize]) -> Self {
        Self::from_fn(shape, |_| 0.0.into())
    }

    pub fn strides(&self) -> Vec<isize> {
        let mut stride = 1;
        self.shape
            .iter()
            .map(|&extent| {
                let this = stride;
                stride *= extent as isize;
                this
            })
            .collect()
    }

    pub fn assert_close(&self, other: &Array, rtol: f64, atol: f64, what: &str) {
        assert_eq!(self.shape, other.shape, "{what}");
        for (i, (a, b)) in self.data.iter().zip(&other.data).enumerate() {
            assert!((a - b).norm() <= atol + rtol * b.norm(), "{what}: entry {i}: {a} against {b}");
        }
    }
}

/// The einsum by its definition.
pub fn definition(op: &EinsumOp, operands: &[&Array]) -> Array {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape.as_slice()).collect();
    let extents = op.extents(&shapes).unwrap();
    let mut result = Array::zeros(&op.output.iter().map(|&label| extents[label as usize]).collect::<Vec<_>>());
    let along = |axes: &[u32], strides: &[isize], stretches: &dyn Fn(usize) -> bool| -> Vec<isize> {
        let mut total = vec![0; extents.len()];
        for (axis, &label) in axes.iter().enumerate().filter(|&(axis, _)| !stretches(axis)) {
            total[label as usize] += strides[axis];
        }
        total
    };
    let read: Vec<Vec<isize>> = operands
        .iter()
        .enumerate()
        .map(|(i, operand)| along(&op.inputs[i], &operand.strides(), &|axis| op.stretches(i, axis)))
        .collect();
    let write = along(&op.output, &result.strides(), &|_| false);
    let data: Vec<&[Complex64]> = operands.iter().map(|operand| operand.data.as_slice()).collect();
    accumulate(&extents, &data, &read, &write, &mut result.data);
    result
}

/// `tree` followed to the letter, slice by slice, checking what its documentation promises of every step.
pub fn follow(op: &EinsumOp, tree: &ContractionTree, operands: &[&Array]) -> Array {
    let extent = |label: &u32| tree.extents()[*label as usize];
    let mut output = Array::zeros(&op.output.iter().map(extent).collect::<Vec<_>>());
    let slices: Vec<usize> = tree.slices().iter().map(|slice| slice.extent).collect();
    for slice in tree.slices() {
        assert_eq!((slice.extent, slice.is_open), (extent(&slice.label), op.output.contains(&slice.label)));
    }
    let step_flops: f64 = tree.steps().iter().map(|step| step.cost).sum();
    assert_eq!(tree.cost(), step_flops * slices.iter().product::<usize>() as f64);
    let mut values = vec![0; slices.len()];
    if slices.contains(&0) {
        return output;
    }
    loop {
        follow_slice(tree, operands, &values, &mut output);
        let Some(axis) = (0..values.len()).find(|&axis| values[axis] + 1 < slices[axis]) else { return output };
        values[axis] += 1;
        values[..axis].fill(0);
    }
}

fn follow_slice(tree: &ContractionTree, operands: &[&Array], values: &[usize], output: &mut Array) {
    let extent = |label: &u32| tree.extents()[*label as usize];
    let mut results: Vec<Option<Array>> = Vec::new();
    for (index, step) in tree.steps().iter().enumerate() {
        check_step(step);
        assert!(tree.slices().iter().all(|slice| !step.involved().contains(&slice.label)));
        let mut labels = step.labels.to_vec();
        for operand in &step.operands {
            labels.extend(operand.labels.iter().filter(|l| !step.labels.contains(l)).copied());
        }
        labels.sort_unstable();
        labels.dedup();
        // Each with its strides per label and the place where it starts.
        let arrays: Vec<(Array, Vec<isize>, usize)> = step
            .operands
            .iter()
            .map(|operand| match operand.slot.checked_sub(operands.len()) {
                None => {
                    let access = &tree.operands()[operand.slot];
                    assert_eq!(access.labels(), operand.labels.as_slice());
                    let array = operands[operand.slot].clone();
                    let strides = access.strides(&array.strides()).to_vec();
                    let start = access.offset(&array.strides(), values) as usize;
                    (array, strides, start)
                }
                Some(step) => {
                    let array = results[step].take().expect("every intermediate is used once");
                    let strides = array.strides();
                    (array, strides, 0)
                }
            })
            .collect();
        let mut result = Array::zeros(&step.labels.iter().map(extent).collect::<Vec<_>>());
        let spread = |own: &[u32], strides: &[isize]| -> Vec<isize> {
            labels.iter().map(|l| own.iter().position(|o| o == l).map_or(0, |at| strides[at])).collect()
        };
        let read: Vec<Vec<isize>> =
            step.operands.iter().zip(&arrays).map(|(o, (_, strides, _))| spread(&o.labels, strides)).collect();
        let write = spread(&step.labels, &result.strides());
        let extents: Vec<usize> = labels.iter().map(extent).collect();
        let read_from: Vec<&[Complex64]> =
            arrays.iter().map(|(array, _, start)| array.data.get(*start..).unwrap_or(&[])).collect();
        accumulate(&extents, &read_from, &read, &write, &mut result.data);
        assert_eq!(step.cost, extents.iter().map(|&e| e as f64).product::<f64>());
        assert_eq!(step.size, result.data.len() as f64);
        assert!(index + 1 < tree.steps().len() || step.labels.as_slice() == tree.output().labels());
        results.push(Some(result));
    }
    let last = results.pop().flatten().unwrap();
    assert!(results.iter().all(Option::is_none), "every intermediate is used");
    let write = tree.output().strides(&output.strides());
    let start = tree.output().offset(&output.strides(), values) as usize;
    let target = output.data.get_mut(start..).unwrap_or(&mut []);
    accumulate(&last.shape, &[&last.data], &[last.strides()], &write, target);
}

fn check_step(step: &tenferro_einsum::Step) {
    let on = |label: &u32| step.operands.iter().filter(|operand| operand.labels.contains(label)).count();
    for operand in &step.operands {
        let mut labels = operand.labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), operand.labels.len(), "operand labels are distinct");
        if step.operands.len() == 2 {
            assert!(operand.labels.iter().all(|l| on(l) == 2 || step.labels.contains(l)), "no one-sided sums");
        }
    }
    assert!(step.labels.iter().all(|l| on(l) > 0));
}

/// `target[write] += product of operands[read]` over all values of the labels.
fn accumulate(
    extents: &[usize],
    operands: &[&[Complex64]],
    read: &[Vec<isize>],
    write: &[isize],
    target: &mut [Complex64],
) {
    if extents.contains(&0) {
        return;
    }
    let mut index = vec![0; extents.len()];
    let at = |index: &[usize], strides: &[isize]| -> usize {
        index.iter().zip(strides).map(|(&i, &s)| i * s as usize).sum()
    };
    loop {
        let product: Complex64 = operands.iter().zip(read).map(|(data, strides)| data[at(&index, strides)]).product();
        target[at(&index, write)] += product;
        let Some(axis) = (0..index.len()).find(|&axis| index[axis] + 1 < extents[axis]) else { return };
        index[axis] += 1;
        index[..axis].fill(0);
    }
}

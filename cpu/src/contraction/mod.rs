//! Products of two operands, summed over the labels that the result lacks.
//!
//! Labels fall into four groups: batch (on both operands and the result), summed (on both operands only), left free and
//! right free (on one operand and the result). Each group whose axes lie one after the other is one axis of a matrix.

mod across;
mod direct;
mod loops;
mod matrix;
mod multiply;
mod vector;

use smallvec::SmallVec;
use tenferro_core::DType;
use tenferro_runtime::Result;
use tenferro_runtime::reference::scalar::Arithmetic;

use crate::memory::BufferPool;
use crate::nest::{Axes, Axis, points};
use crate::region::{self, Element, Nest};
use crate::workers::Workers;

use across::Across;
use loops::Loops;
use matrix::Matrix;

/// Strides by label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    pub labels: SmallVec<[u32; 6]>,
    pub strides: SmallVec<[isize; 6]>,
}

impl Strided {
    fn stride(&self, label: u32) -> Option<isize> {
        self.labels.iter().position(|&l| l == label).map(|axis| self.strides[axis])
    }
}

/// The operands of a contraction, by their place in strides.
pub(crate) const A: usize = 0;
pub(crate) const B: usize = 1;
pub(crate) const C: usize = 2;

/// The axes of a contraction, in four groups. An operand that lacks an axis has stride 0 there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    pub batch: Axes<3>,
    pub left: Axes<3>,
    pub right: Axes<3>,
    pub summed: Axes<3>,
}

impl Groups {
    /// Axes of extent 1 are left out. Every label of `c` is on `a` or `b`; a label of one of these alone is on `c`.
    fn new(extents: &[usize], a: &Strided, b: &Strided, c: &Strided) -> Self {
        let mut groups = Groups::default();
        let only_b = b.labels.iter().filter(|label| !a.labels.contains(label));
        for &label in a.labels.iter().chain(only_b) {
            let strides = [a.stride(label), b.stride(label), c.stride(label)];
            let extent = extents[label as usize];
            if extent == 1 {
                continue;
            }
            let group = match strides {
                [Some(_), Some(_), Some(_)] => &mut groups.batch,
                [Some(_), Some(_), None] => &mut groups.summed,
                [Some(_), None, _] => &mut groups.left,
                _ => &mut groups.right,
            };
            group.push(Axis { extent, strides: strides.map(Option::unwrap_or_default) });
        }
        groups
    }

    /// The axes of the result, its shortest stride first.
    fn result(&self) -> Axes<3> {
        let mut axes: Axes<3> = self.batch.iter().chain(&self.left).chain(&self.right).copied().collect();
        axes.sort_by_key(|axis| axis.strides[C]);
        axes
    }
}

/// How a contraction of known strides is carried out.
#[derive(Clone, Debug)]
pub(crate) enum Contraction {
    /// Nothing is summed, because there is nothing to sum over.
    Zero,
    /// No label is summed: an elementwise product over the axes of the result.
    Product(Box<Nest<2>>),
    /// Plain loops: integers, and what is too small or too thin for the matrix kernel.
    Loops(Box<Loops>),
    /// Small matrix products along a contiguous batch.
    Across(Box<Across>),
    /// A matrix product for each point of the batch.
    Matrix(Box<Matrix>),
}

impl Contraction {
    /// Chooses for operands of this dtype; the result is compact in the order of its labels.
    pub fn plan(dtype: DType, extents: &[usize], a: &Strided, b: &Strided, c: &Strided) -> Self {
        let groups = Groups::new(extents, a, b, c);
        if points(&groups.summed) == 0 {
            return Self::Zero;
        }
        let result = groups.result();
        if groups.summed.is_empty() {
            let axis = |axis: &Axis<3>| Axis { extent: axis.extent, strides: [axis.strides[A], axis.strides[B]] };
            return Self::Product(Box::new(Nest::new(result.iter().map(axis).collect())));
        }
        if let Some(across) = Across::plan(dtype, &groups) {
            return Self::Across(Box::new(across));
        }
        if multiply::has_kernel(dtype) && Matrix::pays(&groups) {
            return Self::Matrix(Box::new(Matrix::plan(dtype, groups)));
        }
        Self::Loops(Box::new(Loops::plan(&result, &groups.summed)))
    }

    /// Computes the compact result from operands that start at a position of their buffers.
    pub fn run<T: Element + Arithmetic>(
        &self,
        workers: &Workers,
        pool: &mut BufferPool,
        a: (&[T], usize),
        b: (&[T], usize),
        c: &mut [T],
    ) -> Result<()> {
        if c.is_empty() {
            return Ok(());
        }
        match self {
            Self::Zero => c.fill(T::ZERO),
            Self::Product(nest) => {
                let sources = [T::wrap(a.0), T::wrap(b.0)];
                let starts = [a.1 as isize, b.1 as isize];
                nest.run(workers, region::product::<T>(), sources, starts, T::wrap_mut(c));
            }
            Self::Loops(loops) => loops.run(workers, a, b, c),
            Self::Across(across) => across.run(workers, a, b, c),
            Self::Matrix(matrix) => matrix.run(workers, pool, a, b, c)?,
        }
        Ok(())
    }
}

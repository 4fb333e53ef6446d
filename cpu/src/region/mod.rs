//! Elementwise work, tile by tile.
//!
//! A tile fits the first cache. Operands that are contiguous over a tile are read in place; those that are not are
//! first gathered, so that a kernel is one plain loop over slices, whatever the strides.

mod elements;
mod kernels;

use smallvec::SmallVec;
use tenferro_core::Elements;

pub(crate) use elements::{Element, ElementsMut, Scratch};
pub(crate) use kernels::{Kernel, kernel, product};

use crate::nest::{Axes, Axis, Walk, advance, fuse, operand, points, tile};
use crate::workers::Workers;
use elements::Buffer;

/// Elements of a tile.
pub(crate) const TILE: usize = 1024;
/// The side of a tile that some operand walks across.
const SIDE: usize = 32;
/// Elements of one block of work.
const BLOCK: usize = 1 << 15;
/// Fewer elements are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// Operands of known layouts, walked together in the order of a compact output. All that does not depend on where the
/// operands start is decided here.
#[derive(Clone, Debug)]
pub(crate) struct Nest<const N: usize> {
    axes: Axes<N>,
    len: usize,
    /// Whether every operand is one run of elements.
    is_direct: bool,
    across: Option<usize>,
}

impl<const N: usize> Nest<N> {
    /// The first axis of the output comes first; strides are those of the operands.
    pub fn new(axes: Axes<N>) -> Self {
        let len = points(&axes);
        let axes = fuse(axes);
        let is_direct = match axes[..] {
            [] => true,
            [axis] => axis.strides == [1; N],
            _ => false,
        };
        let across = axis_across(&axes);
        Self { axes, len, is_direct, across }
    }

    /// Runs a kernel on operands whose first elements are at `starts`.
    #[inline]
    pub fn run(
        &self,
        workers: &Workers,
        kernel: Kernel,
        sources: [Elements<'_>; N],
        starts: [isize; N],
        output: ElementsMut<'_>,
    ) {
        if self.len == 0 {
            return;
        }
        if self.is_direct && self.len < PARALLEL {
            let operands = std::array::from_fn::<_, N, _>(|i| sources[i].range(starts[i] as usize, self.len));
            return kernel(output, &operands);
        }
        self.run_blocks(workers, Loops { kernel, sources, across: self.across }, starts, output);
    }

    fn run_blocks(&self, workers: &Workers, loops: Loops<'_, N>, starts: [isize; N], output: ElementsMut<'_>) {
        let (axes, across) = (&self.axes, self.across);
        // Blocks end at multiples of `steps` along axis `last`; the axes beyond are walked one by one.
        let (count, _) = tile(axes, BLOCK);
        let count = count.max(across.map_or(0, |axis| axis + 1));
        if self.len < PARALLEL || count == 0 {
            return loops.run(axes, starts, output);
        }
        let (inner, outer) = axes.split_at(count);
        let last = inner[count - 1];
        let inside = points(&inner[..count - 1]);
        let steps = (BLOCK / inside).max(1);
        let steps = if across == Some(count - 1) { steps.next_multiple_of(SIDE) } else { steps };
        let steps = steps.min(last.extent);
        let slices = last.extent.div_ceil(steps);
        let start = |block: usize| (block / slices * last.extent + (block % slices) * steps) * inside;
        workers.run(true, |split| {
            split.for_each_part(output, slices * points(outer), &start, &|block, part: ElementsMut<'_>| {
                let mut starts = Walk::new(outer, starts, block / slices).positions;
                let first = block % slices * steps;
                advance(&mut starts, last.strides, first as isize);
                let mut axes = Axes::from_slice(inner);
                axes[count - 1].extent = steps.min(last.extent - first);
                loops.run(&axes, starts, part);
            });
        });
    }
}

/// The axis along which some operand is contiguous that is not contiguous along the first.
fn axis_across<const N: usize>(axes: &[Axis<N>]) -> Option<usize> {
    let first = axes.first()?;
    (first.extent > SIDE).then_some(())?;
    (0..N).filter(|&i| first.strides[i].unsigned_abs() > 1).find_map(|i| {
        let shortest = (1..axes.len())
            .filter(|&axis| axes[axis].strides[i] != 0)
            .min_by_key(|&axis| axes[axis].strides[i].unsigned_abs())?;
        (axes[shortest].strides[i].unsigned_abs() < first.strides[i].unsigned_abs()).then_some(shortest)
    })
}

/// How a kernel sees one operand's part of a tile.
enum Source {
    /// In place.
    Direct,
    /// Gathered.
    Gathered(Buffer),
    /// One element, repeated; filled for this position.
    Repeated(Buffer, Option<isize>),
}

struct Loops<'a, const N: usize> {
    kernel: Kernel,
    sources: [Elements<'a>; N],
    across: Option<usize>,
}

impl<const N: usize> Loops<'_, N> {
    /// Runs the kernel over a nest whose points are all of `output`, in order.
    fn run(&self, axes: &[Axis<N>], starts: [isize; N], mut output: ElementsMut<'_>) {
        match self.across {
            Some(across) => self.run_across(axes, across, starts, output),
            None => {
                let (count, steps) = tile(axes, TILE);
                let (inner, outer) = axes.split_at(count);
                let mut walk = Walk::new(outer, starts, 0);
                let mut sources = self.sources(inner, TILE.min(output.len()));
                let mut written = 0;
                for _ in 0..points(outer) {
                    for_each_step(inner.last(), steps, |extent, first| {
                        let mut tile = Axes::<N>::from_slice(inner);
                        let mut positions = walk.positions;
                        if let Some(last) = tile.last_mut() {
                            last.extent = extent;
                            advance(&mut positions, last.strides, first as isize);
                        }
                        let len = points(&tile);
                        self.fill(&mut sources, &tile, positions, len);
                        self.call(&sources, positions, 0, output.range(written, len));
                        written += len;
                    });
                    walk.step();
                }
            }
        }
    }

    /// The same in square tiles along the first axis and the axis `across`.
    fn run_across(&self, axes: &[Axis<N>], across: usize, starts: [isize; N], mut output: ElementsMut<'_>) {
        // The output is one more operand, to know where a tile's rows lie in it.
        let mut sizes: SmallVec<[usize; 6]> = SmallVec::new();
        axes.iter().fold(1, |size, axis| {
            sizes.push(size);
            size * axis.extent
        });
        let mut rest = Axes::<N>::from_slice(axes);
        let mut rest_sizes = sizes.clone();
        for axis in [across, 0] {
            rest.remove(axis);
            rest_sizes.remove(axis);
        }
        let (row, column) = (axes[0], axes[across]);
        let square = [row, column].map(|axis| Axis { extent: axis.extent.min(SIDE), ..axis });
        let mut sources = self.sources(&square, SIDE * SIDE);
        for point in 0..points(&rest) {
            let outer = Walk::new(&rest, starts, point).positions;
            let output_axes: Axes<1> = rest
                .iter()
                .zip(&rest_sizes)
                .map(|(axis, &size)| Axis { extent: axis.extent, strides: [size as isize] })
                .collect();
            let offset = Walk::new(&output_axes, [0], point).positions[0] as usize;
            for j in (0..column.extent).step_by(SIDE) {
                for i in (0..row.extent).step_by(SIDE) {
                    let mut positions = outer;
                    advance(&mut positions, row.strides, i as isize);
                    advance(&mut positions, column.strides, j as isize);
                    let rows = SIDE.min(row.extent - i);
                    let columns = SIDE.min(column.extent - j);
                    let tile = [Axis { extent: rows, ..row }, Axis { extent: columns, ..column }];
                    self.fill(&mut sources, &tile, positions, rows * columns);
                    for c in 0..columns {
                        let written = offset + i + (j + c) * sizes[across];
                        self.call(&sources, positions, c * rows, output.range(written, rows));
                        advance(&mut positions, column.strides, 1);
                    }
                }
            }
        }
    }

    /// How each operand is read over tiles of these axes.
    fn sources(&self, axes: &[Axis<N>], len: usize) -> [Source; N] {
        std::array::from_fn(|i| {
            let strides = fuse(operand(axes, i));
            let buffer = || Buffer::new(self.sources[i].dtype(), len);
            let in_rows = self.across.is_some() && axes[0].strides[i] == 1;
            match strides[..] {
                [] => Source::Direct,
                [Axis { strides: [1], .. }] => Source::Direct,
                _ if in_rows => Source::Direct,
                [Axis { strides: [0], .. }] => Source::Repeated(buffer(), None),
                _ => Source::Gathered(buffer()),
            }
        })
    }

    /// Brings a tile's elements to the buffers.
    fn fill(&self, sources: &mut [Source; N], tile: &[Axis<N>], positions: [isize; N], len: usize) {
        for (i, source) in sources.iter_mut().enumerate() {
            match source {
                Source::Direct => {}
                Source::Gathered(buffer) => {
                    let axes: Axes<1> = operand(tile, i).collect();
                    buffer.gather(self.sources[i], positions[i], &axes, len);
                }
                Source::Repeated(_, filled) if *filled == Some(positions[i]) => {}
                Source::Repeated(buffer, filled) => {
                    let whole = buffer.len();
                    buffer.gather(self.sources[i], positions[i], &[Axis { extent: whole, strides: [0] }], whole);
                    *filled = Some(positions[i]);
                }
            }
        }
    }

    /// Runs the kernel on `output`, which starts `skip` elements into the tile.
    fn call(&self, sources: &[Source; N], positions: [isize; N], skip: usize, output: ElementsMut<'_>) {
        let len = output.len();
        let inputs: [Elements<'_>; N] = std::array::from_fn(|i| match &sources[i] {
            Source::Direct => self.sources[i].range(positions[i] as usize, len),
            Source::Gathered(buffer) => buffer.range(skip, len),
            Source::Repeated(buffer, _) => buffer.range(0, len),
        });
        (self.kernel)(output, &inputs);
    }
}

/// Runs `work(extent, first)` for each part of an axis, or once if there is none.
fn for_each_step<const N: usize>(axis: Option<&Axis<N>>, steps: usize, mut work: impl FnMut(usize, usize)) {
    match axis {
        None => work(1, 0),
        Some(axis) => {
            for first in (0..axis.extent).step_by(steps) {
                work(steps.min(axis.extent - first), first);
            }
        }
    }
}

//! The cheapest tree over a few tensors, by dynamic programming over subsets.
//!
//! Selinger et al., "Access path selection in a relational database management system" (1979), for joins; Pfeifer,
//! Haegeman and Verstraete, "Faster identification of optimal contraction sequences for tensor networks" (2014).
//! A bound known beforehand limits the search, so outer products are tried where they can pay and nowhere else.

use crate::objective::{Objective, StepCost};

/// A set of the tensors.
pub(super) type Set = u32;

/// Beyond this, products of all extents are taken through their logarithms.
const LARGE: f64 = 1e280;

/// The share by which a tree must be better than another: below are rounding errors.
const GAIN: f64 = 1e-9;

/// What a tree that is to be bettered is worth.
#[derive(Clone, Copy)]
pub(super) struct Worth {
    /// The sum of the shares in the objective.
    pub shares: f64,
    pub flops: f64,
    /// The elements of the largest result.
    pub peak: f64,
}

/// What a search makes small.
#[derive(Clone, Copy)]
enum Least {
    /// The sum over the steps of their shares in an objective.
    Sum(Objective),
    /// The largest result.
    Peak,
}

/// Labels with the same holders; what is `open` is wanted outside too.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub holders: Set,
    pub open: bool,
    pub extent: f64,
}

/// The work space of a search, kept between searches of the same number of tensors.
#[derive(Default)]
pub(super) struct Exact {
    /// Per set, the product of the extents of edges that touch it, and one over that of edges inside it which nothing
    /// outside wants; or the logarithms of both.
    touching: Vec<f64>,
    inside: Vec<f64>,
    sizes: Vec<f64>,
    best: Vec<f64>,
    /// Per set, the part that is the left tensor of the best last step; 0 where nothing is below the bound.
    splits: Vec<Set>,
}

impl Exact {
    /// Finds the best tree for an objective among those that are better than `now`; whether there is one.
    ///
    /// No result but the whole may be larger than `limit`. For [`Objective::Size`] the largest result is made as small as
    /// it gets, then the flops under that limit; [`Objective::Weighted`] has the sum of its shares in place of its
    /// score.
    pub fn better(&mut self, tensors: usize, edges: &[Edge], objective: Objective, now: Worth, limit: f64) -> bool {
        if objective != Objective::Size {
            return self.search(tensors, edges, Least::Sum(objective), now.shares * (1.0 - GAIN), limit);
        }
        let is_smaller = self.search(tensors, edges, Least::Peak, now.peak * (1.0 - GAIN), limit);
        let (flops, peak) = match is_smaller {
            true => (f64::INFINITY, self.best[(1 << tensors) - 1]),
            false => (now.flops * (1.0 - GAIN), now.peak),
        };
        self.search(tensors, edges, Least::Sum(Objective::Flops), flops, limit.min(peak))
    }

    /// Finds the tree that is least among those below `bound`; whether there is one.
    fn search(&mut self, tensors: usize, edges: &[Edge], aim: Least, bound: f64, limit: f64) -> bool {
        let full: Set = (1 << tensors) - 1;
        // Sizes come out of divisions.
        let limit = limit * (1.0 + 1e-9);
        let large = edges.iter().fold(1.0, |product: f64, edge| product * edge.extent) > LARGE;
        self.prepare(tensors, edges, large);
        for set in 1..=full {
            let low = set & set.wrapping_neg();
            let rest = set ^ low;
            if rest == 0 {
                // A single tensor costs nothing, and is its own split.
                self.splits[set as usize] = set;
                self.best[set as usize] = 0.0;
                continue;
            }
            let (mut least, mut split) = (bound, 0);
            let (touching, result) = (self.touching[set as usize], self.sizes[set as usize]);
            if result <= limit || set == full {
                let mut part = rest;
                while part != 0 {
                    part = (part - 1) & rest;
                    let (left, right) = ((low | part) as usize, (rest ^ part) as usize);
                    let parts = match aim {
                        Least::Sum(_) => self.best[left] + self.best[right],
                        Least::Peak => self.best[left].max(self.best[right]).max(result),
                    };
                    if parts >= least {
                        continue;
                    }
                    let total = match aim {
                        Least::Peak => parts,
                        Least::Sum(objective) => {
                            let flops = match large {
                                false => touching * self.inside[left] * self.inside[right],
                                true => (touching - self.inside[left] - self.inside[right]).exp2().min(f64::MAX),
                            };
                            let step = StepCost { flops, left: self.sizes[left], right: self.sizes[right], result };
                            parts + objective.share(step)
                        }
                    };
                    if total < least {
                        (least, split) = (total, low | part);
                    }
                }
            }
            self.splits[set as usize] = split;
            self.best[set as usize] = if split == 0 { f64::INFINITY } else { least };
        }
        self.splits[full as usize] != 0
    }

    fn prepare(&mut self, tensors: usize, edges: &[Edge], large: bool) {
        let sets = 1usize << tensors;
        let neutral = if large { 0.0 } else { 1.0 };
        let combine = |a: f64, b: f64| if large { a + b } else { a * b };
        for table in [&mut self.touching, &mut self.inside, &mut self.sizes, &mut self.best] {
            table.clear();
            table.resize(sets, neutral);
        }
        self.splits.clear();
        self.splits.resize(sets, 0);
        // Sums over subsets: first edges by their exact holders, then a pass for each tensor.
        for edge in edges {
            let extent = if large { edge.extent.log2() } else { edge.extent };
            let at = edge.holders as usize;
            self.sizes[at] = combine(self.sizes[at], extent);
            if !edge.open {
                self.inside[at] = combine(self.inside[at], extent);
            }
        }
        for tensor in 0..tensors {
            let bit = 1usize << tensor;
            for set in (0..sets).filter(|set| set & bit != 0) {
                self.sizes[set] = combine(self.sizes[set], self.sizes[set ^ bit]);
                self.inside[set] = combine(self.inside[set], self.inside[set ^ bit]);
            }
        }
        // What touches a set is everything but what lies inside the rest.
        let all = self.sizes[sets - 1];
        for set in 0..sets {
            let apart = self.sizes[(sets - 1) ^ set];
            self.touching[set] = if large { all - apart } else { all / apart };
        }
        for set in 0..sets {
            if large {
                self.sizes[set] = (self.touching[set] - self.inside[set]).exp2().min(f64::MAX);
            } else {
                self.inside[set] = self.inside[set].recip();
                self.sizes[set] = self.touching[set] * self.inside[set];
            }
        }
    }

    /// The left part of the best last step of a set, the set itself for a single tensor.
    pub fn split(&self, set: Set) -> Set {
        self.splits[set as usize]
    }
}

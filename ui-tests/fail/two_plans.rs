// error: give either `path` or `optimize`, not both
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b, path = [(0, 1)], optimize = greedy)
    }
}

fn main() {}

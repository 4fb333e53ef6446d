// error: `tree_sa` needs `ntrials = ..`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b, optimize = tree_sa(nbetas = 300, niters = 50, seed = 1))
    }
}

fn main() {}

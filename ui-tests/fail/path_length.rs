// error: einsum: `path` has 2 pairs, but over 2 operands it takes 1
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b, path = [(0, 1), (0, 1)])
    }
}

fn main() {}

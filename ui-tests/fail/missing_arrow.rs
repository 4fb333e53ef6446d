// error: einsum: the arrow `->` and the output labels are missing
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk", a, b)
    }
}

fn main() {}

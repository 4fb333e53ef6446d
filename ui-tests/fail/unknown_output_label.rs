// error: einsum: the output label `m` is on no operand
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->im", a, b)
    }
}

fn main() {}

// error: einsum: operand 1 has rank 1
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d]) -> f64[n, d] {
        einsum("ij,jk->ik", a, b)
    }
}

fn main() {}

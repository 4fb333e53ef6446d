// error: to stretch axis 1 of operand 0, write `#j` there
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, 1], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b)
    }
}

fn main() {}

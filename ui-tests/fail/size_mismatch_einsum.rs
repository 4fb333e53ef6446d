// error: einsum: label `j` is d on axis 1 of operand 0, but m on axis 0 of operand 1 (operand 0 is [n, d], operand 1 is [m, k])
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[m, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b)
    }
}

fn main() {}

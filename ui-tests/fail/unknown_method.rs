// error: unknown method `gredy`: did you mean `greedy`?
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b, optimize = gredy)
    }
}

fn main() {}

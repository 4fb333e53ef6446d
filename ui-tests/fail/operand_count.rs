// error: einsum: the notation "ij,jk->ik" has 2 operands, but 1 operand is given
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d]) -> f64[n, n] {
        einsum("ij,jk->ik", a)
    }
}

fn main() {}

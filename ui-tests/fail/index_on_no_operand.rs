// error: index `k` of the target stands on no operand; to repeat the value along it, state its extent, as `[k: n]`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d]) -> f64[n, d] {
        let y[i, k] = a[i, j];
        y
    }
}

fn main() {}

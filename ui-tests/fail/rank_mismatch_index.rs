// error: `b` is f64[d], so it has 1 index, not 2
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d]) -> f64[n] {
        a[i, j] * b[j, k] -> [i]
    }
}

fn main() {}

// error: unknown size `k`: the arguments' sizes are `n` and `m`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64[n, k] {
        x
    }
}

fn main() {}

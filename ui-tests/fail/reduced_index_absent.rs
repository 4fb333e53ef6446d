// error: index `k` does not stand in the argument of `max[k]`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, h]) -> f64[n] {
        max[k](x[i, j]) -> [i]
    }
}

fn main() {}

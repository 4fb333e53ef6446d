// error: `max[j]` takes 1 argument, not 2
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64[n] {
        max[j](x[i, j], 2) -> [i]
    }
}

fn main() {}

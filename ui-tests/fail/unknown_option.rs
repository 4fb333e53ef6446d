// error: `sum` has no option `axes`: it takes `axis`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64[n] {
        sum(x, axes = 1)
    }
}

fn main() {}

// error: `i` is an index: it selects entries, but has no value of its own
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        x[i] * i -> [i]
    }
}

fn main() {}

// error: `f` has 2 results, but here is 1 value
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> (f64, f64[n]) {
        x
    }
}

fn main() {}

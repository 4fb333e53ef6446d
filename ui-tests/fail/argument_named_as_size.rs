// error: `n` is both an argument and a size: rename one of them
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], n: f64) -> f64[n] {
        n * x
    }
}

fn main() {}

// error: the argument `x` is there twice: rename one of them
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], x: f64[n]) -> f64[n] {
        x
    }
}

fn main() {}

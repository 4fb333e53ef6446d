// error: the result of `f` is f64[m, n], but this is f64[n, m]: write `transpose(..)`, or the indices in the other order
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64[m, n] {
        x
    }
}

fn main() {}

// error: `g` takes 2 arguments, not 1: g(x: f64[n], y: f64)
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        g(x)
    }
    pub fn g(x: f64[n], y: f64) -> f64[n] {
        x * y
    }
}

fn main() {}

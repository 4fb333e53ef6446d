// error: `g` has 2 results: write `let (a, b) = g(..);`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        let y = g(x);
        y
    }
    pub fn g(x: f64[n]) -> (f64[n], f64) {
        (x, sum(x))
    }
}

fn main() {}

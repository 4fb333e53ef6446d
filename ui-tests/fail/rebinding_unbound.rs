// error: `y` is not bound yet: write `let y = ..;`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        y = x * x;
        y
    }
}

fn main() {}

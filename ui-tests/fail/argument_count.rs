// error: `exp` takes 1 argument, not 2
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], y: f64[n]) -> f64[n] {
        exp(x, y)
    }
}

fn main() {}

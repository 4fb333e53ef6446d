// error: the argument `y` is not used: remove it, or call it `_y`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], y: f64[n]) -> f64[n] {
        x
    }
}

fn main() {}

// error: `+` needs equal shapes: `x` is f64[n], `y` is f64[m]; if `n` and `m` are one size, give them one name
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], y: f64[m]) -> f64[n] {
        x + y
    }
}

fn main() {}

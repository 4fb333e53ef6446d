// error: `select` chooses by a bool: `x` is f64[n]; write a comparison, as `select(x > 0.0, a, b)`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        select(x, x, 0.0)
    }
}

fn main() {}

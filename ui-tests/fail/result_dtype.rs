// error: the result of `f` is f64[n], but this is f32[n]: convert with `as f64`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f32[n]) -> f64[n] {
        x
    }
}

fn main() {}

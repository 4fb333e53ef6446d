// error: the kernel `f` is there twice: rename one of them
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        x
    }
    pub fn f(y: f64[n]) -> f64[n] {
        y
    }
}

fn main() {}

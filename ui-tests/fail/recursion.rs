// error: kernels are inlined, so none can call itself: `f` calls `g` calls `f`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        g(x)
    }
    pub fn g(x: f64[n]) -> f64[n] {
        f(x)
    }
}

fn main() {}

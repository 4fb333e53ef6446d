// error: argument `y` of `g`, declared [n], must be [n] here, but is [m]
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], z: f64[m]) -> f64 {
        g(x, z)
    }
    pub fn g(x: f64[n], y: f64[n]) -> f64 {
        sum(x * y)
    }
}

fn main() {}

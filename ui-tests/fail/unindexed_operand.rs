// error: in an indexed expression every axis has its index: `b` is f64[h], write `b[h]`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, h], b: f64[h]) -> f64[n, h] {
        x[n, h] + b -> [n, h]
    }
}

fn main() {}

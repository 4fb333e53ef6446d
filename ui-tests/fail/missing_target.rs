// error: an indexed expression needs a target, which fixes its axes: write `let y[i] = ..;` or `(..) -> [i]`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[d]) -> f64[n] {
        a[i, j] * b[j]
    }
}

fn main() {}

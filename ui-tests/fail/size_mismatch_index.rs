// error: index `j` has extent d on axis 1 of `a`, but m on axis 0 of `b`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d], b: f64[m, k]) -> f64[n, k] {
        a[i, j] * b[j, k] -> [i, k]
    }
}

fn main() {}

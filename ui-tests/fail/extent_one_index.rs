// error: index `j` has extent 1 on axis 1 of `a`, but m on axis 0 of `b`; extent 1 does not repeat by itself
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, 1], b: f64[m]) -> f64[n] {
        a[i, j] * b[j] -> [i]
    }
}

fn main() {}

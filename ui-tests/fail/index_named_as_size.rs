// error: index `n` has the name of the size `n`, but has extent d on axis 1 of `a`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, d]) -> f64[d, n] {
        a[i, n] -> [n, i]
    }
}

fn main() {}

// error: affine indices are not supported yet: an index is a name, as in `x[i, j]`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n - 1] {
        x[i + 1] - x[i] -> [i: n - 1]
    }
}

fn main() {}

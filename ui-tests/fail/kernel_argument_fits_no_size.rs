// error: argument `x` of `halves` is declared [2*n], but is [3], which no size `n` fits
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[3]) -> f64 {
        sum(halves(x))
    }
    fn halves(x: f64[2*n]) -> f64[n] {
        sum(reshape(x, [2, n]), axis = 0)
    }
}

fn main() {}

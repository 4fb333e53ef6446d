// error: the size `n` cannot be solved from the shapes of the arguments
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n * n]) -> f64 {
        sum(x)
    }
}

fn main() {}

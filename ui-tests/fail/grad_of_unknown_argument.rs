// error: `f` has no argument `y`
use tenferro::prelude::*;

tenferro! {
    #[grad(y)]
    pub fn f(x: f64[n]) -> f64 {
        sum(x * x)
    }
}

fn main() {}

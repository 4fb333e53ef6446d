// error: `f` cannot be differentiated: no result has a float dtype
use tenferro::prelude::*;

tenferro! {
    #[grad(x)]
    pub fn f(x: f64[n]) -> i64 {
        argmax(x)
    }
}

fn main() {}

// error: expected the type of the result
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) {
        x
    }
}

fn main() {}

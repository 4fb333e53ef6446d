// error: expected an expression
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        let y = x * ;
        y
    }
}

fn main() {}

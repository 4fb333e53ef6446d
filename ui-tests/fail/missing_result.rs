// error: the body has no result: end it with an expression, without `;`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        let y = x * x;
    }
}

fn main() {}

// error: the last expression is the result: write it without `;`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        x * x;
    }
}

fn main() {}

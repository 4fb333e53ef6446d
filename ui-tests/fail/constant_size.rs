// error: a Rust constant as a size is not supported yet
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[{ N }]) -> f64 {
        sum(x)
    }
}

fn main() {}

// error: `i` stands for an integer, not for an index: give the index another name; fixed positions are not supported yet
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64 {
        let i = 2;
        x[i] -> []
    }
}

fn main() {}

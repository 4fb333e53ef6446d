// error: unknown function `sotfmax`: did you mean `softmax`?
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64[n] {
        sotfmax(x)
    }
}

fn main() {}

// error: unknown dtype `f46`: did you mean `f64`?
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f46[n]) -> f64 {
        sum(x)
    }
}

fn main() {}

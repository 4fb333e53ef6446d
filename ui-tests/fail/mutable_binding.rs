// error: `mut` is not needed, since every name can be bound again: write `let` without it
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n]) -> f64 {
        let mut s = sum(x);
        s = s + 1.0;
        s
    }
}

fn main() {}

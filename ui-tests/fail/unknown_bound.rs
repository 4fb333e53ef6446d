// error: unknown bound `Reel`
use tenferro::prelude::*;

tenferro! {
    pub fn f<T: Reel>(x: T[n]) -> T {
        sum(x)
    }
}

fn main() {}

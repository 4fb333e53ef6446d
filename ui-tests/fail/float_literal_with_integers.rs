// error: `2.5` is a float, but `k` is i64[n]: convert it with `k as f64`
use tenferro::prelude::*;

tenferro! {
    pub fn f(k: i64[n]) -> i64[n] {
        k * 2.5
    }
}

fn main() {}

// error: `exp` takes f32, f64, c32 or c64, but `k` is i64[n]: convert it with `k as f64`
use tenferro::prelude::*;

tenferro! {
    pub fn f(k: i64[n]) -> f64[n] {
        exp(k)
    }
}

fn main() {}

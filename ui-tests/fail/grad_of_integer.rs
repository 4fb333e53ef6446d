// error: `k` cannot be differentiated by: its dtype is i64
use tenferro::prelude::*;

tenferro! {
    #[grad(k)]
    pub fn f(k: i64[n], x: f64[n]) -> f64 {
        sum((k as f64) * x)
    }
}

fn main() {}

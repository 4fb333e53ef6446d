// error: `*` needs equal dtypes: `x` is f32[n], `k` is bool[n]; convert one, as `k as f32`
// error: `*` needs equal dtypes: `k` is bool[n], `x` is f32[n]; convert one, as `k as f32`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f32[n], k: bool[n]) -> f32[n] {
        x * k
    }
    pub fn g(x: f32[n], k: bool[n]) -> f32[n] {
        k * x
    }
}

fn main() {}

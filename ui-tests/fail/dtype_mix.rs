// error: `*` needs equal dtypes: `x` is f32[n], `y` is f64[n]; convert one, as `x as f64`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f32[n], y: f64[n]) -> f64[n] {
        x * y
    }
}

fn main() {}

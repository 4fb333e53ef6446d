// error: unknown name `alpa`: did you mean `alpha`?
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], alpha: f64) -> f64[n] {
        alpha * x + alpa
    }
}

fn main() {}

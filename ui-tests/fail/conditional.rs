// error: there is no `if` in the language: `select(condition, a, b)` chooses element by element
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64) -> f64 {
        let y = if x > 0.0 { x } else if x < -1.0 { 1.0 } else { -x };
        y * y
    }
}

fn main() {}

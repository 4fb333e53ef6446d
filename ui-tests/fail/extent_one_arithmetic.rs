// error: `+` needs equal shapes: `a` is f64[n, 1], `b` is f64[n, m]; write the indices: `let y[n, m] = reshape(a, [n])[n] + b[n, m];`
use tenferro::prelude::*;

tenferro! {
    pub fn f(a: f64[n, 1], b: f64[n, m]) -> f64[n, m] {
        a + b
    }
}

fn main() {}

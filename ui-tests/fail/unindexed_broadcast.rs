// error: `+` needs equal shapes: `x` is f64[n, h], `b` is f64[h]; write the indices: `let y[n, h] = x[n, h] + b[h];`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, h], b: f64[h]) -> f64[n, h] {
        let y = x + b;
        y
    }
}

fn main() {}

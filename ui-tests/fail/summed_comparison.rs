// error: index `j` would be summed, but the result of `>` is bool: keep the index in the target, or sum numbers, as `(..) as i64`
// error: `*` needs equal dtypes: the result of `>` is bool[n, m], `y[j]` is f64[m]; convert one, as `(..) as f64`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m], y: f64[m]) -> bool[n] {
        x[i, j] > y[j] -> [i]
    }
    pub fn g(x: f64[n, m], y: f64[m]) -> f64[n] {
        (x[i, j] > 0) * y[j] -> [i]
    }
}

fn main() {}

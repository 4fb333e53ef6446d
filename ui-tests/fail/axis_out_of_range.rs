// error: there is no axis 2: `x` is f64[n, m], whose axes are 0 to 1
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64[n] {
        sum(x, axis = 2)
    }
}

fn main() {}

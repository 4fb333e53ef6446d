// error: in an indexed expression `sum` names what it reduces: write `sum[j](..)`
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, h]) -> f64[n] {
        sum(x[i, j]) -> [i]
    }
}

fn main() {}

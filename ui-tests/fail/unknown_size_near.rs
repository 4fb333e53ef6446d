// error: unknown size `widht`: did you mean `width`?
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[width]) -> f64[widht] {
        x
    }
}

fn main() {}

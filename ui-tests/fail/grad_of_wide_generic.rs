// error: `norm` cannot be differentiated: argument `x` is i32, which has no derivatives; with `T: Float` it could be
use tenferro::prelude::*;

tenferro! {
    #[grad(x)]
    pub fn norm<T: Num>(x: T[n]) -> T {
        sum(x * x)
    }
}

fn main() {}

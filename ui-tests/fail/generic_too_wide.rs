// error: `exp` takes f32, f64, c32 or c64, but `x` is T[n], which may be f32, f64, c32, c64, i32 or i64
use tenferro::prelude::*;

tenferro! {
    pub fn f<T: Num>(x: T[n]) -> T[n] {
        exp(x)
    }
}

fn main() {}

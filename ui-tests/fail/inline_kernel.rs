// error: `+` needs equal shapes: `x` is f64[n], `w` is f64[n, m]
use tenferro::prelude::*;

fn main() {
    let _kernel = tenferro! {
        |x: f64[n], w: f64[n, m]| -> f64[n, m] { x + w }
    };
}

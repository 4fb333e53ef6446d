// error: unknown size `k`
// error: `+` needs equal shapes: `a` is f64[n], `b` is f64[m]
// error: unknown function `expp`: did you mean `exp`?
// error: expected an expression
// error: einsum: the output label `q` is on no operand
use tenferro::prelude::*;

tenferro! {
    pub fn size(x: f64[n]) -> f64[k] {
        x
    }
    pub fn mismatch(a: f64[n], b: f64[m]) -> f64 {
        let s = a + b;
        let t = expp(a);
        sum(s) + sum(t)
    }
    pub fn syntax(x: f64[n]) -> f64[n] {
        let y = x + * 2.0;
        y * y
    }
    pub fn label(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->iq", a, b)
    }
}

fn main() {}

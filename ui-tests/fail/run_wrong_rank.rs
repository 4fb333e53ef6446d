// rustc: a wrong rank is a type error on the argument
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64 {
        sum(x)
    }
}

fn main() {
    let mut cpu = Session::cpu();
    let x = TypedTensor::<f64, 1>::zeros([3]).unwrap();
    let _ = f.run(&mut cpu, &x);
}

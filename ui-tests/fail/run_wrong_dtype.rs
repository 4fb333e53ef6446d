// rustc: a wrong dtype is a type error on the argument
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n, m]) -> f64 {
        sum(x)
    }
}

fn main() {
    let mut cpu = Session::cpu();
    let x = TypedTensor::<f32, 2>::zeros([3, 2]).unwrap();
    let _ = f.run(&mut cpu, &x);
}

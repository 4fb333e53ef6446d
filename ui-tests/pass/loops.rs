//! A loop is unrolled; a name can be bound again.
use tenferro::prelude::*;

tenferro! {
    pub fn root(a: f64[n]) -> f64[n] {
        let x = a;
        for _i in 0..8 {
            x = 0.5 * (x + a / x);
        }
        x
    }
    pub fn powers(x: f64) -> f64 {
        let s = 0.0 * x;
        for i in 1..=3 {
            s = s + i * x;
        }
        s
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let a = TypedTensor::from_vec_col_major([2], vec![2.0, 9.0])?;
    let x = root.run(&mut cpu, &a)?;
    assert!((x[[0]] - 2.0_f64.sqrt()).abs() < 1e-14);
    assert!((x[[1]] - 3.0).abs() < 1e-14);
    assert_eq!(powers.run(&mut cpu, 2.0)?, 12.0);
    Ok(())
}

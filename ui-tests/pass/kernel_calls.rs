//! Kernels of a block call one another, in any order.
use tenferro::prelude::*;

tenferro! {
    pub fn distance(x: f64[n], y: f64[n]) -> f64 {
        let (d, _) = parts(x, y);
        sqrt(square(d))
    }
    fn parts(x: f64[n], y: f64[n]) -> (f64[n], f64[n]) {
        (x - y, x + y)
    }
    fn square(d: f64[k]) -> f64 {
        d[i] * d[i] -> []
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([2], vec![4.0, 6.0])?;
    let y = TypedTensor::from_vec_col_major([2], vec![1.0, 2.0])?;
    assert_eq!(distance.run(&mut cpu, &x, &y)?, 5.0);
    Ok(())
}

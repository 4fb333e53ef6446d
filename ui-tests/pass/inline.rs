//! An anonymous kernel is a value.
use tenferro::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let product = tenferro! { |x: f64[n], w: f64[n, m]| -> f64[m] { x[i] * w[i, j] -> [j] } };
    let x = TypedTensor::from_vec_col_major([2], vec![1.0, 10.0])?;
    let w = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    assert_eq!(product.run(&mut cpu, &x, &w)?.to_vec_col_major(), [31.0, 42.0]);
    Ok(())
}

//! Arithmetic, functions and literals that take the dtype of their context.
use tenferro::prelude::*;

tenferro! {
    pub fn f(x: f64[n], y: f64[n]) -> f64[n] {
        2 * x - y / 4.0 + max(x, 0.0) * pow(y, 2)
    }
    pub fn single(x: f32[n]) -> f32[n] {
        x / n + 0.5
    }
    pub fn integers(k: i64[n]) -> i64[n] {
        (k * k + 1) % 7
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([3], vec![1.0, -2.0, 3.0])?;
    let y = TypedTensor::from_vec_col_major([3], vec![4.0, 8.0, -4.0])?;
    let z = f.run(&mut cpu, &x, &y)?;
    assert_eq!(z.to_vec_col_major(), [2.0 - 1.0 + 16.0, -4.0 - 2.0, 6.0 + 1.0 + 48.0]);
    let x = TypedTensor::from_vec_col_major([2], vec![1.0_f32, 2.0])?;
    assert_eq!(single.run(&mut cpu, &x)?.to_vec_col_major(), [1.0, 1.5]);
    let k = TypedTensor::from_vec_col_major([3], vec![2_i64, 3, 5])?;
    assert_eq!(integers.run(&mut cpu, &k)?.to_vec_col_major(), [5, 3, 5]);
    Ok(())
}

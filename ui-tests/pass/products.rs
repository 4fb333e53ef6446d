//! Products and scans along an axis, whole and in indexed expressions, with gradients at zeros.
use tenferro::prelude::*;

tenferro! {
    fn all(x: f64[n]) -> f64 {
        prod(x)
    }
    fn rows(x: f64[n, m]) -> (f64[n], f64[n, m], f64[n, m]) {
        (prod[j](x[i, j]) -> [i], cumsum(x, axis = 1), cumprod[j](x[i, j]) -> [i, j])
    }
    fn angle(y: f64[n], x: f64[n]) -> f64[n] {
        floor(atan2(y, x) * 4.0)
    }
}

fn main() -> tenferro::Result<()> {
    let cpu = &mut Session::cpu();
    let (value, gradient) = all.value_and_grad(cpu, &TypedTensor::from_vec(vec![2.0, 0.0, 5.0]))?;
    assert_eq!((value, gradient.as_slice()?), (0.0, &[0.0, 10.0, 0.0][..]));
    let (products, sums, scans) = rows.run(cpu, &TypedTensor::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))?;
    assert_eq!(products.as_slice()?, [6.0, 120.0]);
    assert_eq!(sums, TypedTensor::from_rows([[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]));
    assert_eq!(scans, TypedTensor::from_rows([[1.0, 2.0, 6.0], [4.0, 20.0, 120.0]]));
    let quarters = angle.run(cpu, &TypedTensor::from_vec(vec![1.0, -1.0]), &TypedTensor::from_vec(vec![0.0, 0.0]))?;
    assert_eq!(quarters.as_slice()?, [6.0, -7.0]);
    Ok(())
}

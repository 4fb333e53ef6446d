//! One kernel for several dtypes.
use tenferro::prelude::*;

tenferro! {
    pub fn norm<T: Real>(x: T[n]) -> T {
        sqrt(sum(x * x))
    }
    pub fn total<T: Num>(x: T[n], scale: T) -> T {
        scale * sum(x)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([2], vec![3.0, 4.0])?;
    assert_eq!(norm.run(&mut cpu, &x)?, 5.0);
    let x = TypedTensor::from_vec_col_major([2], vec![3.0_f32, 4.0])?;
    assert_eq!(norm.run(&mut cpu, &x)?, 5.0_f32);
    let k = TypedTensor::from_vec_col_major([3], vec![1_i64, 2, 3])?;
    assert_eq!(total.run(&mut cpu, &k, 10)?, 60);
    Ok(())
}

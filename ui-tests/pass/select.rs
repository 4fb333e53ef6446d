//! Comparisons, logic on bools, casts and selection.
use tenferro::prelude::*;

tenferro! {
    pub fn masked(x: f64[n], keep: bool[n]) -> f64[n] {
        select(keep && !(x < 0.0), x, -1.0)
    }
    pub fn count(x: f64[n]) -> i64 {
        sum((x > 0.5) as i64)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([3], vec![1.0, -2.0, 3.0])?;
    let keep = TypedTensor::from_vec_col_major([3], vec![true, true, false])?;
    assert_eq!(masked.run(&mut cpu, &x, &keep)?.to_vec_col_major(), [1.0, -1.0, -1.0]);
    assert_eq!(count.run(&mut cpu, &x)?, 2);
    Ok(())
}

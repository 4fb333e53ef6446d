//! Sizes in compound forms are solved, checked, and usable as scalars.
use tenferro::prelude::*;

tenferro! {
    pub fn halves(x: f64[2 * n], y: f64[n + 1]) -> f64[n] {
        let s = sum(x) / n + sum(y);
        broadcast(s, [n])
    }
    pub fn three(x: f64[n], y: f64[3]) -> f64[n] {
        x + y
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_col_major([4], vec![1.0, 2.0, 3.0, 4.0])?;
    let y = TypedTensor::from_vec_col_major([3], vec![1.0, 1.0, 1.0])?;
    assert_eq!(halves.run(&mut cpu, &x, &y)?.to_vec_col_major(), [8.0, 8.0]);
    assert!(halves.run(&mut cpu, &y, &y).is_err());
    assert_eq!(three.run(&mut cpu, &y, &y)?.to_vec_col_major(), [2.0, 2.0, 2.0]);
    assert!(three.run(&mut cpu, &x, &y).is_err());
    Ok(())
}

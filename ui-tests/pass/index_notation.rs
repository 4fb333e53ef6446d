//! Products, broadcasts, diagonals and the summation rule of index notation.
use tenferro::prelude::*;

tenferro! {
    pub fn affine(x: f64[n, d], w: f64[d], b: f64[n]) -> f64[n] {
        x[i, j] * w[j] + b[i] -> [i]
    }
    pub fn chain(a: f64[n, m], b: f64[m, k], c: f64[k, l]) -> f64[n, l] {
        let y[i, l] = a[i, j] * (b[j, p] * c[p, l]);
        y
    }
    pub fn trace(a: f64[n, n]) -> f64 {
        a[i, i] -> []
    }
    pub fn diagonal(v: f64[n]) -> f64[n, n] {
        v[i] -> [i, i]
    }
    pub fn outer(x: f64[n], y: f64[m]) -> f64[n, m] {
        x[i] + y[j] -> [i, j]
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let w = TypedTensor::from_vec_col_major([3], vec![1.0, 0.0, -1.0])?;
    let b = TypedTensor::from_vec_col_major([2], vec![10.0, 20.0])?;
    assert_eq!(affine.run(&mut cpu, &x, &w, &b)?.to_vec_col_major(), [8.0, 18.0]);
    let a = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let swap = TypedTensor::from_vec_row_major([2, 2], vec![0.0, 1.0, 1.0, 0.0])?;
    assert_eq!(chain.run(&mut cpu, &a, &swap, &a)?.to_vec_row_major(), [5.0, 8.0, 13.0, 20.0]);
    assert_eq!(trace.run(&mut cpu, &a)?, 5.0);
    assert_eq!(diagonal.run(&mut cpu, &b)?.to_vec_row_major(), [10.0, 0.0, 0.0, 20.0]);
    assert_eq!(outer.run(&mut cpu, &b, &w)?.to_vec_row_major(), [11.0, 10.0, 9.0, 21.0, 20.0, 19.0]);
    Ok(())
}

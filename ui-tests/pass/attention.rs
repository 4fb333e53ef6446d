//! Scaled dot-product attention, in both real dtypes.
use tenferro::prelude::*;

tenferro! {
    pub fn attention<T: Real>(q: T[n, d], k: T[m, d], v: T[m, e]) -> T[n, e] {
        let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
        let p[i, j] = softmax[j](score[i, j]);
        einsum("nm,me->ne", p, v)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let q = TypedTensor::<f64, 2>::zeros([2, 4])?;
    let k = TypedTensor::from_fn([3, 4], |[i, j]| (i + j) as f64)?;
    let v = TypedTensor::from_vec_row_major([3, 1], vec![1.0, 2.0, 6.0])?;
    // equal scores weigh every row alike
    let out = attention.run(&mut cpu, &q, &k, &v)?;
    assert!(out.to_vec_col_major().iter().all(|value| (value - 3.0).abs() < 1e-15));
    Ok(())
}

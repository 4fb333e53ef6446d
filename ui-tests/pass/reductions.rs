//! Reductions over everything, over an axis, and over an index.
use tenferro::prelude::*;

tenferro! {
    pub fn summary(x: f64[n, m]) -> (total: f64, means: f64[n], largest: f64[m], place: i64[n]) {
        let means[i] = mean[j](x[i, j]);
        (sum(x), means, max(x, axis = 0), argmax(x, axis = 1))
    }
    pub fn normalised(x: f64[n, m]) -> f64[n, m] {
        softmax[j](x[i, j]) -> [i, j]
    }
    pub fn spread(x: f64[n]) -> f64 {
        max(x) - min(x) + logsumexp(x - x)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 3.0, 6.0, 2.0])?;
    let result = summary.run(&mut cpu, &x)?;
    assert_eq!(result.total, 12.0);
    assert_eq!(result.means.to_vec_col_major(), [2.0, 4.0]);
    assert_eq!(result.largest.to_vec_col_major(), [6.0, 3.0]);
    assert_eq!(result.place.to_vec_col_major(), [1, 0]);
    let p = normalised.run(&mut cpu, &x)?;
    assert!((p[[0, 0]] + p[[0, 1]] - 1.0).abs() < 1e-15);
    assert!((p[[0, 1]] / p[[0, 0]] - 2.0_f64.exp()).abs() < 1e-12);
    let v = TypedTensor::from_vec_col_major([2], vec![-1.0, 2.5])?;
    assert!((spread.run(&mut cpu, &v)? - 3.5 - 2.0_f64.ln()).abs() < 1e-15);
    Ok(())
}

//! Value and gradient by the arguments that `#[grad(..)]` names.
use tenferro::prelude::*;

tenferro! {
    /// Mean squared error of a linear model.
    #[grad(w, b)]
    pub fn mse(w: f64[d], b: f64, x: f64[n, d], y: f64[n]) -> f64 {
        let r[i] = x[i, j] * w[j] + b - y[i];
        mean(r * r)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let w = TypedTensor::from_vec_col_major([2], vec![1.0, -1.0])?;
    let x = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let y = TypedTensor::from_vec_col_major([2], vec![0.0, 1.0])?;
    let (loss, (dw, db)) = mse.value_and_grad(&mut cpu, &w, 0.5, &x, &y)?;
    // residuals -0.5 and -1.5
    assert!((loss - 1.25).abs() < 1e-15);
    assert_eq!(dw.to_vec_col_major(), [-0.5 - 4.5, -1.0 - 6.0]);
    assert_eq!(db, -2.0);
    Ok(())
}

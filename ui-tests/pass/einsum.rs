//! Einsum literals: a product, an ellipsis, a stretched axis, a path by hand, searches with their numbers and goals.
use tenferro::prelude::*;

tenferro! {
    pub fn product(a: f64[n, d], b: f64[d, k]) -> f64[n, k] {
        einsum("ij,jk->ik", a, b)
    }
    pub fn batches(a: f64[s, n, d], b: f64[s, d, k]) -> f64[s, n, k] {
        einsum("...ij,...jk->...ik", a, b)
    }
    pub fn stretched(a: f64[n, 1], b: f64[d, k]) -> f64[n, k] {
        einsum("i#j,jk->ik", a, b)
    }
    pub fn ring(a: f64[n, n]) -> f64 {
        einsum("ij,jk,ki->", a, a, a, path = [(1, 2), (0, 1)])
    }
    pub fn searched(a: f64[n, n]) -> (f64, f64, f64) {
        let one = einsum("ij,jk,ki->", a, a, a, optimize = tree_sa(nbetas = 5, ntrials = 2, niters = 2, seed = 1));
        let two = einsum("ij,jk,ki->", a, a, a, optimize = random_greedy(trials = 2, seed = 1), objective = flops);
        (one, two, einsum("ij,jk,ki->", a, a, a, nested = (0, (2, 1)), objective = weighted(flops = 1, size = 2)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let a = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    assert_eq!(product.run(&mut cpu, &a, &a)?.to_vec_row_major(), [7.0, 10.0, 15.0, 22.0]);
    let s = TypedTensor::from_fn([2, 2, 2], |[_, i, j]| a[[i, j]])?;
    assert_eq!(batches.run(&mut cpu, &s, &s)?[[1, 0, 1]], 10.0);
    let column = TypedTensor::from_vec_col_major([2, 1], vec![1.0, 10.0])?;
    assert_eq!(stretched.run(&mut cpu, &column, &a)?.to_vec_row_major(), [4.0, 6.0, 40.0, 60.0]);
    assert_eq!(ring.run(&mut cpu, &a)?, 7.0 * 1.0 + 10.0 * 3.0 + 15.0 * 2.0 + 22.0 * 4.0);
    let trace = ring.run(&mut cpu, &a)?;
    assert_eq!(searched.run(&mut cpu, &a)?, (trace, trace, trace));
    Ok(())
}

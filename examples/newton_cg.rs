//! Logistic regression on two species of iris by Newton's method, with Hessians that are never formed.
//!
//! Each Newton step solves `H p = -g` by conjugate gradients (Hestenes and Stiefel 1952), which need only products of
//! the Hessian with vectors: `hvp`. Prints the gradient's norm, which squares from step to step.

use tenferro::prelude::*;

tenferro! {
    /// Mean logistic loss of labels +1 and -1, with weight decay.
    #[grad(w)]
    fn loss(w: f64[d], x: f64[n, d], label: f64[n], decay: f64) -> f64 {
        let margin[i] = label[i] * (x[i, j] * w[j]);
        mean(softplus(-margin)) + decay * sum(w * w)
    }
}

type Vector = TypedTensor<f64, 1>;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (x, label) = read_two_species(include_str!("data/iris.csv"))?;
    let [n, d] = x.shape();
    println!("{n} flowers, {d} features (the last is constant 1)\n");
    let mut cpu = Session::cpu();
    let mut w = Vector::zeros([d])?;
    let decay = 1e-3;

    println!("step  loss              |gradient|  CG steps");
    let mut norms = Vec::new();
    for step in 0..12 {
        let (value, gradient) = loss.value_and_grad(&mut cpu, &w, &x, &label, decay)?;
        let norm = dot(&gradient, &gradient).sqrt();
        norms.push(norm);
        if norm < 1e-13 {
            println!("{step:4}  {value:.14}  {norm:.2e}");
            break;
        }
        let (p, used) = solve_by_cg(&gradient, norm, |v| loss.hvp(&mut cpu, &w, &x, &label, decay, v))?;
        println!("{step:4}  {value:.14}  {norm:.2e}    {used}");
        w = axpy(1.0, &p, &w)?;
    }
    match norms.last() {
        Some(&last) if last < 1e-13 => Ok(()),
        _ => Err(format!("Newton's method did not converge: {norms:?}").into()),
    }
}

/// `p` with `H p = -gradient` to a residual well below the gradient, and the number of products used.
fn solve_by_cg(
    gradient: &Vector,
    norm: f64,
    mut hessian: impl FnMut(&Vector) -> tenferro::Result<Vector>,
) -> tenferro::Result<(Vector, usize)> {
    let mut p = gradient.map(|_| 0.0);
    let mut r = gradient.map(|g| -g);
    let mut direction = r.clone();
    let mut rr = dot(&r, &r);
    let mut used = 0;
    while rr.sqrt() > 1e-6 * norm.min(1.0) * norm && used < 50 {
        let h = hessian(&direction)?;
        let alpha = rr / dot(&direction, &h);
        p = axpy(alpha, &direction, &p)?;
        r = axpy(-alpha, &h, &r)?;
        let next = dot(&r, &r);
        direction = axpy(next / rr, &direction, &r)?;
        rr = next;
        used += 1;
    }
    Ok((p, used))
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
}

/// `alpha x + y`
fn axpy(alpha: f64, x: &Vector, y: &Vector) -> tenferro::Result<Vector> {
    Ok(TypedTensor::from_fn(x.shape(), |i| alpha * x[i] + y[i])?)
}

/// Measurements of versicolor (-1) and virginica (+1), centred, with a column of ones.
fn read_two_species(csv: &str) -> std::result::Result<(TypedTensor<f64, 2>, Vector), Box<dyn std::error::Error>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut labels = Vec::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, values) = fields.split_last().ok_or("an empty line")?;
        let label = match *name {
            "versicolor" => -1.0,
            "virginica" => 1.0,
            _ => continue,
        };
        rows.push(values.iter().map(|v| v.parse()).collect::<std::result::Result<_, _>>()?);
        labels.push(label);
    }
    let (n, d) = (rows.len(), rows[0].len());
    let mean: Vec<f64> = (0..d).map(|j| rows.iter().map(|r| r[j]).sum::<f64>() / n as f64).collect();
    let x = TypedTensor::from_fn([n, d + 1], |[i, j]| if j < d { rows[i][j] - mean[j] } else { 1.0 })?;
    Ok((x, TypedTensor::from_vec_col_major([n], labels)?))
}

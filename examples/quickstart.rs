//! Softmax regression on Fisher's iris measurements: a model, its loss and its gradient in a dozen lines.
//!
//! Prints the program of the loss and of its gradient, the training curve, the confusion matrix and the accuracy,
//! and what happens when sizes do not fit.

use tenferro::prelude::*;

tenferro! {
    /// Mean cross-entropy of softmax regression with a little weight decay.
    #[grad(w, b)]
    fn loss(w: f64[d, k], b: f64[k], x: f64[n, d], y: f64[n, k], decay: f64) -> f64 {
        let score[i, c] = x[i, j] * w[j, c] + b[c];
        let log_p[i, c] = log_softmax[c](score[i, c]);
        let fit = -(y[i, c] * log_p[i, c] -> []) / n;
        fit + decay * sum(w * w)
    }

    /// The most probable class of each flower.
    fn classify(w: f64[d, k], b: f64[k], x: f64[n, d]) -> i64[n] {
        let score[i, c] = x[i, j] * w[j, c] + b[c];
        argmax[c](score[i, c]) -> [i]
    }
}

const SPECIES: [&str; 3] = ["setosa", "versicolor", "virginica"];

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (x, class) = read_iris(include_str!("data/iris.csv"))?;
    let [n, d] = x.shape();
    let y = TypedTensor::from_fn([n, SPECIES.len()], |[i, c]| if class[i] == c { 1.0 } else { 0.0 })?;
    println!("iris: {n} flowers, {d} measurements, {} species\n", SPECIES.len());
    println!("{}", loss.program());
    println!("{}", loss.grad_program());

    let mut cpu = Session::cpu();
    let mut w = TypedTensor::<f64, 2>::zeros([d, SPECIES.len()])?;
    let mut b = TypedTensor::<f64, 1>::zeros([SPECIES.len()])?;
    let decay = 1e-4;

    println!("step    loss        |gradient|");
    let steps = 2000;
    for step in 0..=steps {
        let (value, (dw, db)) = loss.value_and_grad(&mut cpu, &w, &b, &x, &y, decay)?;
        let norm = dw.iter().chain(db.iter()).map(|g| g * g).sum::<f64>().sqrt();
        if step % 250 == 0 {
            println!("{step:5}   {value:.8}  {norm:.3e}  {}", "#".repeat((value * 40.0) as usize));
        }
        descend(&mut w, &dw, 0.5)?;
        descend(&mut b, &db, 0.5)?;
    }

    let predicted = classify.run(&mut cpu, &w, &b, &x)?;
    let mut confusion = [[0; SPECIES.len()]; SPECIES.len()];
    for (&actual, predicted) in class.iter().zip(predicted.iter()) {
        confusion[actual][predicted as usize] += 1;
    }
    println!("\n{:>12} {:>10} {:>10} {:>10}", "", SPECIES[0], SPECIES[1], SPECIES[2]);
    for (name, row) in SPECIES.iter().zip(confusion) {
        println!("{name:>12} {:>10} {:>10} {:>10}", row[0], row[1], row[2]);
    }
    let correct: usize = (0..SPECIES.len()).map(|c| confusion[c][c]).sum();
    let accuracy = correct as f64 / n as f64;
    println!("accuracy {correct}/{n} = {accuracy:.4}\n");
    if accuracy < 0.97 {
        return Err(format!("accuracy {accuracy} is below 0.97").into());
    }

    let wrong = TypedTensor::<f64, 2>::zeros([d + 1, SPECIES.len()])?;
    match classify.run(&mut cpu, &wrong, &b, &x) {
        Ok(_) => Err("a weight matrix with a row too many was accepted".into()),
        Err(error) => {
            println!("a weight matrix with a row too many: {error}");
            Ok(())
        }
    }
}

/// One step of gradient descent. Measurements are standardised, so one rate fits all.
fn descend<const R: usize>(
    parameter: &mut TypedTensor<f64, R>,
    gradient: &TypedTensor<f64, R>,
    rate: f64,
) -> tenferro::Result<()> {
    for (p, g) in parameter.as_mut_slice()?.iter_mut().zip(gradient.iter()) {
        *p -= rate * g;
    }
    Ok(())
}

/// Standardised measurements (flower, feature) and the class of each flower.
fn read_iris(csv: &str) -> std::result::Result<(TypedTensor<f64, 2>, Vec<usize>), Box<dyn std::error::Error>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut class = Vec::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, values) = fields.split_last().ok_or("an empty line")?;
        rows.push(values.iter().map(|v| v.parse()).collect::<std::result::Result<_, _>>()?);
        class.push(SPECIES.iter().position(|s| s == name).ok_or_else(|| format!("unknown species {name}"))?);
    }
    let (n, d) = (rows.len(), rows[0].len());
    for j in 0..d {
        let mean = rows.iter().map(|r| r[j]).sum::<f64>() / n as f64;
        let deviation = (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        rows.iter_mut().for_each(|r| r[j] = (r[j] - mean) / deviation);
    }
    Ok((TypedTensor::from_fn([n, d], |[i, j]| rows[i][j])?, class))
}

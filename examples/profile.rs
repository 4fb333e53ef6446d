//! What runs, and how long it takes: attention explained and profiled.
//!
//! Prints what the prepared program will do and the table of a profile, and writes a trace for `chrome://tracing` or
//! Perfetto.

use std::error::Error;
use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;

use tenferro::prelude::*;
use tenferro::runtime::Profile;
use tenferro::tensor::TensorRead;

tenferro! {
    /// Scaled dot-product attention, one head.
    fn attention(q: f64[n, d], k: f64[m, d], v: f64[m, e]) -> f64[n, e] {
        let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
        let p[i, j] = softmax[j](score[i, j]);
        einsum("nm,me->ne", p, v)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    let profile = walk(&mut text, [512, 512, 64, 64], 20)?;
    print!("{text}");
    let path = std::env::temp_dir().join("tenferro-profile.json");
    profile.write_chrome_trace(&mut BufWriter::new(File::create(&path)?))?;
    println!("\nA trace is in {}", path.display());
    Ok(())
}

/// Explains and profiles so many runs.
pub fn walk(text: &mut String, [n, m, d, e]: [usize; 4], runs: usize) -> Result<Profile, Box<dyn Error>> {
    let mut session = Session::cpu();
    let wave = |shape: [usize; 2]| TypedTensor::from_fn(shape, |[i, j]| ((7 * i + 3 * j) as f64).sin());
    let (q, k, v) = (wave([n, d])?, wave([m, d])?, wave([m, e])?);

    let inputs = [&q, &k, &v].map(|tensor| TensorRead::from(tensor.view().into_dyn()));
    let prepared = session.runtime().prepare(attention.program(), &inputs, &[session.target().clone()])?;
    writeln!(text, "{}", prepared.explain_with(&inputs)?)?;

    // The first run finds out what the others know.
    attention.run(&mut session, &q, &k, &v)?;
    let (result, profile) =
        session.profile(|session| (0..runs).try_for_each(|_| attention.run(session, &q, &k, &v).map(drop)));
    result?;
    write!(text, "{profile}")?;
    Ok(profile)
}

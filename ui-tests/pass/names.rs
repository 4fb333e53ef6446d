//! Arguments, results and locals may carry the name of a kernel of their block.
use tenferro::prelude::*;

tenferro! {
    pub fn loss(x: f64[n]) -> f64 {
        sum(x * x)
    }
    /// Its argument, its local and its result are called as the kernel that it calls.
    pub fn report(loss: f64[n], results: f64, session: f64) -> (loss: f64, report: f64) {
        let report = loss(loss);
        let loss = report + results * session;
        (loss, report)
    }
    pub fn scaled(loss: f64, d_loss: f64[n], out: f64) -> f64[n] {
        d_loss * loss * out
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let x = TypedTensor::from_vec(vec![1.0, 2.0]);
    let out = report.run(&mut cpu, &x, 2.0, 3.0)?;
    assert_eq!((out.loss, out.report), (11.0, 5.0));
    let (mut first, mut second) = (0.0, 0.0);
    report.run_into(&mut cpu, &x, 2.0, 3.0, &mut first, &mut second)?;
    assert_eq!((first, second), (11.0, 5.0));
    let (_, (by_x, by_results, by_session)) = report.vjp(&mut cpu, &x, 2.0, 3.0, 1.0, 1.0)?;
    assert_eq!((by_x.as_slice()?, by_results, by_session), (&[4.0, 8.0][..], 3.0, 2.0));
    let (y, d_y) = scaled.jvp(&mut cpu, 2.0, &x, 1.0, 1.0, &x, 0.0)?;
    assert_eq!((y.as_slice()?, d_y.as_slice()?), (&[2.0, 4.0][..], &[3.0, 6.0][..]));
    Ok(())
}

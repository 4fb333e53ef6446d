//! Products of one or two operands.

use std::hint::black_box;

use tenferro::Session;
use tenferro::dtype::{Complex32, Complex64, ScalarValue};
use tenferro::einsum::{ConcreteEinsum, EinsumNotation, EinsumOp};
use tenferro::program::SemanticProgram;
use tenferro::runtime::Engine;
use tenferro::tensor::Tensor;

use crate::measure::{Config, Machine, Uniform, program, tensor, uniform};

pub fn suite(config: &Config) {
    for equation in ["ij,jk->ik", "ij,jk->ki", "ij,kj->ik", "ik,kj->ij"] {
        let (a, b) = (uniform(&[16, 16], 1), uniform(&[16, 16], 2));
        let operands = [&a, &b];
        string(config, &format!("mm16 {equation} f64 [string]"), equation, &operands);
        prepared(config, &format!("mm16 {equation} f64"), equation, vec![a.clone(), b.clone()]);
        let mut session = config.session();
        config.measure(&format!("mm16 {equation} f64 [prepare]"), || {
            session.runtime().clear_prepared_cache();
            ConcreteEinsum::new(equation).unwrap().run(&mut session, &operands).unwrap();
        });
        let op = EinsumOp::concrete(&EinsumNotation::parse(equation).unwrap(), &[&[16, 16], &[16, 16]]).unwrap();
        config.measure(&format!("mm16 {equation} [ContractionTree::optimize]"), || {
            black_box(op.tree(&[&[16, 16], &[16, 16]]).unwrap());
        });
    }
    let complex32 = |seed| {
        let mut numbers = Uniform::new(seed);
        tensor(&[256, 256], || Complex32::new(numbers.next() as f32, numbers.next() as f32))
    };
    let complex64 = |seed| {
        let mut numbers = Uniform::new(seed);
        tensor(&[256, 256], || Complex64::new(numbers.next(), numbers.next()))
    };
    let single = |seed| {
        let mut numbers = Uniform::new(seed);
        tensor(&[1024, 1024], || numbers.next() as f32)
    };
    let square = |n: usize| vec![uniform(&[n, n], 1), uniform(&[n, n], 2)];
    prepared(config, "mm64 f64", "ij,jk->ik", square(64));
    prepared(config, "mm256 f64", "ij,jk->ik", square(256));
    prepared(config, "mm1024 f64", "ij,jk->ik", square(1024));
    prepared(config, "mm1024 f32", "ij,jk->ik", vec![single(1), single(2)]);
    prepared(config, "mm256 c64", "ij,jk->ik", vec![complex32(1), complex32(2)]);
    prepared(config, "mm256 c128", "ij,jk->ik", vec![complex64(1), complex64(2)]);
    for (equation, shape) in [("bij,bjk->bik", [32, 64, 64]), ("ijb,jkb->ikb", [64, 64, 32])] {
        prepared(config, &format!("bmm32x64 {equation} f64"), equation, vec![uniform(&shape, 1), uniform(&shape, 2)]);
    }
    prepared(config, "outer4096 f64", "i,j->ij", vec![uniform(&[4096], 1), uniform(&[4096], 2)]);
    prepared(config, "had2048 f64", "ij,ij->ij", square(2048));
    if config.wants("had2048 f64 [Tensor::mul]") {
        let operands = square(2048);
        let product = program("had2048", &operands, false, |b, v| b.mul(v[0], v[1]).unwrap());
        run(config, "had2048 f64 [Tensor::mul]", product, &operands);
    }
    for n in [128, 192, 256] {
        let name = format!("perm{n}^3 ijk->kji");
        if config.wants(&name) {
            let a = [uniform(&[n, n, n], 1)];
            string(config, &format!("{name} [einsum string]"), "ijk->kji", &[&a[0]]);
            prepared(config, &name, "ijk->kji", a.to_vec());
            let transposed = program("transposed", &a, false, |b, v| b.transpose(v[0], &[2, 1, 0]).unwrap());
            run(config, &format!("{name} [Tensor::transpose]"), transposed, &a);
        }
    }
}

/// Runs of a program without einsum.
fn run(config: &Config, name: &str, program: SemanticProgram, operands: &[Tensor]) {
    let mut machine = Machine::new(config, program, operands);
    config.measure(name, || {
        let results = black_box(machine.run(operands));
        results.into_iter().for_each(|result| machine.engine.recycle(result));
    });
}

/// Runs of an einsum that was read once: a new result, and one written over.
fn prepared(config: &Config, name: &str, equation: &str, operands: Vec<Tensor>) {
    if !config.wants(name) {
        return;
    }
    let mut session = config.session();
    let einsum = ConcreteEinsum::new(equation).unwrap();
    let operands: Vec<&Tensor> = operands.iter().collect();
    let mut output = einsum.run(&mut session, &operands).unwrap();
    config.measure(&format!("{name} [prepared]"), || {
        recycle(&mut session, |session| einsum.run(session, &operands));
    });
    let (one, zero) = (ScalarValue::one(output.dtype()), ScalarValue::zero(output.dtype()));
    config.measure(&format!("{name} [prepared into]"), || {
        einsum.run_into(&mut session, &operands, one, zero, &mut output).unwrap();
    });
}

/// One-shot calls from text.
fn string(config: &Config, name: &str, equation: &str, operands: &[&Tensor]) {
    let mut session = config.session();
    config.measure(name, || recycle(&mut session, |session| tenferro::einsum(session, equation, operands)));
}

/// Gives the result's memory back to the engine, as a loop that runs for long would.
fn recycle(session: &mut Session, run: impl FnOnce(&mut Session) -> tenferro::Result<Tensor>) {
    let result = black_box(run(session).unwrap());
    session.engine().recycle(result);
}

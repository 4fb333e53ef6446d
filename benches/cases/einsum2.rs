//! Products of one or two operands.

use std::hint::black_box;

use tenferro::dtype::{Complex32, Complex64};
use tenferro::einsum::einsum;
use tenferro::program::ProgramBuilder;
use tenferro::tensor::Tensor;

use crate::measure::{Config, Machine, Uniform, program, reads, tensor, uniform};

pub fn suite(config: &Config) {
    for equation in ["ij,jk->ik", "ij,jk->ki", "ij,kj->ik", "ik,kj->ij"] {
        prepared(config, &format!("mm16 {equation} f64"), equation, vec![uniform(&[16, 16], 1), uniform(&[16, 16], 2)]);
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
    for n in [128, 192, 256] {
        prepared(config, &format!("perm{n}^3 ijk->kji"), "ijk->kji", vec![uniform(&[n, n, n], 1)]);
    }
}

fn prepared(config: &Config, name: &str, equation: &str, operands: Vec<Tensor>) {
    if !config.wants(name) {
        return;
    }
    let build = |b: &mut ProgramBuilder, v: &[_]| einsum(b, equation, v).unwrap();
    let mut machine = Machine::new(config, program(name, &operands, false, build), &operands);
    let mut output = machine.run(&operands).remove(0);
    let reads = reads(&operands);
    let Machine { runtime, engine, prepared, .. } = &mut machine;
    config.measure(&format!("{name} [prepared]"), || {
        black_box(runtime.run(&mut [&mut *engine], prepared, &reads).unwrap());
    });
    config.measure(&format!("{name} [prepared into]"), || {
        runtime.run_into(&mut [&mut *engine], prepared, &reads, &mut [&mut output]).unwrap();
    });
}

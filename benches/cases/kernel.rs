//! What a typed kernel call costs above its commands.

use std::hint::black_box;

use tenferro::prelude::*;

use crate::measure::{Config, Machine, tensor, uniform};

tenferro! {
    fn twice(x: f64[n]) -> f64[n] {
        x + x
    }

    fn product(a: f64[n, k], b: f64[k, m]) -> f64[n, m] {
        einsum("ij,jk->ik", a, b)
    }
}

pub fn suite(config: &Config) {
    let mut session = Session::cpu();
    let x = TypedTensor::from_vec_col_major([8], vec![0.5; 8]).unwrap();
    let mut out = x.clone();
    config.measure("x+x n=8 [kernel run]", || {
        black_box(twice.run(&mut session, &x).unwrap());
    });
    config.measure("x+x n=8 [kernel run_into]", || {
        twice.run_into(&mut session, &x, &mut out).unwrap();
    });
    let inputs = [tensor(&[8], || 0.5)];
    Machine::new(config, twice.program().clone(), &inputs).measure(config, "x+x n=8", &inputs);

    let matrix = |seed| uniform(&[16, 16], seed).try_into_typed::<f64, 2>().unwrap();
    let (a, b) = (matrix(1), matrix(2));
    config.measure("mm16 ij,jk->ik f64 [kernel run]", || {
        black_box(product.run(&mut session, &a, &b).unwrap());
    });
}

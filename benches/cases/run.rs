//! Whole programs: preparing and running.

use tenferro::ad::{self, AdContext};
use tenferro::dtype::DType;
use tenferro::program::composite;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro::tensor::Tensor;

use crate::measure::{Config, Machine, Uniform, program, tensor, uniform};

pub fn suite(config: &Config) {
    let x16 = [uniform(&[16], 5)];
    for repeats in [1, 20] {
        for symbolic in [true, false] {
            let name = format!("acc {} ops n=16 {}", 2 * repeats + 1, kind(symbolic));
            case(config, &name, &x16, symbolic, |b, v| {
                let mut acc = v[0];
                for _ in 0..repeats {
                    let product = b.mul(acc, v[0]).unwrap();
                    acc = b.add(product, v[0]).unwrap();
                }
                b.sum(acc, &[0]).unwrap()
            });
        }
    }
    let big = [uniform(&[1_000_000], 9)];
    for (n, links) in [(8, 1), (8, 25), (8, 200), (1_000_000, 1), (1_000_000, 8), (1_000_000, 25)] {
        let small = [tensor(&[8], || 0.5)];
        let x = if n == 8 { &small } else { &big };
        case(config, &format!("exp chain {links} n={n}"), x, true, |b, v| {
            (0..links).fold(v[0], |x, _| b.exp(x).unwrap())
        });
    }
    for links in [8, 25] {
        case(config, &format!("exp(-x) chain {links} n=1000000"), &big, true, |b, v| {
            (0..links).fold(v[0], |x, _| {
                let negated = b.neg(x).unwrap();
                b.exp(negated).unwrap()
            })
        });
    }
    case(config, "x*x+x n=1000000", &big, true, |b, v| {
        let square = b.mul(v[0], v[0]).unwrap();
        b.add(square, v[0]).unwrap()
    });
    case(config, "sum n=1000000", &big, true, |b, v| b.sum(v[0], &[0]).unwrap());
    for symbolic in [true, false] {
        let kind = kind(symbolic);
        case(config, &format!("softplus n=1000000 {kind}"), &big, symbolic, |b, v| {
            composite::softplus(b, v[0]).unwrap()
        });
        gradient(config, &format!("softplus sum grad n=1000000 {kind}"), &big, symbolic, |b, v| {
            let y = composite::softplus(b, v[0]).unwrap();
            b.sum(y, &[0]).unwrap()
        });
    }
    for links in [1, 8] {
        gradient(config, &format!("exp chain {links} sum grad n=1000000"), &big, false, |b, v| {
            let y = (0..links).fold(v[0], |x, _| b.exp(x).unwrap());
            b.sum(y, &[0]).unwrap()
        });
    }
    for n in [16, 256] {
        let matrix = |seed| {
            let mut numbers = Uniform::new(seed);
            tensor(&[n, n], || 0.1 * numbers.next())
        };
        let operands = [matrix(3), matrix(4)];
        let build = |b: &mut ProgramBuilder, v: &[ValueId]| {
            let product = tenferro::einsum::einsum_of_values(b, "ij,jk->ik", v).unwrap();
            let exponential = b.exp(product).unwrap();
            let total = b.add(exponential, v[0]).unwrap();
            b.sum(total, &[0, 1]).unwrap()
        };
        case_of(config, &format!("sum(exp(ab)+a) n={n} symbolic"), &operands, || {
            let mut b = ProgramBuilder::new("sum(exp(ab)+a)");
            let n = b.size("n");
            let operands = ["a", "b"].map(|name| b.input(name, DType::F64, &[n.clone(), n.clone()]).unwrap());
            let total = build(&mut b, &operands);
            b.finish(&[(None, total)]).unwrap()
        });
        case(config, &format!("sum(exp(ab)+a) n={n} concrete"), &operands, false, build);
    }
}

fn kind(symbolic: bool) -> &'static str {
    if symbolic { "symbolic" } else { "concrete" }
}

fn case(
    config: &Config,
    name: &str,
    inputs: &[Tensor],
    symbolic: bool,
    build: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> ValueId,
) {
    case_of(config, name, inputs, || program(name, inputs, symbolic, build));
}

/// The gradient of a scalar in its first input.
fn gradient(
    config: &Config,
    name: &str,
    inputs: &[Tensor],
    symbolic: bool,
    build: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> ValueId,
) {
    case_of(config, name, inputs, || {
        ad::grad(&program(name, inputs, symbolic, build), &[0], &AdContext::new()).unwrap()
    });
}

fn case_of(config: &Config, name: &str, inputs: &[Tensor], program: impl FnOnce() -> SemanticProgram) {
    if config.wants(name) {
        Machine::new(config, program(), inputs).measure(config, name, inputs);
    }
}

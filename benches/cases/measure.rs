//! Timing, deterministic operands, and programs prepared on one engine.

use std::sync::Arc;
use std::time::Instant;

use tenferro::Session;
use tenferro::cpu::CpuEngine;
use tenferro::dtype::Scalar;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro::runtime::{Engine, Prepared, Runtime};
use tenferro::tensor::{Tensor, TensorRead};

/// What the command line asks for.
pub struct Config {
    threads: usize,
    filter: String,
    batches: usize,
    batch_ms: f64,
    max_flops: f64,
    max_peak: f64,
}

impl Config {
    pub fn new(arguments: &[String]) -> Self {
        let get = |key: &str| arguments.iter().position(|a| a == key).and_then(|i| arguments.get(i + 1));
        let number = |key: &str, default: f64| get(key).and_then(|s| s.parse().ok()).unwrap_or(default);
        Self {
            threads: number("--threads", 1.0) as usize,
            filter: get("--filter").cloned().unwrap_or_default(),
            batches: number("--batches", 9.0) as usize,
            batch_ms: number("--batch-ms", 40.0),
            max_flops: number("--max-flops", 2e11),
            max_peak: number("--max-peak", 4e8),
        }
    }

    pub fn wants(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }

    pub fn session(&self) -> Session {
        if self.threads <= 1 { Session::cpu() } else { Session::cpu_with_threads(self.threads).unwrap() }
    }

    /// The most flops and elements of a result that a default plan may have to be run.
    pub fn limits(&self) -> (f64, f64) {
        (self.max_flops, self.max_peak)
    }

    pub fn engine(&self) -> CpuEngine {
        if self.threads <= 1 { CpuEngine::serial() } else { CpuEngine::with_threads(self.threads).unwrap() }
    }

    /// Warms up, then times batches long enough for the clock; prints the shortest and the median.
    pub fn measure(&self, name: &str, mut f: impl FnMut()) {
        if !self.wants(name) {
            return;
        }
        let start = Instant::now();
        let mut best = f64::INFINITY;
        let mut calls = 0;
        loop {
            let t = Instant::now();
            f();
            best = best.min(t.elapsed().as_nanos() as f64);
            calls += 1;
            let spent = start.elapsed().as_secs_f64();
            if (calls >= 2 && spent > 0.15) || spent > 6.0 {
                break;
            }
        }
        let count = ((self.batch_ms * 1e6 / best.max(20.0)) as usize).clamp(1, 50_000_000);
        let batches = match best {
            b if b > 8e9 => 3,
            b if b > 1.5e9 => 7,
            _ => self.batches,
        };
        let mut times: Vec<f64> = (0..batches)
            .map(|_| {
                let t = Instant::now();
                (0..count).for_each(|_| f());
                t.elapsed().as_nanos() as f64 / count as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{name}\t{:.1}\t{:.1}", times[0], times[times.len() / 2]);
    }
}

/// A count beside the times.
pub fn note(key: &str, value: impl std::fmt::Display) {
    println!("#{key}\t{value}");
}

/// A program on an engine of its own, ready to run.
pub struct Machine {
    pub runtime: Runtime,
    pub engine: CpuEngine,
    pub program: Arc<SemanticProgram>,
    pub prepared: Prepared,
}

impl Machine {
    pub fn new(config: &Config, program: SemanticProgram, inputs: &[Tensor]) -> Self {
        let engine = config.engine();
        let runtime = Runtime::builder()
            .register_engine(tenferro::cpu::runtime_engine_registration())
            .and_then(|b| b.install_extension_module(tenferro::cpu::families::einsum::module()))
            .and_then(|b| b.build())
            .unwrap();
        let program = Arc::new(program);
        let prepared = runtime.prepare(&program, &reads(inputs), &[engine.target()]).unwrap();
        Self { runtime, engine, program, prepared }
    }

    /// `name [prepare miss]`, `name [prepare hit]`, `name [run]`, `name [run into]`.
    pub fn measure(&mut self, config: &Config, name: &str, inputs: &[Tensor]) {
        let (reads, targets) = (reads(inputs), [self.engine.target()]);
        let Self { runtime, engine, program, prepared } = self;
        config.measure(&format!("{name} [prepare miss]"), || {
            runtime.clear_prepared_cache();
            std::hint::black_box(runtime.prepare(&*program, &reads, &targets).unwrap());
        });
        config.measure(&format!("{name} [prepare hit]"), || {
            std::hint::black_box(runtime.prepare(&*program, &reads, &targets).unwrap());
        });
        config.measure(&format!("{name} [run]"), || {
            let outputs = runtime.run(&mut [&mut *engine], prepared, &reads).unwrap();
            std::hint::black_box(&outputs);
        });
        let mut outputs = self.run(inputs);
        let Self { runtime, engine, prepared, .. } = self;
        let mut into: Vec<&mut Tensor> = outputs.iter_mut().collect();
        config.measure(&format!("{name} [run into]"), || {
            runtime.run_into(&mut [&mut *engine], prepared, &reads, &mut into).unwrap();
        });
    }

    /// The outputs for these inputs.
    pub fn run(&mut self, inputs: &[Tensor]) -> Vec<Tensor> {
        let reads = reads(inputs);
        let outputs = self.runtime.run(&mut [&mut self.engine], &self.prepared, &reads).unwrap();
        outputs.into_iter().map(|o| o.into_tensor(&mut self.engine).unwrap()).collect()
    }
}

pub fn reads(inputs: &[Tensor]) -> Vec<TensorRead<'_>> {
    inputs.iter().map(TensorRead::from).collect()
}

/// A program over inputs of the dtype and rank of `tensors`; extents are symbolic, one size an axis, or exact.
pub fn program(
    name: &str,
    tensors: &[Tensor],
    symbolic: bool,
    build: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> ValueId,
) -> SemanticProgram {
    let mut b = ProgramBuilder::new(name);
    let inputs: Vec<ValueId> = tensors
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let shape: Vec<_> = t.shape().iter().map(|&n| if symbolic { b.size("n") } else { n.into() }).collect();
            b.input(format!("x{i}"), t.dtype(), &shape).unwrap()
        })
        .collect();
    let output = build(&mut b, &inputs);
    b.finish(&[(None, output)]).unwrap()
}

/// Deterministic uniform numbers in [-0.5, 0.5): xorshift (Marsaglia 2003).
pub struct Uniform(u64);

impl Uniform {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2654435761).wrapping_add(88172645463325252))
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

pub fn tensor<T: Scalar>(shape: &[usize], element: impl FnMut() -> T) -> Tensor {
    let count = shape.iter().product();
    Tensor::from_vec_col_major(shape, std::iter::repeat_with(element).take(count).collect()).unwrap()
}

/// Uniform entries.
pub fn uniform(shape: &[usize], seed: u64) -> Tensor {
    let mut numbers = Uniform::new(seed);
    tensor(shape, || numbers.next())
}

/// Positive entries, scaled so that a network of them contracts to about 1.
pub fn network(shape: &[usize], seed: u64) -> Tensor {
    let mut numbers = Uniform::new(seed);
    let norm = 1.0 / (shape.iter().product::<usize>() as f64).sqrt();
    tensor(shape, || (1.0 + numbers.next()) * norm)
}

//! What preparing a program costs, and when it is done: the cache of prepared programs at work.
//!
//! Each section has a runtime of its own. A line such as `[after 1st prepare] entries=2 hits=0 ..` is what its
//! cache has done so far.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use tenferro::cpu::{CpuEngine, families, runtime_engine_registration};
use tenferro::prelude::*;
use tenferro::program::SemanticProgram;
use tenferro::runtime::{CompiledGraph, Engine, InputSpec, Output, Runtime};
use tenferro::tensor::TensorRead;

tenferro! {
    fn sum_of_squares(x: f64[n]) -> f64 { sum(x * x) }

    /// The same under other names.
    fn energy(v: f64[k]) -> f64 { sum(v * v) }

    fn product(a: f64[m, k], b: f64[k, n]) -> f64[m, n] { einsum("mk,kn->mn", a, b) }

    fn difference(b: f64[n], a: f64[n]) -> f64[n] { b - a }

    fn unchanged(x: f64[n]) -> f64[n] { x }

    fn square(x: f64[n]) -> f64[n] { x * x }
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut text = String::new();
    walk(&mut text)?;
    print!("{text}");
    Ok(())
}

/// All sections in order.
pub fn walk(out: &mut String) -> Result<()> {
    engines(out)?;
    the_same_structure(out)?;
    fixed_shapes(out)?;
    any_length(out)?;
    a_shape_at_a_time(out)?;
    the_order_of_inputs(out)?;
    borrowed_results(out)?;
    reconfiguration(out)
}

fn engines(out: &mut String) -> Result<()> {
    writeln!(out, "== 1. engines")?;
    let (serial, mut pooled) = (CpuEngine::serial(), CpuEngine::with_threads(4)?);
    writeln!(out, "serial target = {}", serial.target())?;
    writeln!(out, "pooled target == serial target: {}", pooled.target() == serial.target())?;

    let graph = bound(sum_of_squares.program(), "x", &[1.0, 2.0, 3.0])?;
    let refused = Runtime::builder().build()?.prepare(&graph, &[], &[serial.target()]);
    writeln!(out, "no engine registered: {}", message(refused))?;
    let runtime = runtime()?;
    writeln!(out, "empty targets: {}", message(runtime.prepare(&graph, &[], &[])))?;
    let prepared = runtime.prepare(&graph, &[], &[serial.target()])?;
    writeln!(out, "run with no engine: {}", message(runtime.run(&mut [], &prepared, &[])))?;
    let results = runtime.run(&mut [&mut pooled], &prepared, &[])?;
    writeln!(out, "prepared with serial, run on pooled(4): {:?}", elements(&results[0])?)?;
    Ok(())
}

fn the_same_structure(out: &mut String) -> Result<()> {
    writeln!(out, "== 2. cache: prepare twice, then a second program with the same structure")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let targets = [engine.target()];
    count(out, "fresh", &runtime)?;
    let graph = bound(sum_of_squares.program(), "x", &[1.0, 2.0, 3.0])?;
    let prepared = runtime.prepare(&graph, &[], &targets)?;
    count(out, "after 1st prepare", &runtime)?;
    for _ in 0..2 {
        let y = runtime.run(&mut [&mut engine], &prepared, &[])?;
        writeln!(out, "y = {:?}", elements(&y[0])?)?;
    }
    count(out, "after 2 runs", &runtime)?;
    runtime.prepare(&graph, &[], &targets)?;
    count(out, "after 2nd prepare", &runtime)?;

    let other = bound(energy.program(), "v", &[12.0, 5.0, 5.0])?;
    let prepared = runtime.prepare(&other, &[], &targets)?;
    let y = runtime.run(&mut [&mut engine], &prepared, &[])?;
    writeln!(out, "y2 = {:?}", elements(&y[0])?)?;
    count(out, "after other program", &runtime)
}

fn fixed_shapes(out: &mut String) -> Result<()> {
    writeln!(out, "== 3. explicit inputs of a program whose shapes are fixed")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let targets = [engine.target()];
    let spec = InputSpec { name: "x", dtype: DType::F64, shape: &[3] };
    let graph = CompiledGraph::compile_with_input_specs(sum_of_squares.program(), &[spec])?;
    let (three, five) = (ramp(3)?, ramp(5)?);
    let prepared = runtime.prepare(&graph, &[TensorRead::from(&three)], &targets)?;
    let y = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&three)])?;
    writeln!(out, "shape [3] input -> {:?}", elements(&y[0])?)?;
    let refused = runtime.prepare(&graph, &[TensorRead::from(&five)], &targets);
    writeln!(out, "prepare with [5]: {}", message(refused))?;
    let refused = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&five)]);
    writeln!(out, "run [3]-prepared with [5]: {}", message(refused))?;
    writeln!(out, "prepare with nothing: {}", message(runtime.prepare(&graph, &[], &targets)))?;
    Ok(())
}

fn any_length(out: &mut String) -> Result<()> {
    writeln!(out, "== 4. elementwise operations and reductions, several lengths")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let mut first = None;
    for n in [3, 5, 1000] {
        let x = ramp(n)?;
        let inputs = [TensorRead::from(&x)];
        let prepared = runtime.prepare(sum_of_squares.program(), &inputs, &[engine.target()])?;
        let y = runtime.run(&mut [&mut engine], &prepared, &inputs)?;
        writeln!(out, "n={n}: sum = {:?}", elements(&y[0])?)?;
        count(out, &format!("n={n}"), &runtime)?;
        first.get_or_insert(prepared);
    }
    if let Some(prepared) = first {
        let x = ramp(1000)?;
        let y = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&x)])?;
        writeln!(out, "prepared for n=3, run n=1000: sum = {:?}", elements(&y[0])?)?;
    }
    Ok(())
}

fn a_shape_at_a_time(out: &mut String) -> Result<()> {
    writeln!(out, "== 4b. matrix product, several shapes")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let mut first = None;
    for [m, k, n] in [[2, 3, 4], [2, 3, 4], [5, 3, 4], [5, 7, 4]] {
        let (a, b) = (TypedTensor::<f64, 2>::ones([m, k])?, TypedTensor::<f64, 2>::ones([k, n])?);
        let inputs = [TensorRead::from(&a), TensorRead::from(&b)];
        let prepared = runtime.prepare(product.program(), &inputs, &[engine.target()])?;
        let c = runtime.run(&mut [&mut engine], &prepared, &inputs)?;
        writeln!(out, "[{m},{k}]x[{k},{n}] -> shape {:?}", c[0].shape())?;
        count(out, &format!("{m}x{k}x{n}"), &runtime)?;
        first.get_or_insert(prepared);
    }
    if let Some(prepared) = first {
        let (a, b) = (TypedTensor::<f64, 2>::ones([5, 7])?, TypedTensor::<f64, 2>::ones([7, 4])?);
        let refused = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&a), TensorRead::from(&b)]);
        writeln!(out, "prepared for 2x3x4, run 5x7x4: {}", message(refused))?;
    }
    Ok(())
}

fn the_order_of_inputs(out: &mut String) -> Result<()> {
    writeln!(out, "== 5. input order")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let (ten, one) = (TypedTensor::<f64, 1>::full([2], 10.0)?, TypedTensor::<f64, 1>::ones([2])?);
    let inputs = [TensorRead::from(&ten), TensorRead::from(&one)];
    let shape = |name| InputSpec { name, dtype: DType::F64, shape: &[2] };
    let graphs = [
        ("as declared", graph(difference.program())),
        ("listed", CompiledGraph::compile_with_input_specs(difference.program(), &[shape("a"), shape("b")])?),
    ];
    for (order, graph) in graphs {
        let prepared = runtime.prepare(&graph, &inputs, &[engine.target()])?;
        let y = runtime.run(&mut [&mut engine], &prepared, &inputs)?;
        let [a, b] = ["a", "b"].map(|name| graph.input_index(name));
        writeln!(
            out,
            "b - a, {order}, with inputs [10, 1] -> {:?}; a index = {a:?}, b index = {b:?}",
            elements(&y[0])?
        )?;
    }
    Ok(())
}

fn borrowed_results(out: &mut String) -> Result<()> {
    writeln!(out, "== 6. borrowed results")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let x = TypedTensor::<f64, 1>::ones([2])?;
    let inputs = [TensorRead::from(&x)];
    for (name, program) in [("x", unchanged.program()), ("x * x", square.program())] {
        let prepared = runtime.prepare(program, &inputs, &[engine.target()])?;
        for y in runtime.run(&mut [&mut engine], &prepared, &inputs)? {
            let kind = match &y {
                Output::Owned(_) => "Owned",
                Output::Borrowed(_) => "Borrowed",
            };
            writeln!(out, "{name} -> Output::{kind}, {} {:?}", y.dtype(), y.shape())?;
        }
    }
    Ok(())
}

fn reconfiguration(out: &mut String) -> Result<()> {
    writeln!(out, "== 7. reconfigure")?;
    let (runtime, mut engine) = (runtime()?, CpuEngine::serial());
    let targets = [engine.target()];
    let graph = bound(sum_of_squares.program(), "x", &[1.0, 2.0, 3.0])?;
    let prepared = runtime.prepare(&graph, &[], &targets)?;
    let elsewhere = self::runtime()?.run(&mut [&mut engine], &prepared, &[]);
    writeln!(out, "run on another runtime: {}", message(elsewhere))?;
    writeln!(out, "new epoch = {}", runtime.reconfigure(Ok)?)?;
    let stale = runtime.run(&mut [&mut engine], &prepared, &[]);
    writeln!(out, "run after reconfigure: {}", message(stale))?;
    runtime.prepare(&graph, &[], &targets)?;
    count(out, "prepare after reconfigure", &runtime)
}

fn runtime() -> Result<Runtime> {
    let builder = Runtime::builder().register_engine(runtime_engine_registration())?;
    Ok(builder.install_extension_module(families::einsum::module())?.build()?)
}

fn graph(program: &SemanticProgram) -> CompiledGraph {
    CompiledGraph::new(Arc::new(program.clone()))
}

/// A program with a vector bound to an input, so that `&[]` is enough to prepare and run it.
fn bound(program: &SemanticProgram, input: &str, values: &[f64]) -> Result<CompiledGraph> {
    Ok(graph(program).with_default(input, Tensor::from_vec_col_major([values.len()], values.to_vec())?)?)
}

/// `1, 1.001, 1.002, ..`
fn ramp(n: usize) -> Result<Tensor> {
    Ok(Tensor::from_vec_col_major([n], (0..n).map(|i| 1.0 + i as f64 / 1000.0).collect())?)
}

fn elements(output: &Output<'_>) -> Result<Vec<f64>> {
    Ok(output.view().to_vec_col_major()?)
}

fn message<T>(result: tenferro::Result<T>) -> String {
    result.err().map_or("no error".to_owned(), |error| format!("Err: {error}"))
}

fn count(out: &mut String, label: &str, runtime: &Runtime) -> Result<()> {
    writeln!(out, "[{label}] {}", runtime.prepared_cache_stats())?;
    Ok(())
}

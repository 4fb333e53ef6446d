//! Programs with tensors bound to their inputs, and the three ways to give a call its inputs.
//!
//! A call may give all inputs of a program; or only those that no tensor is bound to, in the
//! program's order; or, where one is bound to each, none. What is bound is no part of what a
//! program is prepared for: programs of equal structure share what was prepared.

use std::borrow::Cow;
use std::sync::Arc;

use tenferro_core::ops::OpClass;
use tenferro_core::program::{Op, ProgramBuilder, SemanticProgram, SizeNames};
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Tensor, TensorRead};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::{self, Output};
use crate::prepare::{Prepared, ProgramRef};
use crate::runtime::Runtime;

/// A program, and for some of its inputs the tensor to use where a call gives none.
///
/// ```
/// use std::sync::Arc;
/// use tenferro_core::program::ProgramBuilder;
/// use tenferro_core::{DType, Tensor, TensorRead};
/// use tenferro_runtime::reference::{self, ReferenceEngine};
/// use tenferro_runtime::{CompiledGraph, Engine, Runtime};
///
/// let mut b = ProgramBuilder::new("difference");
/// let n = b.size("n");
/// let x = b.input("x", DType::F64, &[n.clone()])?;
/// let y = b.input("y", DType::F64, &[n])?;
/// let z = b.sub(x, y)?;
/// let ones = Tensor::from_vec_col_major([2], vec![1.0, 1.0])?;
/// let graph = CompiledGraph::new(Arc::new(b.finish(&[(None, z)])?)).with_default("y", ones)?;
/// assert_eq!(graph.input_index("y"), Some(1));
///
/// let runtime = Runtime::builder().register_engine(reference::registration())?.build()?;
/// let mut engine = ReferenceEngine::new();
/// let x = Tensor::from_vec_col_major([2], vec![3.0, 5.0])?;
/// let inputs = [TensorRead::from(&x)];
/// let prepared = runtime.prepare(&graph, &inputs, &[engine.target()])?;
/// let outputs = runtime.run(&mut [&mut engine], &prepared, &inputs)?;
/// assert_eq!(outputs[0].view().to_vec_col_major::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompiledGraph {
    program: Arc<SemanticProgram>,
    /// By input.
    defaults: Arc<[Option<Tensor>]>,
}

/// An input as [`CompiledGraph::compile_with_input_specs`] fixes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSpec<'a> {
    /// Its name in the program.
    pub name: &'a str,
    /// Its dtype, which must be the program's.
    pub dtype: DType,
    /// Its extents.
    pub shape: &'a [usize],
}

impl CompiledGraph {
    /// A program to whose inputs nothing is bound.
    pub fn new(program: Arc<SemanticProgram>) -> Self {
        let defaults = program.inputs().iter().map(|_| None).collect();
        Self { program, defaults }
    }

    /// The program with exactly these inputs, in this order and of these shapes, so that who wrote
    /// the list knows the order of inputs. Nothing is bound to them.
    ///
    /// # Errors
    /// Where the list is not that of the program's inputs, each once, or does not fit its dtypes
    /// and shapes.
    ///
    /// ```
    /// use tenferro_core::DType;
    /// use tenferro_core::program::ProgramBuilder;
    /// use tenferro_runtime::{CompiledGraph, InputSpec};
    ///
    /// let mut b = ProgramBuilder::new("difference");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n.clone()])?;
    /// let y = b.input("y", DType::F64, &[n])?;
    /// let z = b.sub(x, y)?;
    /// let program = b.finish(&[(None, z)])?;
    /// let vector = |name| InputSpec { name, dtype: DType::F64, shape: &[3] };
    /// let graph = CompiledGraph::compile_with_input_specs(&program, &[vector("y"), vector("x")])?;
    /// assert_eq!((graph.input_index("y"), graph.input_index("x")), (Some(0), Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile_with_input_specs(program: &SemanticProgram, specs: &[InputSpec<'_>]) -> Result<Self> {
        const CALL: &str = "CompiledGraph::compile_with_input_specs";
        let refuse = |message| Err(Error::Argument { call: CALL, argument: "specs", message });
        let mut listed = vec![None; program.inputs().len()];
        for (position, spec) in specs.iter().enumerate() {
            let input = find_input(CALL, "specs", program, spec.name)?;
            if listed[input].replace(position).is_some() {
                return refuse(format!("input `{}` is listed twice", spec.name));
            }
            check_dtype(CALL, program, input, spec.dtype, spec.shape)?;
        }
        let mut order = Vec::with_capacity(listed.len());
        for (position, input) in listed.into_iter().zip(program.inputs()) {
            let Some(position) = position else {
                return refuse(format!("input `{}` of {} is not listed", input.name, program.name()));
            };
            order.push(position);
        }
        // Whatever disagrees is said in the program's own words, before it is rebuilt. Extents beyond
        // those of `i64` are refused here as well.
        program.bind(&order.iter().map(|&position| specs[position].shape).collect::<Vec<_>>())?;

        let mut b = ProgramBuilder::new(program.name());
        let mut inputs = Vec::with_capacity(specs.len());
        for spec in specs {
            let shape: Vec<SymDim> = spec.shape.iter().map(|&extent| SymDim::constant(extent as i64)).collect();
            inputs.push(b.input(spec.name, spec.dtype, &shape)?);
        }
        let arguments: Vec<_> = order.iter().map(|&position| inputs[position]).collect();
        let results = b.call(program, &arguments)?;
        let outputs = program.outputs().iter().map(|output| output.name.as_deref()).zip(results);
        Ok(Self::new(Arc::new(b.finish(&outputs.collect::<Vec<_>>())?)))
    }

    /// Binds a tensor to an input, in the place of any bound before.
    ///
    /// # Errors
    /// Where the program has no such input, or of another dtype or rank. Extents are checked with
    /// those of the other inputs, when the program is prepared or run.
    pub fn with_default(mut self, input: &str, tensor: Tensor) -> Result<Self> {
        const CALL: &str = "CompiledGraph::with_default";
        let index = find_input(CALL, "input", &self.program, input)?;
        check_dtype(CALL, &self.program, index, tensor.dtype(), tensor.shape())?;
        let declared = self.program.input_meta(index);
        if declared.rank() != tensor.shape().len() {
            let declared = SizeNames(self.program.sizes()).meta(declared);
            let message = format!("input `{input}` is declared {declared}, the tensor has shape {:?}", tensor.shape());
            return Err(Error::Argument { call: CALL, argument: "tensor", message });
        }
        // The slice is shared with clones; it is small, and binding is rare.
        let mut defaults = self.defaults.to_vec();
        defaults[index] = Some(tensor);
        self.defaults = defaults.into();
        Ok(self)
    }

    /// The program.
    pub fn program(&self) -> &Arc<SemanticProgram> {
        &self.program
    }

    /// The position of the input with this name.
    pub fn input_index(&self, name: &str) -> Option<usize> {
        self.program.input_index(name)
    }

    /// The tensor bound to input `i`.
    pub fn default_input(&self, i: usize) -> Option<&Tensor> {
        self.defaults.get(i)?.as_ref()
    }
}

fn find_input(call: &'static str, argument: &'static str, program: &SemanticProgram, name: &str) -> Result<usize> {
    program.input_index(name).ok_or_else(|| {
        let names: Vec<_> = program.inputs().iter().map(|input| format!("`{}`", input.name)).collect();
        let message = format!("{} has no input `{name}`; its inputs are {}", program.name(), names.join(", "));
        Error::Argument { call, argument, message }
    })
}

fn check_dtype(
    call: &'static str,
    program: &SemanticProgram,
    input: usize,
    actual: DType,
    shape: &[usize],
) -> Result<()> {
    let declared = program.input_meta(input);
    if declared.dtype == actual {
        return Ok(());
    }
    let expected = SizeNames(program.sizes()).meta(declared);
    let input = program.inputs()[input].name.to_string();
    Err(Error::InputDType { call, input, expected, actual, shape: shape.to_vec() })
}

/// The inputs of a call, one for each of the program's: those given, where that is all of them, or
/// else those given in the places of the inputs that nothing is bound to.
pub(crate) fn complete<'x, T: Clone>(
    call: &'static str,
    program: &'x ProgramRef,
    given: &'x [T],
    of_default: impl Fn(&'x Tensor) -> T,
) -> Result<Cow<'x, [T]>> {
    let count = program.inputs().len();
    if given.len() == count {
        return Ok(Cow::Borrowed(given));
    }
    let mut rest = given.iter();
    let (mut all, mut bound, mut unbound) = (Vec::with_capacity(count), 0, Vec::new());
    for (i, input) in program.inputs().iter().enumerate() {
        match program.default_input(i) {
            Some(tensor) => {
                bound += 1;
                all.push(of_default(tensor));
            }
            None => match rest.next() {
                Some(input) => all.push(input.clone()),
                None => unbound.push(format!("`{}`", input.name)),
            },
        }
    }
    let given = given.len();
    if !unbound.is_empty() {
        let (program, inputs) = (program.name().to_owned(), unbound.join(", "));
        return Err(Error::UnboundPlaceholder { call, program, inputs, given, bound, count });
    }
    if rest.next().is_some() {
        let or = if bound > 0 { format!(" or the {} that nothing is bound to", count - bound) } else { String::new() };
        let message = format!("{} takes {count} inputs{or}, but {given} were given", program.name());
        return Err(Error::Argument { call, argument: "inputs", message });
    }
    Ok(Cow::Owned(all))
}

/// Runs with what is bound to the program in the places of inputs that are not given.
///
/// Results that are views of inputs given are borrowed from those. What would be borrowed from a
/// tensor that is bound shares its elements if it is all of it and is copied if not, so that
/// results do not borrow from `prepared`.
pub(crate) fn run<'a>(
    runtime: &Runtime,
    call: &'static str,
    engines: &mut [&mut dyn Engine],
    prepared: &Prepared,
    given: &[TensorRead<'a>],
) -> Result<Vec<Output<'a>>> {
    let program = prepared.program_ref();
    let all = match complete(call, program, given, TensorRead::from)? {
        Cow::Borrowed(_) => return execute::run(runtime, call, engines, prepared, given),
        Cow::Owned(all) => all,
    };
    let outputs = execute::run(runtime, call, engines, prepared, &all)?;
    let mut results = Vec::with_capacity(outputs.len());
    for (i, output) in outputs.into_iter().enumerate() {
        let view = match output {
            Output::Owned(tensor) => {
                results.push(Output::Owned(tensor));
                continue;
            }
            Output::Borrowed(view) => view,
        };
        let viewed = viewed_input(program, i).map(|input| (input, program.default_input(input)));
        results.push(match viewed {
            Some((input, None)) => {
                let before = (0..input).filter(|&i| program.default_input(i).is_none()).count();
                Output::Borrowed(given[before].view().with_layout(view.layout().clone())?)
            }
            Some((_, Some(tensor))) if tensor.layout() == view.layout() => Output::Owned(tensor.clone()),
            _ => Output::Owned(Output::Borrowed(view).into_tensor(&mut *engines[0])?),
        });
    }
    Ok(results)
}

/// The input that an output is a view of.
fn viewed_input(program: &SemanticProgram, output: usize) -> Option<usize> {
    let mut value = program.outputs()[output].value;
    while value.index() >= program.inputs().len() {
        let nodes = program.nodes();
        let node = &nodes[nodes.partition_point(|node| node.first_output <= value) - 1];
        match &node.op {
            Op::Core(op) if op.class() == OpClass::Layout => value = node.inputs[0],
            _ => return None,
        }
    }
    Some(value.index())
}

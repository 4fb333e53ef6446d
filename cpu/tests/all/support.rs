//! Programs of one operation, run on the CPU engine and on the reference engine, over data of many layouts.

use std::sync::{Arc, LazyLock};

use tenferro_core::ops::CoreOp;
use tenferro_core::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Complex, DType, Result, Scalar, ScalarValue, Tensor, TensorRead, with_dtype};
use tenferro_cpu::CpuEngine;
use tenferro_runtime::reference::{self, ReferenceEngine};
use tenferro_runtime::{Engine, Runtime};

/// A runtime with both engines.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Runtime::builder()
        .register_engine(tenferro_cpu::runtime_engine_registration())
        .unwrap()
        .register_engine(reference::registration())
        .unwrap()
        .install_extension_module(tenferro_cpu::families::einsum::module())
        .unwrap()
        .install_extension_module(reference::module())
        .unwrap()
        .build()
        .unwrap()
});

/// Runs a program of one output.
pub fn run_on(engine: &mut dyn Engine, program: &Arc<SemanticProgram>, inputs: &[Tensor]) -> Tensor {
    let reads: Vec<TensorRead<'_>> = inputs.iter().map(TensorRead::from).collect();
    let target = engine.target();
    let prepared = RUNTIME.prepare(program.clone(), &reads, &[target]).unwrap();
    let outputs = RUNTIME.run(&mut [&mut *engine], &prepared, &reads).unwrap();
    outputs[0].view().to_tensor().unwrap()
}

/// The result on the CPU engine, serial, and that of the reference engine.
pub fn run_both(program: &Arc<SemanticProgram>, inputs: &[Tensor]) -> (Tensor, Tensor) {
    let cpu = run_on(&mut CpuEngine::serial(), program, inputs);
    (cpu, run_on(&mut ReferenceEngine::new(), program, inputs))
}

/// A program over inputs of these dtypes and shapes, made by `body`.
pub fn program(
    inputs: &[(DType, &[usize])],
    body: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> Result<ValueId>,
) -> Result<Arc<SemanticProgram>> {
    let mut b = ProgramBuilder::new("test");
    let mut ids = Vec::new();
    for (i, (dtype, shape)) in inputs.iter().enumerate() {
        let dims: Vec<SymDim> = shape.iter().map(|&extent| SymDim::from(extent)).collect();
        ids.push(b.input(format!("x{i}"), *dtype, &dims)?);
    }
    let output = body(&mut b, &ids)?;
    Ok(Arc::new(b.finish(&[(None, output)])?))
}

/// A program of one core operation over tensors like these.
pub fn single_op(op: &CoreOp, inputs: &[Tensor]) -> Result<Arc<SemanticProgram>> {
    let metas: Vec<(DType, &[usize])> = inputs.iter().map(|x| (x.dtype(), x.shape())).collect();
    program(&metas, |b, ids| b.op(op.clone(), ids))
}

/// Reproducible noise.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() >> 33) as usize % limit
    }

    /// Between -2 and 2.
    pub fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 51) as f64 - 2.0
    }

    pub fn scalar(&mut self, dtype: DType) -> ScalarValue {
        match dtype {
            DType::C32 => Complex::new(self.real() as f32, self.real() as f32).into(),
            DType::C64 => Complex::new(self.real(), self.real()).into(),
            DType::I32 => (self.below(21) as i32 - 10).into(),
            DType::I64 => (self.below(21) as i64 - 10).into(),
            DType::Bool => (self.below(2) == 1).into(),
            real => ScalarValue::from_f64(self.real(), real),
        }
    }

    pub fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let len = shape.iter().product();
        with_dtype!(dtype, T => {
            let values = (0..len).map(|_| T::from_value(self.scalar(dtype)).unwrap()).collect();
            Tensor::from_vec_col_major(shape, values).unwrap()
        })
    }

    /// A tensor of this shape whose memory is laid out in one of several ways.
    pub fn laid_out(&mut self, dtype: DType, shape: &[usize], way: usize) -> Tensor {
        let rank = shape.len();
        let all: Vec<usize> = (0..rank).collect();
        match way % 6 {
            // axes in reverse order
            1 => {
                let reversed: Vec<usize> = shape.iter().rev().copied().collect();
                let axes: Vec<usize> = all.into_iter().rev().collect();
                self.tensor(dtype, &reversed).transpose(&axes).unwrap()
            }
            // every other entry of every axis
            2 => {
                let large: Vec<usize> = shape.iter().map(|&n| 2 * n + 1).collect();
                let limit: Vec<usize> = shape.iter().map(|&n| 2 * n).collect();
                let (zeros, twos) = (vec![0; rank], vec![2; rank]);
                self.tensor(dtype, &large).strided_slice(&zeros, &limit, &twos).unwrap()
            }
            // backwards
            3 => self.tensor(dtype, shape).reverse(&all).unwrap(),
            // only the odd axes vary
            4 => {
                let axes: Vec<usize> = (0..rank).filter(|axis| axis % 2 == 1).collect();
                let small: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
                self.tensor(dtype, &small).broadcast_in_dim(shape, &axes).unwrap()
            }
            // the last axis is contiguous, a part of a larger array
            5 if rank > 1 => {
                let mut order = all.clone();
                order.rotate_right(1);
                let mut large: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
                large[rank - 1] += 2;
                let mut start = vec![0; rank];
                start[rank - 1] = 1;
                let mut limit = large.clone();
                limit[rank - 1] -= 1;
                let part = self.tensor(dtype, &large).strided_slice(&start, &limit, &vec![1; rank]).unwrap();
                let mut back = vec![0; rank];
                order.iter().enumerate().for_each(|(from, &axis)| back[axis] = from);
                part.transpose(&back).unwrap()
            }
            _ => self.tensor(dtype, shape),
        }
    }
}

/// The number of ways that [`Noise::laid_out`] knows.
pub const WAYS: usize = 6;

/// Shapes of every rank up to 6, with empty ones, ones, and some beyond the sizes of tiles.
pub const SHAPES: &[&[usize]] = &[
    &[],
    &[0],
    &[1],
    &[7],
    &[3000],
    &[3, 4],
    &[0, 4],
    &[4, 0],
    &[1, 5],
    &[5, 1],
    &[70, 41],
    &[3, 700],
    &[2, 3, 4],
    &[40, 3, 50],
    &[3, 1, 2, 4],
    &[35, 2, 3, 34],
    &[2, 3, 1, 2, 3],
    &[2, 1, 3, 2, 2, 2],
];

/// Equal to the bit, but for the bits of NaN.
pub fn assert_same(actual: &Tensor, expected: &Tensor, what: &dyn Fn() -> String) {
    assert_eq!(actual.dtype(), expected.dtype(), "{}", what());
    assert_eq!(actual.shape(), expected.shape(), "{}", what());
    with_dtype!(actual.dtype(), T => {
        let pairs = actual.view().iter::<T>().unwrap().zip(expected.view().iter::<T>().unwrap());
        for (i, (a, e)) in pairs.enumerate() {
            let (a, e) = (a.to_value(), e.to_value());
            assert!(a == e || is_nan(a) && is_nan(e), "{}: entry {i}: got {a}, expected {e}", what());
        }
    });
}

fn is_nan(value: ScalarValue) -> bool {
    match value {
        ScalarValue::F32(x) => x.is_nan(),
        ScalarValue::F64(x) => x.is_nan(),
        ScalarValue::C32(z) => z.is_nan(),
        ScalarValue::C64(z) => z.is_nan(),
        _ => false,
    }
}

/// Equal up to rounding: relative to the largest entry, for sums of terms of that size.
pub fn assert_near(actual: &Tensor, expected: &Tensor, tolerance: f64, what: &dyn Fn() -> String) {
    assert_eq!(actual.dtype(), expected.dtype(), "{}", what());
    assert_eq!(actual.shape(), expected.shape(), "{}", what());
    let (a, e) = (as_complex(actual), as_complex(expected));
    for (i, (a, e)) in a.iter().zip(&e).enumerate() {
        let near = (a - e).norm() <= tolerance * (1.0 + e.norm()) || a == e;
        assert!(near, "{}: entry {i}: got {a}, expected {e}", what());
    }
}

fn as_complex(tensor: &Tensor) -> Vec<Complex<f64>> {
    let widen = |value| match value {
        ScalarValue::F32(x) => Complex::new(x.into(), 0.0),
        ScalarValue::F64(x) => Complex::new(x, 0.0),
        ScalarValue::C32(z) => Complex::new(z.re.into(), z.im.into()),
        ScalarValue::C64(z) => z,
        ScalarValue::I32(i) => Complex::new(i.into(), 0.0),
        ScalarValue::I64(i) => Complex::new(i as f64, 0.0),
        ScalarValue::Bool(b) => Complex::new(f64::from(u8::from(b)), 0.0),
    };
    with_dtype!(tensor.dtype(), T => tensor.view().iter::<T>().unwrap().map(|x| widen(x.to_value())).collect())
}

/// A tolerance for sums of a thousand terms or so.
pub fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::C32 => 1e-4,
        DType::F64 | DType::C64 => 1e-12,
        _ => 0.0,
    }
}

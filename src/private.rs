//! What the expansion of `tenferro!` refers to. No part of the public interface.

pub use num_complex::Complex;

pub use crate::dtype::{Float, Num, Real};
pub use crate::kernel::{Array, Item, Kernel, Operand, Place, Prepared, Results, position, scalar};
pub use crate::program::SemanticProgram;
pub use crate::runtime::{EngineTarget, Runtime};
pub use crate::tensor::TypedTensor;
pub use crate::{Result, Session};

use crate::kernel::{Destination, KernelProgram};
use crate::tensor::TensorRead;

/// Runs a kernel's program.
pub fn call<'s, 'a>(
    session: &'s mut Session,
    program: &'static KernelProgram,
    inputs: &[TensorRead<'a>],
) -> Result<Results<'s, 'a>> {
    session.call(program, inputs)
}

/// Runs a kernel's program and writes the results over `outputs`.
pub fn call_into(
    session: &mut Session,
    program: &'static KernelProgram,
    inputs: &[TensorRead<'_>],
    outputs: &mut [&mut dyn Destination],
) -> Result<()> {
    session.call_into(program, inputs, outputs)
}

/// The value of every method of a kernel whose body has errors; such a program does not compile.
pub fn erroneous<T>() -> T {
    unreachable!("this kernel did not compile")
}

/// An expansion imports this under the name of each of its locals: a pattern may shadow a function, but
/// not a unit struct of that name outside, such as another kernel.
pub fn local() {}

/// The short names in which static programs are written.
pub mod program {
    pub use std::borrow::Cow::Borrowed as B;

    pub use num_complex::Complex;

    pub use crate::dtype::DType::{self, Bool, C32, C64, F32, F64, I32, I64};
    pub use crate::dtype::ScalarValue;
    pub use crate::einsum::{EinsumOp, EinsumOptimize, Goal, Nested, Objective};
    pub use crate::kernel::{KernelProgram, Slot};
    pub use crate::program::ops::Comparison;
    pub use crate::program::ops::CoreOp::{self, *};
    pub use crate::program::shape::{Factor, SizeId, SymDim, Term};
    pub use crate::program::{Fingerprint, Guard, Relation, SemanticProgram, Size, ValueId as V, ValueMeta};

    use crate::extension::{ExtensionOp, ExtensionRef};
    use crate::program::{Input, Node, Op, Output, SizeBinding};

    /// A size as an extent.
    pub const fn size<const ID: u32>() -> SymDim {
        affine::<ID, 1, 0>()
    }

    /// `SCALE * size + OFFSET` as an extent.
    pub const fn affine<const ID: u32, const SCALE: i64, const OFFSET: i64>() -> SymDim {
        SymDim {
            constant: OFFSET,
            terms: B(const { &[Term { factors: B(const { &[Factor::Size(SizeId(ID))] }), coefficient: SCALE }] }),
        }
    }

    /// A known extent.
    pub const fn dim(extent: i64) -> SymDim {
        SymDim::constant(extent)
    }

    /// A size and the axis that binds it: the extent there is `scale * size + offset`.
    pub const fn size_of(name: &'static str, input: u32, axis: u32, scale: i64, offset: i64) -> Size {
        Size { name: B(name), binding: SizeBinding::Axis { input, axis, scale, offset } }
    }

    /// A size and the value it is read off, at most `bound`.
    pub const fn size_of_value(name: &'static str, value: u32, bound: SymDim) -> Size {
        Size { name: B(name), binding: SizeBinding::Value { value: V(value), bound } }
    }

    /// An input of a program.
    pub const fn input(name: &'static str) -> Input {
        Input { name: B(name) }
    }

    /// Dtype and shape of a value.
    pub const fn value(dtype: DType, shape: &'static [SymDim]) -> ValueMeta {
        ValueMeta { dtype, shape: B(shape) }
    }

    /// A core operation, after the value it makes.
    pub const fn core(output: u32, op: CoreOp, inputs: &'static [V]) -> Node {
        Node { op: Op::Core(op), inputs: B(inputs), first_output: V(output), output_count: 1 }
    }

    /// An operation of a family, after the first of the values it makes and their number.
    pub const fn extension(
        first_output: u32,
        output_count: u32,
        op: &'static dyn ExtensionOp,
        inputs: &'static [V],
    ) -> Node {
        let op = Op::Extension(ExtensionRef::Static(op));
        Node { op, inputs: B(inputs), first_output: V(first_output), output_count }
    }

    /// An output of a program.
    pub const fn output(value: u32) -> Output {
        Output { name: None, value: V(value) }
    }

    /// An output with a name.
    pub const fn named(name: &'static str, value: u32) -> Output {
        Output { name: Some(B(name)), value: V(value) }
    }
}

//! What the expansion of `tenferro!` refers to. No part of the public interface.

pub use num_complex::Complex;

pub use crate::dtype::{Float, Num, Real};
pub use crate::kernel::{Array, Item, Kernel, Operand, Place, Prepared, Results, of_dtype, scalar};
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
    crate::kernel::write_into(outputs, |tensors| session.call_into(program, inputs, tensors))
}

/// The value of every method of a kernel whose body has errors; such a program does not compile.
pub fn erroneous<T>() -> T {
    unreachable!("this kernel did not compile")
}

/// An expansion imports this under the name of each parameter of the kernel, so that a unit struct
/// of that name outside, another kernel for instance, is not taken for the parameter's pattern.
pub fn local() {}

/// The short names in which static programs are written.
pub mod program {
    pub use std::borrow::Cow::Borrowed as B;

    pub use num_complex::Complex;

    pub use crate::dtype::DType::{self, Bool, C32, C64, F32, F64, I32, I64};
    pub use crate::dtype::ScalarValue;
    pub use crate::einsum::{EinsumOp, PlanSpec};
    pub use crate::kernel::{KernelProgram, Slot};
    pub use crate::program::ops::Comparison;
    pub use crate::program::ops::CoreOp::{self, *};
    pub use crate::program::{
        Factor, Fingerprint, Guard, Input, Output, Relation, SemanticProgram, Size, SizeId, SymDim, Term, ValueId as V,
    };

    use crate::extension::{ExtensionOp, ExtensionRef};
    use crate::program::{Node, Op, ValueMeta};

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

    /// A value of a program.
    pub const fn value(dtype: DType, shape: &'static [SymDim]) -> ValueMeta {
        ValueMeta { dtype, shape: B(shape) }
    }

    /// A core operation.
    pub const fn core(op: CoreOp, inputs: &'static [V], output: V) -> Node {
        Node { op: Op::Core(op), inputs: B(inputs), first_output: output, output_count: 1 }
    }

    /// An operation of a family.
    pub const fn extension(
        op: &'static dyn ExtensionOp,
        inputs: &'static [V],
        first_output: V,
        output_count: u32,
    ) -> Node {
        Node { op: Op::Extension(ExtensionRef::Static(op)), inputs: B(inputs), first_output, output_count }
    }
}

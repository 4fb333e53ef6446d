//! The one kind of command of the reference engine, and the choice of a Rust type by dtype.

use std::fmt;

use tenferro_core::{Layout, Tensor, TensorView};

use crate::engine::Engine;
use crate::error::Result;
use crate::execute::Command;

type Flops = dyn Fn(&[&Layout]) -> Option<f64> + Send + Sync;
type Run = dyn Fn(&[TensorView<'_>], &mut [&mut Tensor]) -> Result<()> + Send + Sync;

/// A loop with its name.
pub(super) struct Kernel {
    name: &'static str,
    run: Box<Run>,
    flops: Option<Box<Flops>>,
}

impl Kernel {
    /// A kernel that fills its only output.
    pub fn new(
        name: &'static str,
        run: impl Fn(&[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { name, run: Box::new(move |inputs, outputs| run(inputs, outputs[0])), flops: None }
    }

    /// The same that counts its operations.
    pub fn counting(self, flops: impl Fn(&[&Layout]) -> Option<f64> + Send + Sync + 'static) -> Self {
        Self { flops: Some(Box::new(flops)), ..self }
    }
}

impl Command for Kernel {
    fn execute(&self, _: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        (self.run)(inputs, outputs)
    }

    fn flops(&self, inputs: &[&Layout]) -> Option<f64> {
        self.flops.as_ref()?(inputs)
    }

    fn name(&self) -> &str {
        self.name
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reference {}", self.name)
    }
}

/// `for_dtype!(class: dtype, T => expression)`: the expression with `T` the Rust type of the
/// dtype, or `None` where the dtype is not of the class.
macro_rules! for_dtype {
    (real: $($rest:tt)*) => { for_dtype!(@[F32 F64] $($rest)*) };
    (float: $($rest:tt)*) => { for_dtype!(@[F32 F64 C32 C64] $($rest)*) };
    (ordered: $($rest:tt)*) => { for_dtype!(@[F32 F64 I32 I64] $($rest)*) };
    (numeric: $($rest:tt)*) => { for_dtype!(@[F32 F64 C32 C64 I32 I64] $($rest)*) };
    (@[$($dtype:ident)*] $value:expr, $T:ident => $body:expr) => {
        match $value {
            $(tenferro_core::DType::$dtype => {
                type $T = for_dtype!(@type $dtype);
                Some($body)
            })*
            _ => None,
        }
    };
    (@type F32) => { f32 };
    (@type F64) => { f64 };
    (@type C32) => { tenferro_core::Complex32 };
    (@type C64) => { tenferro_core::Complex64 };
    (@type I32) => { i32 };
    (@type I64) => { i64 };
}

pub(super) use for_dtype;

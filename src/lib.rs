//! Tensors, einsum and automatic differentiation, written inline and checked by the compiler.
//!
//! A kernel is written in a small language inside Rust. Names, ranks, symbolic sizes, dtypes and
//! einsum labels are checked while the crate compiles, and so are made the kernel's program and its
//! gradient programs; what is left to run time is the sizes.
//!
//! ```
//! use tenferro::prelude::*;
//!
//! tenferro! {
//!     /// Mean squared error of a linear model.
//!     #[grad(w, b)]
//!     pub fn mse(w: f64[d], b: f64, x: f64[n, d], y: f64[n]) -> f64 {
//!         let r[i] = x[i, j] * w[j] + b - y[i];
//!         mean(r * r)
//!     }
//! }
//!
//! let mut cpu = Session::cpu();
//! let x = TypedTensor::from_vec_row_major([3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let y = TypedTensor::from_vec_col_major([3], vec![1.0, 2.0, 3.0])?;
//! let w = TypedTensor::from_vec_col_major([2], vec![0.0, 0.5])?;
//!
//! let (loss, (dw, db)) = mse.value_and_grad(&mut cpu, &w, 0.0, &x, &y)?;
//! assert_eq!(loss, 0.0);
//! assert_eq!(dw.as_slice()?, [0.0, 0.0]);
//! assert_eq!(db, 0.0);
//!
//! // Sizes are known at run time only; the message names the size and both places.
//! let short = TypedTensor::from_vec_col_major([1], vec![1.0])?;
//! let error = mse.run(&mut cpu, &w, 0.0, &x, &short).unwrap_err();
//! assert!(error.to_string().contains("size `n`"), "{error}");
//! # Ok::<(), tenferro::Error>(())
//! ```
//!
//! # Where things are
//!
//! | | |
//! |---|---|
//! | [`tenferro!`] | the language |
//! | [`Session`], [`kernel`] | running kernels: a runtime and an engine together; what a kernel has |
//! | [`tensor`], [`dtype`] | tensors, views and their elements |
//! | [`program`] | what a kernel becomes: programs, their operations, the builder for programs made at run time |
//! | [`ad`] | derivatives of programs as programs |
//! | [`einsum()`], [`mod@einsum`] | einsums of tensors at hand; products by name; notation and contraction planning |
//! | [`runtime`], [`cpu`] | preparing and running programs on engines; the CPU engine |
//! | [`extension`] | operation families of your own |
//!
//! Storage is column-major: the first axis varies fastest. Constructors always say the order.
//!
//! # Features
//!
//! None is on by default; those for values of other crates have examples in `docs/interop.md`.
//!
//! | | |
//! |---|---|
//! | `ndarray`, `nalgebra`, `faer` | tensors from and to their arrays and matrices; also to kernels from `ndarray` |
//! | `serde` | tensors, dtypes and programs in any format of `serde` |
//! | `npy` | NumPy's files `.npy` and `.npz` |
//! | `tracing` | spans of preparing and running, see `docs/observing.md` |
#![forbid(unsafe_code)]

// The expansion of `tenferro!` refers to `::tenferro`, in this crate's own tests as everywhere else.
extern crate self as tenferro;

mod directions;
pub mod einsum;
mod jacobian;
pub mod kernel;
pub mod prelude;
mod recent;
mod session;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use einsum::{einsum, einsum_into};
pub use session::Session;

// The examples of the pages are tests too.
#[cfg(doctest)]
#[doc = include_str!("../docs/language.md")]
struct LanguageReference;
#[cfg(doctest)]
#[doc = include_str!("../docs/observing.md")]
struct ObservingPage;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Kernels written inline: the language of this crate.
///
/// As items, each `fn` becomes a value with the methods `run`, `run_into`, `prepare`, `program`, and
/// where it is differentiable `jvp`, `vjp`, and for a real scalar result `grad`, `value_and_grad`, `hvp`:
///
/// ```
/// use tenferro::prelude::*;
///
/// tenferro! {
///     /// Scaled dot-product attention, one head.
///     pub fn attention<T: Real>(q: T[n, d], k: T[m, d], v: T[m, e]) -> T[n, e] {
///         let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
///         let p[i, j] = softmax[j](score[i, j]);
///         einsum("nm,me->ne", p, v)
///     }
/// }
///
/// let mut cpu = Session::cpu();
/// let q = TypedTensor::<f32, 2>::ones([2, 3])?;
/// let v = TypedTensor::<f32, 2>::ones([4, 1])?;
/// let out = attention.run(&mut cpu, &q, &TypedTensor::ones([4, 3])?, &v)?;
/// assert_eq!(out.shape(), [2, 1]);
/// # Ok::<(), tenferro::Error>(())
/// ```
///
/// As an expression, the block is a value with the same methods:
///
/// ```
/// # use tenferro::prelude::*;
/// let mut cpu = Session::cpu();
/// let norm2 = tenferro! { |x: f64[n]| -> f64 { x[i] * x[i] -> [] } };
/// let x = TypedTensor::from_vec_col_major([2], vec![3.0, 4.0])?;
/// assert_eq!(norm2.run(&mut cpu, &x)?, 25.0);
/// assert_eq!(norm2.grad(&mut cpu, &x)?.as_slice()?, [6.0, 8.0]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub use tenferro_dsl_macros::tenferro;

/// An einsum of typed tensors, checked while the crate compiles: the notation, how many operands there are, their ranks
/// and dtypes; the rank of the result is part of its type.
///
/// The operands are all of one dtype, any of `f32 f64 c32 c64 i32 i64`: `&TypedTensor<T, R>` or a view with as many axes
/// as the term has labels, and a Rust scalar for a term without any. The value remembers them until it is run:
///
/// ```
/// use tenferro::prelude::*;
///
/// let mut session = Session::cpu();
/// let a = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0]]);
/// let x = TypedTensor::from_vec(vec![1.0, 10.0]);
/// let y: TypedTensor<f64, 1> = einsum!("ij,j->i", &a, &x).run(&mut session)?;
/// assert_eq!(y.as_slice()?, [21.0, 43.0]);
///
/// let mut square = TypedTensor::zeros([2, 2])?;
/// einsum!("ij,jk->ik", &a, &a).run_into(&mut session, &mut square)?;
/// assert_eq!(square, TypedTensor::from_rows([[7.0, 10.0], [15.0, 22.0]]));
/// # Ok::<(), tenferro::Error>(())
/// ```
///
/// A session in front runs it at once, and `path` or `optimize` at the end choose the order as in the language:
///
/// ```
/// # use tenferro::prelude::*;
/// let mut session = Session::cpu();
/// let a = TypedTensor::<f32, 2>::eye(3)?;
/// assert_eq!(einsum!(&mut session, "ij,jk,ki->", &a, &a, &a, optimize = greedy)?, 3.0);
/// # Ok::<(), tenferro::Error>(())
/// ```
///
/// As in the language, an axis of extent 1 stretches where `#` marks it, and nowhere else. For operands whose dtype or
/// rank is not in their type, `...` among the labels, and stretching without marks, there is [`einsum()`].
///
/// ```compile_fail
/// # use tenferro::prelude::*;
/// let x = TypedTensor::<f64, 1>::zeros([3])?;
/// let _ = einsum!("ij,jk->ik", &x, &x); // two axes each, says the notation
/// # Ok::<(), tenferro::Error>(())
/// ```
pub use tenferro_dsl_macros::einsum;

pub use tenferro_runtime::{Error, Result};

/// Tensors and views, with dtype and rank known at run time or written in the type.
pub mod tensor {
    pub use tenferro_core::s;
    pub use tenferro_core::tensor::*;
}

/// What an element is: dtypes, the Rust types behind them, scalars of any dtype.
pub mod dtype {
    pub use tenferro_core::dtype::*;
    pub use tenferro_core::{Complex, Complex32, Complex64};
}

/// Programs: what a kernel becomes while compiling, and what [`ProgramBuilder`](program::ProgramBuilder) makes at run
/// time.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::program::ProgramBuilder;
/// use tenferro::tensor::TensorRead;
///
/// let mut b = ProgramBuilder::new("twice");
/// let n = b.size("n");
/// let x = b.input("x", DType::F64, &[n])?;
/// let y = b.add(x, x)?;
/// let program = std::sync::Arc::new(b.finish(&[(None, y)])?);
///
/// let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0])?;
/// let results = Session::cpu().run(&program, &[TensorRead::from(&x)])?;
/// assert_eq!(results[0].as_slice::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub mod program {
    pub use tenferro_core::program::*;
    pub use tenferro_core::{composite, ops, shape};
}

/// Derivatives of programs as programs: `jvp`, `vjp`, `grad`, `value_and_grad`, `hvp`; checkpoints; rules of families.
pub mod ad {
    pub use tenferro_core::ad::*;
}

/// Preparing programs and running them: [`Runtime`](runtime::Runtime), engines, the reference engine.
pub mod runtime {
    pub use tenferro_runtime::*;
}

/// The CPU engine.
pub mod cpu {
    pub use tenferro_cpu::*;
}

/// The contracts of operation families: payload, shape inference, executors, derivative rules.
pub mod extension {
    pub use tenferro_core::extension::*;
    pub use tenferro_runtime::{
        Command, ExtensionCacheStore, ExtensionModule, FamilyExecutor, Preparation, PrepareRequest, Registrar,
        SpecializationRequirements,
    };
}

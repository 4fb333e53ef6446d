//! The CPU engine of tenferro: kernels, and the executors of the standard operation families.
//!
//! A [`CpuEngine`] computes on the caller's thread or on a rayon pool. It keeps the memory it allocates, and its
//! results are the same to the bit for every number of threads.
//!
//! ```
//! use std::sync::Arc;
//! use tenferro_core::program::ProgramBuilder;
//! use tenferro_core::{DType, Tensor, TensorRead};
//! use tenferro_cpu::CpuEngine;
//! use tenferro_runtime::{Engine, Runtime};
//!
//! let mut b = ProgramBuilder::new("square");
//! let n = b.size("n");
//! let x = b.input("x", DType::F64, &[n])?;
//! let y = b.mul(x, x)?;
//! let program = Arc::new(b.finish(&[(None, y)])?);
//!
//! let runtime = Runtime::builder()
//!     .register_engine(tenferro_cpu::runtime_engine_registration())?
//!     .install_extension_module(tenferro_cpu::families::einsum::module())?
//!     .build()?;
//! let mut cpu = CpuEngine::serial();
//! let x = Tensor::from_vec_col_major([3], vec![1.0, 2.0, 3.0])?;
//! let inputs = [TensorRead::from(&x)];
//! let prepared = runtime.prepare(program, &inputs, &[cpu.target()])?;
//! let outputs = runtime.run(&mut [&mut cpu], &prepared, &inputs)?;
//! assert_eq!(outputs[0].view().to_vec_col_major::<f64>()?, [1.0, 4.0, 9.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod contraction;
mod dtypes;
mod engine;
pub mod families;
mod memory;
mod movement;
mod nest;
mod provider;
mod reduce;
mod region;
mod workers;

pub use engine::{CpuEngine, ENGINE_ID, runtime_engine_registration};

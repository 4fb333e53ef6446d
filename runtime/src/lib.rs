//! How a tenferro program is prepared and run.
//!
//! A [`Runtime`] is a configuration (which engines exist, who executes which operation family)
//! and the programs prepared under it. An [`Engine`] executes; the caller owns it and lends it to
//! [`Runtime::run`]. [`Runtime::prepare`] makes a flat list of [`Command`]s of a program, its
//! kernels, lifetimes and buffers chosen, and keeps it for the next time; running it pays for the
//! work and little else.
//!
//! What happens can be seen: [`Prepared::explain`] says what will run, [`Runtime::profile`] what did
//! and how long it took. With the feature `tracing` there are spans of the crate of that name:
//! `prepare` and `run` at the level `DEBUG` with the program's name, `lower` within `prepare` where
//! the program was not found prepared, and within `run` each `command` at the level `TRACE` with its
//! name.
#![forbid(unsafe_code)]

#[macro_use]
mod spans;
mod cache;
mod compiled;
mod engine;
mod error;
mod execute;
mod explain;
mod extension;
mod placement;
mod prepare;
mod profile;
pub mod reference;
mod registration;
mod runtime;
mod snapshot;
mod transfer;

pub use cache::{CacheLimits, CacheStats};
pub use compiled::{CompiledGraph, InputSpec};
pub use engine::{AllocationDomain, ContextIdentity, Engine, EngineId, EngineTarget};
pub use error::{Error, Result};
pub use execute::{Command, Output};
pub use explain::Explanation;
pub use extension::{ExtensionCacheStore, ExtensionModule, FamilyExecutor, Registrar};
pub use placement::{Placement, Preference};
pub use prepare::{
    LayoutClass, Preparation, PrepareRequest, Prepared, ProgramRef, Specialization, SpecializationRequirements,
};
pub use profile::{CommandRecord, CommandTotal, Profile, RunRecord};
pub use registration::{EngineRegistration, Ingress, Provider};
pub use runtime::Runtime;
pub use snapshot::RuntimeBuilder;
pub use transfer::Transfer;

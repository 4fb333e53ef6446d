//! How a tenferro program is prepared and run.
//!
//! A [`Runtime`] is a configuration (which engines exist, who executes which operation family)
//! and the programs prepared under it. An [`Engine`] executes; the caller owns it and lends it to
//! [`Runtime::run`]. [`Runtime::prepare`] makes a flat list of [`Command`]s of a program, its
//! kernels, lifetimes and buffers chosen, and keeps it for the next time; running it pays for the
//! work and little else.
#![forbid(unsafe_code)]

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

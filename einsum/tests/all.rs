//! Integration tests, one subject a module.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "all/derivatives.rs"]
mod derivatives;
#[path = "all/faults.rs"]
mod faults;
#[path = "all/flattening.rs"]
mod flattening;
#[path = "all/golden.rs"]
mod golden;
#[path = "all/interpreter.rs"]
mod interpreter;
#[path = "all/networks.rs"]
mod networks;
#[path = "all/notation.rs"]
mod notation;
#[path = "all/oracle.rs"]
mod oracle;
#[path = "all/payload.rs"]
mod payload;
#[path = "all/planning.rs"]
mod planning;
#[path = "all/quality.rs"]
mod quality;
#[path = "all/searches.rs"]
mod searches;
#[path = "all/slicing.rs"]
mod slicing;

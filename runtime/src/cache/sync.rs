//! The primitives that block, as the model checker wants them or as they are.

#[cfg(all(test, loom))]
pub(super) use loom::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};

#[cfg(not(all(test, loom)))]
pub(super) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};

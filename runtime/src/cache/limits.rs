//! How much a cache of prepared programs holds and does at once.

use crate::error::{Error, Result};

/// The bounds of a runtime's cache of prepared programs.
///
/// ```
/// use tenferro_runtime::{CacheLimits, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// runtime.set_prepared_cache_limits(CacheLimits { entries: 32, ..CacheLimits::default() })?;
/// assert_eq!(runtime.prepared_cache_limits().entries, 32);
/// # Ok::<(), tenferro_runtime::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// The most entries kept; the least recently used make room. 128 by default.
    pub entries: usize,
    /// The most logical bytes kept; the least recently used entries make room, and one that is
    /// larger by itself is returned but not kept. 64 MiB by default.
    ///
    /// The logical size of an entry is that of its key and, of a prepared program, of its targets,
    /// its steps with their commands, and its table of values and buffers; of a failure, of its
    /// message. It leaves out what the allocator adds, what commands hold behind pointers, and the
    /// layouts that runs with recent inputs left behind.
    pub bytes: usize,
    /// The most keys in preparation at once. 16 by default.
    pub preparing: usize,
    /// The most keys that wait for a place among those in preparation, first come first served.
    /// A call that would have to prepare one more is refused with
    /// [`Error::PreparationQueueFull`]; with 0, no call waits for a place. Calls that ask for a
    /// key in preparation or in the queue wait for its result and need no place. 64 by default.
    pub queued: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { entries: 128, bytes: 64 << 20, preparing: 16, queued: 64 }
    }
}

impl CacheLimits {
    /// Refuses limits under which nothing could be kept or prepared.
    pub(super) fn check(&self, call: &'static str) -> Result<()> {
        let positive = [("entries", self.entries), ("bytes", self.bytes), ("preparing", self.preparing)];
        match positive.into_iter().find(|(_, limit)| *limit == 0) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` is 0, but must be at least 1");
                Err(Error::Argument { call, argument: "limits", message })
            }
        }
    }
}

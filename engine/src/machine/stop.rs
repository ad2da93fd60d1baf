//! The user's wish to stop, which may come from another thread while the machine runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish to stop, shared with who may have it. The run loop looks at it between runs of cores: within some tenths of a
/// second of host time.
#[derive(Clone, Debug, Default)]
pub struct StopRequest(Arc<AtomicBool>);

impl StopRequest {
    /// Asks all runs that follow this request to stop. It is never taken back.
    pub fn make(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if someone asked.
    pub fn is_made(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

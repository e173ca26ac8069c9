//! Since when the connection that writes is held: everybody who writes waits for its holder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The clock of one writer: milliseconds since it was opened, plus 1; 0 while nobody holds it.
#[derive(Debug)]
pub(super) struct HeldSince {
    opened: Instant,
    since: AtomicU64,
}

/// Somebody holds the writer, until this is dropped: before the connection is free for the next.
#[derive(Debug)]
pub(super) struct Holding(Arc<HeldSince>);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.since.store(0, Ordering::Release);
    }
}

impl HeldSince {
    pub(super) fn new() -> Self {
        Self { opened: Instant::now(), since: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        1 + u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX >> 1)
    }

    /// Notes that somebody holds the writer from now on.
    pub(super) fn begin(self: &Arc<Self>) -> Holding {
        self.since.store(self.now(), Ordering::Release);
        Holding(Arc::clone(self))
    }

    /// How long the present holder has had it.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        let since = Some(self.since.load(Ordering::Acquire)).filter(|since| *since > 0)?;
        Some(Duration::from_millis(self.now().saturating_sub(since)))
    }
}

//! Since when the writer connection is held, and whether others wait for it: all other writers wait for its holder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The clock of one writer, and the number of waiters. `since`: milliseconds since it was opened, plus 1; 0 while it
/// is free.
#[derive(Debug)]
pub(crate) struct HeldSince {
    opened: Instant,
    since: AtomicU64,
    waiting: AtomicU32,
}

/// Marks the writer as held until it is dropped, which happens before the connection is free for the next holder.
#[derive(Debug)]
pub(super) struct Holding(Arc<HeldSince>);

/// Counts a waiter until it is dropped.
#[derive(Debug)]
pub(super) struct Waiting<'a>(&'a HeldSince);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.since.store(0, Ordering::Release);
    }
}

impl HeldSince {
    pub(super) fn new() -> Self {
        Self { opened: Instant::now(), since: AtomicU64::new(0), waiting: AtomicU32::new(0) }
    }

    fn now(&self) -> u64 {
        1 + u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX >> 1)
    }

    /// Records that the writer is held.
    pub(super) fn begin(self: &Arc<Self>) -> Holding {
        self.since.store(self.now(), Ordering::Release);
        Holding(Arc::clone(self))
    }

    /// Counts a waiter.
    pub(super) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Release);
        Waiting(self)
    }

    /// How long the current holder has had it, if others wait for it.
    pub(crate) fn elapsed_while_others_wait(&self) -> Option<Duration> {
        if self.waiting.load(Ordering::Acquire) > 0 { self.elapsed() } else { None }
    }

    /// How long the current holder has had it.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        let since = Some(self.since.load(Ordering::Acquire)).filter(|since| *since > 0)?;
        Some(Duration::from_millis(self.now().saturating_sub(since)))
    }
}

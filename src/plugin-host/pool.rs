//! An instance pool of one generation of a plugin (hooks have one of their own): its concurrency limit, its warm instances and its drain.
//!
//! Reached from `call` for every call, and from [`Plugin::drain`](crate::Plugin::drain). A semaphore limits concurrent
//! calls; waiting calls are limited by number and time, beyond which they end with [`CallErrorKind::Busy`]. Creates no
//! instances and runs no guest code.
//!
//! Spec: docs/plugins.md#23-swap-and-drain and docs/plugins.md#26-limits.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};
use tokio::time::Instant;

use crate::error::{CallError, CallErrorKind};
use crate::instance::Live;
use crate::limits::Limits;

/// An error of the host's own: without a failure or a backtrace of the guest's.
pub(crate) fn ended(ended: CallErrorKind, message: impl Into<String>) -> CallError {
    CallError { kind: ended, message: message.into(), failure: None, backtrace: Vec::new(), person: None }
}

/// The pools of all plugins of an engine, which share the slots of its pooling allocator.
#[derive(Default)]
pub(crate) struct Pools(Mutex<Vec<Weak<Pool>>>);

impl Pools {
    pub(crate) fn join(&self, pool: &Arc<Pool>) {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// Drops the warm instances of all plugins, to free slots for a call that found none.
    pub(crate) fn make_room(&self) {
        let pools: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
        pools.iter().for_each(|pool| pool.forget());
    }
}

/// The instance pool of one generation.
pub(crate) struct Pool {
    places: Semaphore,
    waiting: AtomicU32,
    running: AtomicU32,
    idle: Mutex<Vec<Live>>,
    /// Set while draining: instances are no longer kept after a call.
    draining: AtomicBool,
    /// Set when drained: new calls are refused.
    closed: AtomicBool,
    /// Becomes true when the calls that still run must be cancelled.
    cut: watch::Sender<bool>,
    left: Notify,
}

/// A call in flight: its slot is freed when this is dropped, however the call ended.
pub(crate) struct Running<'a> {
    pool: &'a Pool,
    _place: SemaphorePermit<'a>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.pool.running.fetch_sub(1, Ordering::AcqRel);
        self.pool.left.notify_waiters();
    }
}

/// A call in the queue.
struct Waiting<'a>(&'a AtomicU32);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Pool {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            places: Semaphore::new(usize::try_from(limits.instances).unwrap_or(1).max(1)),
            waiting: AtomicU32::new(0),
            running: AtomicU32::new(0),
            idle: Mutex::default(),
            draining: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            cut: watch::Sender::new(false),
            left: Notify::new(),
        }
    }

    /// Waits for a free slot: [`CallErrorKind::Busy`] beyond the limits of the queue, [`CallErrorKind::Drained`] after a drain.
    pub(crate) async fn enter(&self, limits: &Limits) -> Result<Running<'_>, CallError> {
        let drained = || ended(CallErrorKind::Drained, "the plugin was replaced");
        if self.closed.load(Ordering::Acquire) {
            return Err(drained());
        }
        let place = match self.places.try_acquire() {
            Ok(place) => place,
            Err(_) => self.queue(limits).await?,
        };
        self.running.fetch_add(1, Ordering::AcqRel);
        let running = Running { pool: self, _place: place };
        if self.closed.load(Ordering::Acquire) { Err(drained()) } else { Ok(running) }
    }

    async fn queue(&self, limits: &Limits) -> Result<SemaphorePermit<'_>, CallError> {
        let ahead = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = Waiting(&self.waiting);
        if ahead >= limits.queue {
            return Err(ended(CallErrorKind::Busy, format!("queue: {ahead} calls wait already")));
        }
        match tokio::time::timeout(limits.queue_wait, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) => Err(ended(CallErrorKind::Drained, "the plugin was replaced")),
            Err(_) => {
                let (wait, instances) = (limits.queue_wait.as_millis(), limits.instances);
                Err(ended(CallErrorKind::Busy, format!("queue: none of {instances} places came free in {wait} ms")))
            }
        }
    }

    /// Completes when the calls that still run must be cancelled.
    pub(crate) async fn cut_off(&self) {
        let mut cut = self.cut.subscribe();
        // The sender lives as long as this pool.
        let _ = cut.wait_for(|cut| *cut).await;
    }

    /// A warm instance, and how many were dropped because they must not be used again.
    pub(crate) fn take(&self) -> (Option<Live>, usize) {
        let mut worn = Vec::new();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(live) = idle.pop() {
            if !live.worn() {
                drop(idle);
                return (Some(live), worn.len());
            }
            worn.push(live);
        }
        drop(idle);
        (None, worn.len())
    }

    /// Returns an instance to the pool for the next call; false when it is dropped instead.
    pub(crate) fn keep(&self, live: Live) -> bool {
        if live.worn() || self.draining.load(Ordering::Acquire) {
            return false;
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(live);
        // A drain may have begun in between and emptied the pool before this push.
        if self.draining.load(Ordering::Acquire) {
            self.forget();
        }
        true
    }

    /// Drops the warm instances.
    fn forget(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        drop(idle);
    }

    pub(crate) fn running(&self) -> u32 {
        self.running.load(Ordering::Acquire)
    }

    pub(crate) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Acquire)
    }

    pub(crate) fn idle(&self) -> u32 {
        u32::try_from(self.idle.lock().unwrap_or_else(PoisonError::into_inner).len()).unwrap_or(u32::MAX)
    }

    /// Drains: calls may finish for up to `grace`, or until none is left and `over` excludes further ones. Then running
    /// calls are cancelled and new ones refused.
    pub(crate) async fn drain(&self, grace: Duration, over: impl Fn() -> bool) {
        self.draining.store(true, Ordering::Release);
        self.forget();
        let until = Instant::now() + grace;
        while Instant::now() < until && !(self.running() == 0 && self.waiting() == 0 && over()) {
            let left = until.saturating_duration_since(Instant::now()).min(Duration::from_millis(20));
            let _ = tokio::time::timeout(left, self.left.notified()).await;
        }
        self.closed.store(true, Ordering::Release);
        self.places.close();
        self.cut.send_replace(true);
        while self.running() > 0 {
            let _ = tokio::time::timeout(Duration::from_millis(20), self.left.notified()).await;
        }
        self.forget();
    }
}

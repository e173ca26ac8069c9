//! CPU time of guests: the thread that moves the engine's epoch, and the clock that charges a call.
//!
//! Reached from `call`, which keeps the ticker running, and `state`, which runs and stops the clock. Wasmtime compiles
//! checks of the epoch into guest code: every [`SLICE_TICKS`] ticks a guest reaches its epoch deadline, and `State::slice`
//! yields or traps. Wall-clock limits are timeouts of `call`.
//!
//! Spec: docs/plugins.md#26-limits, row CPU.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use wasmtime::EngineWeak;

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(1);

/// Ticks in a time slice, after which a guest yields.
pub(crate) const SLICE_TICKS: u64 = 2;

/// The most that is charged between two yields. A guest cannot run much longer than a slice without one, so the rest of
/// a longer measurement is time that the operating system gave to other threads.
const MAX_CHARGE: Duration = Duration::from_millis(SLICE_TICKS + 1);

/// Ticks without a call after which the ticker parks.
const PARK_AFTER_TICKS: u32 = 1_000;

/// How long the ticker parks before it looks whether its engine still exists.
pub(crate) const REST: Duration = Duration::from_secs(1);

/// The thread that increments an engine's epoch while any call runs. It is not a task of the runtime, since spinning
/// guests may hold all of its threads. Ends when the engine is dropped.
pub(crate) struct Ticker {
    /// Calls that are running.
    calls: AtomicU32,
    resting: AtomicBool,
    thread: Thread,
}

/// Keeps the ticker running until it is dropped.
pub(crate) struct Ticking<'a>(&'a Ticker);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, SeqCst);
    }
}

impl Ticker {
    /// Starts the thread, which parks for `rest` at a time.
    pub(crate) fn start(engine: EngineWeak, rest: Duration) -> std::io::Result<(Arc<Self>, JoinHandle<()>)> {
        let (sender, receiver) = std::sync::mpsc::channel::<Arc<Self>>();
        let thread = std::thread::Builder::new().name("plugin-ticker".to_owned()).stack_size(64 << 10);
        let thread = thread.spawn(move || {
            if let Ok(ticker) = receiver.recv() {
                ticker.tick(&engine, rest);
            }
        })?;
        let ticker =
            Self { calls: AtomicU32::new(0), resting: AtomicBool::new(false), thread: thread.thread().clone() };
        let ticker = Arc::new(ticker);
        let _ = sender.send(Arc::clone(&ticker));
        Ok((ticker, thread))
    }

    fn tick(&self, engine: &EngineWeak, rest: Duration) {
        let mut idle = 0;
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            idle = if self.calls.load(SeqCst) > 0 { 0 } else { idle + 1 };
            if idle < PARK_AFTER_TICKS {
                std::thread::sleep(TICK);
                continue;
            }
            self.resting.store(true, SeqCst);
            if self.calls.load(SeqCst) == 0 {
                std::thread::park_timeout(rest);
            }
            self.resting.store(false, SeqCst);
        }
    }

    /// Keeps the epoch moving until the returned guard is dropped.
    pub(crate) fn run(&self) -> Ticking<'_> {
        self.calls.fetch_add(1, SeqCst);
        if self.resting.load(SeqCst) {
            self.thread.unpark();
        }
        Ticking(self)
    }
}

/// CPU time of the guest within one call: runs while the guest does, and is stopped in host functions.
#[derive(Debug)]
pub(crate) struct Clock {
    base: Instant,
    spent: AtomicU64,
    /// When the guest resumed, in nanoseconds since `base`; [`STOPPED`] while it does not run.
    since: AtomicU64,
}

const STOPPED: u64 = u64::MAX;

impl Clock {
    /// A stopped clock at zero.
    pub(crate) fn new() -> Self {
        Self { base: Instant::now(), spent: AtomicU64::new(0), since: AtomicU64::new(STOPPED) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_nanos()).unwrap_or(STOPPED - 1)
    }

    /// Starts the clock: the guest runs.
    pub(crate) fn run(&self) {
        self.since.store(self.now(), Relaxed);
    }

    /// Stops the clock; returns the CPU time used so far.
    pub(crate) fn stand(&self) -> Duration {
        let since = self.since.swap(STOPPED, Relaxed);
        if since != STOPPED {
            let stretch = Duration::from_nanos(self.now().saturating_sub(since)).min(MAX_CHARGE);
            self.spent.fetch_add(u64::try_from(stretch.as_nanos()).unwrap_or(0), Relaxed);
        }
        Duration::from_nanos(self.spent.load(Relaxed))
    }

    /// Resets to zero and starts.
    pub(crate) fn restart(&self) {
        self.spent.store(0, Relaxed);
        self.run();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticker_ends_with_engine() {
        let engine = wasmtime::Engine::default();
        let (_ticker, thread) = Ticker::start(engine.weak(), REST).unwrap();
        std::thread::sleep(TICK * 5);
        assert!(!thread.is_finished());
        drop(engine);
        thread.join().unwrap();
    }

    #[test]
    fn ticker_rests_and_is_woken_by_call() {
        let engine = wasmtime::Engine::default();
        // It does not wake by itself.
        let (ticker, thread) = Ticker::start(engine.weak(), Duration::MAX).unwrap();
        let wait_until = |resting: bool| {
            let began = Instant::now();
            while ticker.resting.load(SeqCst) != resting {
                assert!(began.elapsed() < Duration::from_secs(60));
                std::thread::sleep(TICK);
            }
        };
        wait_until(true);
        let ticking = ticker.run();
        wait_until(false);
        drop(ticking);
        wait_until(true);
        drop(engine);
        ticker.thread.unpark();
        thread.join().unwrap();
    }

    #[test]
    fn stopped_clock_counts_nothing_and_long_gap_little() {
        let clock = Clock::new();
        std::thread::sleep(TICK * 2);
        assert_eq!(clock.stand(), Duration::ZERO);
        clock.restart();
        std::thread::sleep(MAX_CHARGE * 3);
        assert_eq!(clock.stand(), MAX_CHARGE);
        clock.run();
        std::thread::sleep(TICK * 2);
        let spent = clock.stand();
        assert!(spent >= MAX_CHARGE + TICK * 2 && spent <= MAX_CHARGE * 2, "{spent:?}");
    }
}

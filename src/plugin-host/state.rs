//! The data of a guest's store: the current call's host and budget, and how much of each limit is used.
//!
//! Reached from `serve` in host functions, and from wasmtime as epoch deadline callback and resource limiter.
//!
//! Spec: docs/plugins.md#26-limits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, Result, UpdateDeadline, format_err};

use crate::clock::{Clock, SLICE_TICKS};
use crate::error::CallErrorKind;
use crate::host::Host;
use crate::limits::Limits;
use crate::serve::too_much_out;

/// Data of one store.
pub(crate) struct State {
    pub(crate) limits: Arc<Limits>,
    pub(crate) clock: Arc<Clock>,
    /// The current call. Replaced as a whole for each call, so that nothing of one is left for the next.
    pub(crate) scope: Option<Scope>,
    /// Bytes of linear memory, all memories of the instance together.
    pub(crate) memory: usize,
}

/// One call.
pub(crate) struct Scope {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) began: Instant,
    /// The CPU time that it may use.
    pub(crate) cpu: Duration,
    pub(crate) used: Used,
    /// The limit that ended it, and the message.
    pub(crate) tripped: Option<(CallErrorKind, String)>,
    /// The last line that the guest logged as an error: why it trapped, where its language says so before.
    pub(crate) last_words: Option<String>,
}

/// The resources that a call has used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) host_calls: u32,
    pub(crate) bytes_out: usize,
    pub(crate) bytes_in: usize,
    /// Answers of host functions that were refused because they went beyond `bytes_in`.
    pub(crate) refused: u32,
    /// Calls of each host function.
    pub(crate) functions: Vec<(&'static str, u32)>,
}

impl State {
    pub(crate) fn new(limits: Arc<Limits>) -> Self {
        Self { limits, clock: Arc::new(Clock::new()), scope: None, memory: 0 }
    }

    /// An error that traps the guest; the first reason is kept for the [`CallError`](crate::CallError).
    pub(crate) fn trip(&mut self, ended: CallErrorKind, message: String) -> wasmtime::Error {
        let error = format_err!("{message}");
        if let Some(scope) = &mut self.scope {
            scope.tripped.get_or_insert((ended, message));
        }
        error
    }

    /// Charges the guest's result; an error when it exceeds the bytes that the guest may pass.
    pub(crate) fn charge_answer(&mut self, bytes: usize) -> Result<()> {
        let limit = self.limits.bytes_out;
        let Some(scope) = &mut self.scope else { return Ok(()) };
        scope.used.bytes_out = scope.used.bytes_out.saturating_add(bytes);
        if scope.used.bytes_out <= limit {
            return Ok(());
        }
        Err(self.trip(CallErrorKind::Limit, too_much_out(limit, "its answer")))
    }

    /// Epoch deadline callback, at the end of a time slice: yields to other tasks, or traps when the CPU budget is used
    /// up.
    pub(crate) fn slice(&mut self) -> Result<UpdateDeadline> {
        let spent = self.clock.stand();
        let cpu = self.scope.as_ref().map_or(Duration::ZERO, |scope| scope.cpu);
        if spent >= cpu {
            let message = format!("cpu: used its {} ms of guest time", cpu.as_millis());
            return Err(self.trip(CallErrorKind::Cpu, message));
        }
        let clock = Arc::clone(&self.clock);
        let others = async move {
            tokio::task::yield_now().await;
            clock.run();
        };
        Ok(UpdateDeadline::YieldCustom(SLICE_TICKS, Box::pin(others)))
    }
}

impl ResourceLimiter for State {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.memory.saturating_sub(current).saturating_add(desired);
        if total > self.limits.memory {
            let message = format!("memory: asked for {} of {} KiB", total >> 10, self.limits.memory >> 10);
            return Err(self.trip(CallErrorKind::Limit, message));
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired > self.limits.table_elements {
            let message = format!("table: asked for {desired} of {} elements", self.limits.table_elements);
            return Err(self.trip(CallErrorKind::Limit, message));
        }
        Ok(true)
    }
}

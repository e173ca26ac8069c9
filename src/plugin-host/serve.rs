//! Host functions: the interfaces that guests import. Each charges the call's budgets and forwards to its [`Host`].
//!
//! Reached from guests, through the linker that `link` fills. The guest's CPU clock is stopped while the host works. An
//! interface that was not granted is not linked; within a granted one, the [`Host`] decides on the permission that a
//! function's row names.
//!
//! Spec: the costs in `plugin-sdk/wit/0.1/plugin.wit`, and docs/plugins.md#26-limits.

pub(crate) mod functions;
mod outside;
mod own;

use std::pin::Pin;
use std::sync::Arc;

use wasmtime::{Result, format_err};

use crate::bindings::imports::types::Failure;
use crate::byte_size::ByteSize;
use crate::error::CallErrorKind;
use crate::host::Host;
use crate::state::State;

/// The result of a host function.
pub(crate) trait HostResult: ByteSize {
    /// The value that carries `failure`, where the contract lets the function fail.
    fn refused(_failure: Failure) -> Option<Self> {
        None
    }

    /// The failure that it carries, if it is one.
    fn failure(&mut self) -> Option<&mut Failure> {
        None
    }
}

impl<T: ByteSize> HostResult for std::result::Result<T, Failure> {
    fn refused(failure: Failure) -> Option<Self> {
        Some(Err(failure))
    }

    fn failure(&mut self) -> Option<&mut Failure> {
        self.as_mut().err()
    }
}

impl HostResult for () {}
impl HostResult for i64 {}
impl HostResult for u64 {}
impl HostResult for String {}
impl HostResult for Vec<u8> {}
impl HostResult for Option<String> {}
impl HostResult for Option<Arc<[u8]>> {}
impl HostResult
    for Vec<
        std::result::Result<
            crate::bindings::imports::http_client::Response,
            crate::bindings::imports::http_client::HttpError,
        >,
    >
{
}

/// A failure of the sandbox's own.
fn failure(status: u16, code: &str, message: String) -> Failure {
    Failure { status, code: code.to_owned(), message, detail: None }
}

/// The future of a host function.
type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl State {
    /// Charges a call of `function` with `cost` units and `bytes`, and returns the host; traps when a budget is used
    /// up.
    fn charge(&mut self, function: &'static str, cost: u32, bytes: usize) -> Result<Arc<dyn Host>> {
        let (calls_limit, out_limit, in_limit) = (self.limits.host_calls, self.limits.bytes_out, self.limits.bytes_in);
        let scope = self.scope.as_mut().ok_or_else(|| format_err!("{function} was called outside a call"))?;
        let used = &mut scope.used;
        used.host_calls = used.host_calls.saturating_add(cost);
        used.bytes_out = used.bytes_out.saturating_add(bytes);
        match used.functions.iter_mut().find(|(name, _)| std::ptr::eq(*name, function)) {
            Some((_, count)) => *count += 1,
            None => used.functions.push((function, 1)),
        }
        if used.host_calls > calls_limit {
            return Err(
                self.trip(CallErrorKind::Limit, format!("host-calls: used its {calls_limit} units, at {function}"))
            );
        }
        if used.bytes_out > out_limit {
            return Err(self.trip(CallErrorKind::Limit, too_much_out(out_limit, function)));
        }
        scope.host.allow(in_limit.saturating_sub(used.bytes_in));
        Ok(Arc::clone(&scope.host))
    }

    /// Charges an answer's bytes. One beyond the limit becomes a failure of status 413, or a trap where the function
    /// cannot fail.
    fn admit<T: HostResult>(&mut self, function: &'static str, answer: T) -> Result<T> {
        let limit = self.limits.bytes_in;
        let Some(scope) = &mut self.scope else {
            return Ok(answer);
        };
        let total = scope.used.bytes_in.saturating_add(answer.total_bytes());
        if total <= limit {
            scope.used.bytes_in = total;
            return Ok(answer);
        }
        scope.used.refused += 1;
        let message = format!("bytes-in: the answer of {function} goes beyond {} KiB for each call", limit >> 10);
        match T::refused(failure(413, "host.too-large", message.clone())) {
            Some(refusal) => Ok(refusal),
            None => Err(self.trip(CallErrorKind::Limit, message)),
        }
    }

    /// Serves a synchronous host function.
    fn ask<T: HostResult>(
        &mut self,
        function: &'static str,
        cost: u32,
        bytes: usize,
        work: impl FnOnce(&dyn Host) -> T,
    ) -> Result<T> {
        let host = self.charge(function, cost, bytes)?;
        self.clock.stand();
        let mut answer = work(&*host);
        if let Some(failure) = answer.failure() {
            host.failed(function, failure);
        }
        self.clock.run();
        self.admit(function, answer)
    }

    /// Serves an asynchronous host function.
    async fn wait<T: HostResult>(
        &mut self,
        function: &'static str,
        cost: u32,
        bytes: usize,
        work: impl for<'a> FnOnce(&'a dyn Host) -> Work<'a, T>,
    ) -> Result<T> {
        let host = self.charge(function, cost, bytes)?;
        self.clock.stand();
        let mut answer = work(&*host).await;
        if let Some(failure) = answer.failure() {
            host.failed(function, failure);
        }
        self.clock.run();
        self.admit(function, answer)
    }
}

/// Runs work in the time of the call's transaction: when that is over, the work ends with the failure that the host gives.
///
/// # Errors
/// That failure, and failures of the work.
async fn in_time<T>(
    host: &dyn Host,
    mut work: Work<'_, std::result::Result<T, Failure>>,
) -> std::result::Result<T, Failure> {
    let done = tokio::select! {
        biased;
        () = host.late() => None,
        done = &mut work => Some(done),
    };
    // The resources of the work are released.
    drop(work);
    match done {
        // The engine may notice first.
        Some(Err(failure)) if host.is_late(&failure) => {}
        Some(done) => return done,
        None => {}
    }
    Err(host.end_late().await)
}

/// The message for a guest that passes too much to the host.
pub(crate) fn too_much_out(limit: usize, place: &str) -> String {
    format!("bytes-out: handed over more than {} KiB, at {place}", limit >> 10)
}

/// `cost`, plus `each` for every one of `count` items.
fn cost(cost: u32, each: u32, count: usize) -> u32 {
    cost.saturating_add(each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX)))
}

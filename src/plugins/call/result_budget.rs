//! The bytes that the answer of the running host function may still have.
//!
//! The sandbox says before each function how much is left of the call's `bytes-in` ([`Host::allow`]); functions whose
//! answer may be large take from it while they read, so that they end before the memory is taken.
//!
//! [`Host::allow`]: rookery_plugin_host::Host::allow

use std::sync::atomic::Ordering;

use rookery_plugin_host::ByteSize;
use rookery_plugin_host::imports::types::Failure;

use super::Call;
use crate::failure::failure;

/// The remaining size budget of one response.
#[derive(Debug)]
pub(super) struct Room<'a> {
    plugin: &'a str,
    left: usize,
    /// The limit of the whole call, for the message.
    limit: usize,
}

impl Room<'_> {
    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the bytes of `part`, which belongs to the answer.
    ///
    /// # Errors
    /// 413 `host.too-large` when they exceed the remaining budget, which is then 0.
    pub(super) fn take(&mut self, part: &impl ByteSize) -> Result<(), Failure> {
        self.take_bytes(part.total_bytes())
    }

    /// As [`Room::take`], by the number of bytes.
    pub(super) fn take_bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| self.too_large())
    }

    /// The failure of an answer that does not fit.
    pub(super) fn too_large(&self) -> Failure {
        crate::quota::count_reached(self.plugin, "bytes-in");
        let limit = self.limit >> 10;
        failure(413, "host.too-large", format!("bytes-in: the answer goes beyond {limit} KiB for each call"))
    }
}

impl Call {
    /// Sets the budget for the response of the next function call.
    pub(super) fn allow_answer(&self, bytes: usize) {
        self.allowed.store(bytes, Ordering::Relaxed);
    }

    /// The remaining budget for the response of the current function.
    pub(super) fn room(&self) -> Room<'_> {
        let (left, limit) = (self.allowed.load(Ordering::Relaxed), self.active.limits.host.bytes_in);
        Room { plugin: self.active.name(), left, limit }
    }
}

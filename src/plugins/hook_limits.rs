//! The time budget of hooks: all plugins together may delay one request by 300 ms.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rookery_plugin_host::{CallError, CallErrorKind};

/// The budget of all synchronous hooks of one request.
const BUDGET: Duration = Duration::from_millis(300);

/// The factor by which time limits of hooks and statements are stretched; 1 by default.
#[derive(Debug)]
pub struct HookLimits(AtomicU32);

impl Default for HookLimits {
    fn default() -> Self {
        Self(AtomicU32::new(1))
    }
}

impl HookLimits {
    /// Sets the factor: for slow or loaded machines, such as in tests.
    pub fn set(&self, times: u32) {
        self.0.store(times, Ordering::Relaxed);
    }

    /// `limit`, stretched.
    #[must_use]
    pub fn stretch(&self, limit: Duration) -> Duration {
        limit * self.0.load(Ordering::Relaxed)
    }

    /// Waits for a call, for `limit` at most.
    ///
    /// # Errors
    /// The call's own; [`CallErrorKind::Wall`] on timeout.
    pub async fn limited<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let late = || CallError {
            kind: CallErrorKind::Wall,
            message: format!("no answer within {} ms", limit.as_millis()),
            failure: None,
            backtrace: Vec::new(),
            person: None,
        };
        if limit.is_zero() {
            return Err(late());
        }
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer,
            Err(_) => Err(late()),
        }
    }

    /// What remains of the budget of a request whose hooks have spent this much.
    #[must_use]
    pub fn remaining_after(&self, spent: Duration) -> Duration {
        self.stretch(BUDGET).saturating_sub(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_of_one_request_share_its_budget() {
        let hook_limits = HookLimits::default();
        assert_eq!(hook_limits.remaining_after(Duration::ZERO), BUDGET);
        assert_eq!(hook_limits.remaining_after(Duration::from_millis(100)), Duration::from_millis(200));
        assert_eq!(hook_limits.remaining_after(Duration::from_secs(1)), Duration::ZERO);
    }
}

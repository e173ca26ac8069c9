//! How long the plugins together may keep one person waiting: 300 ms for each request, whatever their number.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rookery_plugin_host::{CallError, Ended};

/// What all synchronous hooks of one request may take.
const BUDGET: Duration = Duration::from_millis(300);

tokio::task_local! {
    static SPENT: Arc<AtomicU64>;
}

/// How patient the server is with hooks; 1 is as documented.
#[derive(Debug)]
pub struct Patience(AtomicU32);

impl Default for Patience {
    fn default() -> Self {
        Self(AtomicU32::new(1))
    }
}

impl Patience {
    /// Multiplies every limit on how long hooks take, for machines that have much else to do, such as those of tests.
    pub fn set(&self, times: u32) {
        self.0.store(times, Ordering::Relaxed);
    }

    /// A limit of a hook, on this server.
    #[must_use]
    pub fn stretch(&self, limit: Duration) -> Duration {
        limit * self.0.load(Ordering::Relaxed)
    }

    /// Waits for an answer no longer than this request has left for hooks.
    ///
    /// # Errors
    /// As the call; [`Ended::Wall`] when it takes too long.
    pub async fn within<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        self.limited(self.left(), call).await
    }

    /// Waits for an answer for as long as `limit`.
    ///
    /// # Errors
    /// As the call; [`Ended::Wall`] when it takes too long.
    pub async fn limited<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let late = || CallError {
            ended: Ended::Wall,
            message: format!("no answer within {} ms", limit.as_millis()),
            failure: None,
            backtrace: Vec::new(),
        };
        if limit.is_zero() {
            return Err(late());
        }
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer,
            Err(_) => Err(late()),
        }
    }

    /// What is left for hooks of this request. Outside of one: everything.
    #[must_use]
    pub fn left(&self) -> Duration {
        let spent = SPENT.try_with(|spent| spent.load(Ordering::Relaxed)).unwrap_or(0);
        self.stretch(BUDGET).saturating_sub(Duration::from_micros(spent))
    }
}

/// Does `work` as one request with a budget of its own.
pub(in crate::plugins) async fn scope<F: Future>(work: F) -> F::Output {
    SPENT.scope(Arc::default(), work).await
}

/// Waits for `work`, at the expense of the request.
pub async fn spend<F: Future>(work: F) -> F::Output {
    let began = Instant::now();
    let output = work.await;
    let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    // Outside of a request nobody waits.
    let _ = SPENT.try_with(|spent| spent.fetch_add(took, Ordering::Relaxed));
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hooks_of_one_request_share_its_budget() {
        let patience = Patience::default();
        assert_eq!(patience.left(), BUDGET);
        scope(async {
            spend(tokio::time::sleep(Duration::from_millis(10))).await;
            let once = patience.left();
            assert!(once <= BUDGET - Duration::from_millis(10));
            spend(tokio::time::sleep(Duration::from_millis(10))).await;
            assert!(patience.left() <= once - Duration::from_millis(10));
        })
        .await;
        assert_eq!(patience.left(), BUDGET);
    }
}

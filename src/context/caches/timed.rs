//! A single value that is computed again when it is too old.

use std::future::Future;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use chrono::Duration;
use tokio::sync::Mutex;

use crate::error::Result;
use model::Time;

/// A value with the time at which it was computed. Reading takes no lock.
#[derive(Debug)]
pub struct Timed<T> {
    computed: ArcSwapOption<(Time, Arc<T>)>,
    /// Held during a computation.
    computing: Mutex<()>,
}

impl<T> Default for Timed<T> {
    fn default() -> Self {
        Self { computed: ArcSwapOption::empty(), computing: Mutex::default() }
    }
}

impl<T> Timed<T> {
    /// The value, recomputed by `find` when it is older than `age`. Concurrent callers wait for one computation.
    ///
    /// # Errors
    /// Any error of `find`.
    pub async fn get(&self, now: Time, age: Duration, find: impl Future<Output = Result<T>>) -> Result<Arc<T>> {
        if let Some(value) = self.fresh(now, age) {
            return Ok(value);
        }
        let _computing = self.computing.lock().await;
        if let Some(value) = self.fresh(now, age) {
            return Ok(value);
        }
        let value = Arc::new(find.await?);
        self.computed.store(Some(Arc::new((now, Arc::clone(&value)))));
        Ok(value)
    }

    fn fresh(&self, now: Time, age: Duration) -> Option<Arc<T>> {
        let computed = self.computed.load();
        let (at, value) = computed.as_deref()?;
        // The clock may have been set back.
        ((now - *at).abs() < age).then(|| Arc::clone(value))
    }
}

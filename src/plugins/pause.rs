//! Plugins whose tables are changed in a way that the generation before cannot live with: their routes wait for a moment,
//! what can be done later is, and hooks give no answer.

use std::collections::BTreeSet;
use std::time::Duration;

use rookery_plugin_host::{CallError, Ended};
use tokio::sync::watch;

/// How long a request waits before it is told to come again.
const PATIENCE: Duration = Duration::from_secs(2);

/// The plugins that pause now.
#[derive(Debug)]
pub struct Pauses(watch::Sender<BTreeSet<String>>);

impl Default for Pauses {
    fn default() -> Self {
        Self(watch::Sender::new(BTreeSet::new()))
    }
}

/// A plugin pauses until this is dropped.
#[derive(Debug)]
pub struct Paused<'a> {
    pauses: &'a Pauses,
    plugin: String,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.pauses.0.send_modify(|paused| {
            paused.remove(&self.plugin);
        });
    }
}

impl Pauses {
    /// Has the plugin pause until the answer is dropped.
    #[must_use]
    pub fn pause(&self, plugin: &str) -> Paused<'_> {
        self.0.send_modify(|paused| {
            paused.insert(plugin.to_owned());
        });
        Paused { pauses: self, plugin: plugin.to_owned() }
    }

    /// True while the plugin pauses.
    #[must_use]
    pub fn holds(&self, plugin: &str) -> bool {
        self.0.borrow().contains(plugin)
    }

    /// Refuses a call while the plugin pauses.
    ///
    /// # Errors
    /// [`Ended::Busy`].
    #[expect(clippy::result_large_err, reason = "errors are few, and handed on at once")]
    pub fn check(&self, plugin: &str) -> Result<(), CallError> {
        if !self.holds(plugin) {
            return Ok(());
        }
        let message = "its tables are being changed".to_owned();
        Err(CallError { ended: Ended::Busy, message, failure: None, backtrace: Vec::new() })
    }

    /// Waits for its pause to end; false when that takes too long.
    pub async fn ended(&self, plugin: &str) -> bool {
        let mut paused = self.0.subscribe();
        let ended = paused.wait_for(|paused| !paused.contains(plugin));
        tokio::time::timeout(PATIENCE, ended).await.is_ok()
    }
}

//! How far this process is with loading plugins at its start, while the core serves already.

use tokio::sync::watch;

/// The plugins that are loaded at the start of a server. Over for a process that loads none.
#[derive(Debug)]
pub struct Starting(watch::Sender<Option<Progress>>);

/// The number of plugins that were tried, of all that are enabled; both are 0 before they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub all: usize,
}

impl Default for Starting {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Starting {
    /// Loading begins.
    pub fn begin(&self) {
        self.0.send_replace(Some(Progress::default()));
    }

    /// How far it is; without effect once it is over.
    pub fn advance(&self, done: usize, all: usize) {
        self.0.send_if_modified(|progress| {
            let loading = progress.is_some();
            *progress = progress.map(|_| Progress { done, all });
            loading
        });
    }

    /// Every plugin was tried.
    pub fn end(&self) {
        self.0.send_replace(None);
    }

    /// How far it is; `None` once it is over.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        *self.0.borrow()
    }

    /// Receives every change of [`Starting::progress`].
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Option<Progress>> {
        self.0.subscribe()
    }
}

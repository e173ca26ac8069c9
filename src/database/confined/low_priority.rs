//! Threads of low priority (nice 10) for what plugins read for long, so that it takes the time of nobody who is answered.
//!
//! Not for the connection that writes: whoever holds it should be done soon.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Most threads. There are as many at work as statements run, which have places of their own; beyond these they wait.
const THREADS: usize = 64;

/// A runtime of which only the blocking threads are used; they end when they have been idle for ten seconds.
static GENTLE: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let yielding = || {
        // Best effort; elsewhere than on Linux it would count for the whole process.
        if cfg!(target_os = "linux") {
            let _ = rustix::process::nice(10);
        }
    };
    let mut builder = Builder::new_current_thread();
    builder.max_blocking_threads(THREADS).thread_name("plugin-reads").on_thread_start(yielding).build().ok()
});

/// Runs `work` on such a thread.
pub(super) fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match &*GENTLE {
        Some(runtime) => runtime.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[tokio::test]
    async fn it_runs_with_low_priority_and_others_do_not() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let usual = priority();
        assert_eq!(super::spawn(priority).await.unwrap(), (usual + 10).min(19));
        assert_eq!(tokio::task::spawn_blocking(priority).await.unwrap(), usual);
    }
}

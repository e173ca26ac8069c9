//! Threads of low priority (nice 10) for long plugin reads, so that they do not delay requests.
//!
//! Not for the writer connection: a low priority would make its holder keep it longer.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Most threads. Running statements have permits of their connections; beyond this number they wait.
const THREADS: usize = 64;

/// A runtime whose blocking threads alone are used; they end after ten idle seconds.
static GENTLE: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let yielding = || {
        // Best effort; on other systems than Linux it would affect the whole process.
        if cfg!(target_os = "linux") {
            let _ = rustix::process::nice(10);
        }
    };
    let mut builder = Builder::new_current_thread();
    builder.max_blocking_threads(THREADS).thread_name("plugin-reads").on_thread_start(yielding).build().ok()
});

/// Runs `work` on a thread of low priority.
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

//! How the sandbox reports a worker's exit, with shell scripts as workers; `tests/api/platform/media_worker.rs` runs a real one.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::super::fixture;
use super::*;

/// A worker in `folder` that runs `script`.
fn worker(folder: &Path, script: &str) -> PathBuf {
    let executable = folder.join("worker");
    std::fs::write(&executable, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&executable, std::fs::Permissions::from_mode(0o755)).unwrap();
    executable
}

/// The result of processing a small image with a worker that runs `script`, for a minute at most.
async fn outcome(script: &str) -> Result<Processed> {
    outcome_within(script, Duration::from_secs(60)).await
}

async fn outcome_within(script: &str, time: Duration) -> Result<Processed> {
    let folder = tempfile::tempdir().unwrap();
    let mut sandbox = Sandbox::new(&worker(folder.path(), script));
    sandbox.timeout = time;
    sandbox.process(None, &fixture::png(4, 4), Purpose::Emoji).await
}

#[tokio::test]
async fn crash_is_blamed_on_file() {
    for script in ["kill -SEGV $$", "kill -ABRT $$", "exit 101"] {
        assert_eq!(outcome(script).await, Err(Error::Broken), "{script}");
    }
}

#[tokio::test]
async fn killed_or_failing_worker_is_blamed_on_server() {
    for script in ["kill -KILL $$", "exit 1"] {
        assert!(matches!(outcome(script).await, Err(Error::Internal { .. })), "{script}");
    }
    let missing = Sandbox::new(Path::new("/nonexistent/rookery"));
    let error = missing.process(None, &fixture::png(4, 4), Purpose::Emoji).await.unwrap_err();
    assert!(matches!(error, Error::Internal { .. }));
    assert_eq!(error.to_string(), "File could not be processed");
}

#[tokio::test]
async fn too_much_time_is_a_timeout() {
    assert_eq!(outcome("kill -XCPU $$").await, Err(Error::Timeout));
    assert_eq!(outcome_within("exec /bin/sleep 600", Duration::from_secs(1)).await, Err(Error::Timeout));
}

#[tokio::test]
async fn malformed_or_endless_reply_is_rejected() {
    assert!(matches!(outcome("echo hello").await, Err(Error::Internal { .. })));
    let endless = outcome_within("exec /bin/cat /dev/zero", Duration::from_secs(2)).await.unwrap_err();
    assert!(matches!(endless, Error::TooLarge { .. } | Error::Timeout));
}

#[tokio::test]
async fn hopeless_files_are_not_sent_to_worker() {
    let missing = Sandbox::new(Path::new("/nonexistent/rookery"));
    let refused = missing.process(None, b"plain text", Purpose::Emoji).await;
    assert_eq!(refused, Err(Error::unsupported("application/octet-stream")));
}

#[tokio::test]
async fn owner_leaves_permits_to_others() {
    let folder = tempfile::tempdir().unwrap();
    // The first one waits for a file; the others end immediately.
    let at = folder.path().display();
    let script = format!("mkdir {at}/first && while [ ! -e {at}/go ]; do /bin/sleep 0.01; done\nexit 101");
    let sandbox = Arc::new(Sandbox::new(&worker(folder.path(), &script)).with_limits(2, Duration::from_secs(60)));
    let upload = |owner| {
        let sandbox = Arc::clone(&sandbox);
        async move { sandbox.process(Some(owner), &fixture::png(4, 4), Purpose::Emoji).await }
    };
    let greedy: Vec<_> = (0..8).map(|_| tokio::spawn(upload(1))).collect();
    let begun = Instant::now();
    while !folder.path().join("first").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(sandbox.permits.state(), (1, 1), "eight files of one owner hold one of two");
    upload(2).await.unwrap_err();
    assert!(greedy.iter().all(|upload| !upload.is_finished()), "someone else's was decoded while they waited");
    std::fs::write(folder.path().join("go"), "").unwrap();
    for upload in greedy {
        assert_eq!(upload.await.unwrap(), Err(Error::Broken));
    }
    assert_eq!(sandbox.permits.state(), (2, 0), "finished owners leave no entry");
}

#[tokio::test]
async fn worker_sees_no_environment() {
    // The shell sets a few variables; the variables of the server must not be passed to it.
    assert_eq!(outcome("test -z \"$HOME$CARGO_MANIFEST_DIR\" && exit 101").await, Err(Error::Broken));
}

//! Runs `ffmpeg` and `ffprobe`, each in a process that is confined before it becomes one of them.
//!
//! The process is this executable, run as [`worker`] with [`worker::RUN`]: no network, no further process, its libraries and
//! one file to read, one folder to write to, bounded memory, CPU time and file size. It starts with an empty environment and
//! ends with the server, when its future is dropped, and when its time is up.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::error::{Error, Result, Unit};
use super::worker;

/// How often to see whether a process has ended.
const POLL: Duration = Duration::from_millis(5);

/// One run of a program.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub program: &'a Path,
    pub arguments: Vec<OsString>,
    /// The one file that it may read.
    pub input: &'a Path,
    /// The only folder that it may write to; its output is in [`PRINTED`] there afterwards.
    pub output: &'a Path,
    /// On the wall; it may use twice that on the processors.
    pub time_limit: Duration,
    /// The largest file that it may write.
    pub max_bytes: u64,
}

/// The file with a program's output.
pub(super) const PRINTED: &str = "printed";

/// Stops a process whose future was dropped.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `task` in a worker, which is `executable`.
///
/// # Errors
/// [`Error::Broken`] when the program failed or crashed, [`Error::Timeout`], [`Error::TooLarge`] when it wrote more than it
/// may, [`Error::Internal`] when it could not be run or was killed from outside.
pub(super) async fn run(executable: &Path, task: Task<'_>) -> Result<()> {
    let printed = File::create(task.output.join(PRINTED)).map_err(Error::internal)?;
    let mut command = Command::new(executable);
    command
        .args([OsString::from(worker::COMMAND), worker::RUN.into(), task.input.into(), task.output.into()])
        .args([(task.time_limit.as_secs() * 2).to_string(), task.max_bytes.to_string()])
        .arg(task.program)
        .args(task.arguments)
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "16M")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(printed)
        .stderr(Stdio::null());
    let stop = Stop(Arc::default());
    let stopped = Arc::clone(&stop.0);
    let waiting = tokio::task::spawn_blocking(move || wait(command, &stopped));
    let ended = tokio::time::timeout(task.time_limit, waiting).await.map_err(|_| Error::Timeout)?;
    judge(ended.map_err(Error::internal)??, task.max_bytes)
}

/// Runs `command` to its end, or until `stopped`. On a separate thread for as long as the process lives, since the
/// kernel kills the process when the thread that started it ends.
fn wait(mut command: Command, stopped: &AtomicBool) -> Result<ExitStatus> {
    let mut child = command.spawn().map_err(Error::internal)?;
    loop {
        match child.try_wait().map_err(Error::internal)? {
            Some(status) => return Ok(status),
            None if stopped.load(Ordering::Relaxed) => {
                child.kill().and_then(|()| child.wait()).map_err(Error::internal)?;
                return Err(Error::Timeout);
            }
            None => std::thread::sleep(POLL),
        }
    }
}

/// The error that an exit status means for the file.
fn judge(status: ExitStatus, max_bytes: u64) -> Result<()> {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal;

    /// Exit code of `ffmpeg` after a signal, which the limit of CPU time sends as well.
    const TOLD_TO_END: i32 = 255;

    match (status.signal().and_then(Signal::from_named_raw), status.code()) {
        (None, Some(0)) => Ok(()),
        (None, Some(code)) if code == i32::from(worker::NOT_RUN) => {
            Err(Error::internal("the program could not be run"))
        }
        (Some(Signal::XCPU), _) | (None, Some(TOLD_TO_END)) => Err(Error::Timeout),
        (Some(Signal::XFSZ), _) => Err(Error::TooLarge { limit: max_bytes, unit: Unit::Bytes }),
        (Some(Signal::KILL | Signal::TERM), _) => Err(Error::internal(format_args!("the program ended with {status}"))),
        _ => Err(Error::Broken),
    }
}

/// `path` as the address of a file, which no protocol can be hidden in.
pub(super) fn address(path: &Path) -> OsString {
    let mut address = OsString::from("file:");
    address.push(path);
    address
}

/// The program at `path`, when that is a file.
pub(super) fn existing(path: &Path) -> Option<PathBuf> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn exit_says_whose_fault_it_was() {
        let code = |code: i32| judge(ExitStatus::from_raw(code << 8), 7);
        let signal = |signal: rustix::process::Signal| judge(ExitStatus::from_raw(signal.as_raw()), 7);
        assert_eq!((code(0), code(1), code(255)), (Ok(()), Err(Error::Broken), Err(Error::Timeout)));
        assert!(matches!(code(126), Err(Error::Internal { .. })));
        assert_eq!(signal(rustix::process::Signal::SEGV), Err(Error::Broken));
        assert_eq!(signal(rustix::process::Signal::XFSZ), Err(Error::TooLarge { limit: 7, unit: Unit::Bytes }));
        assert!(matches!(signal(rustix::process::Signal::KILL), Err(Error::Internal { .. })));
    }
}

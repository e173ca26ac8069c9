//! The server's side of media processing: a sandboxed child process for every file.
//!
//! The child is this executable, run as [`worker`]. Its reply is limited in size, and only its format is trusted.
//! `media.max_concurrent_decodes` limits the number of children; further files wait for a [permit](super::permits).

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use confine::Confinement;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::error::{Error, Result, Unit, at_most};
use super::permits::Permits;
use super::process::check;
use super::types::{Processed, Purpose};
use super::{wire, worker};

/// Files processed at the same time unless configured otherwise; each may take a CPU core and a gigabyte.
const CONCURRENCY: usize = 2;

/// Wall-clock limit for one file unless configured otherwise; the worker itself limits its CPU time.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts media workers; the server has one `Sandbox`.
#[derive(Debug)]
pub struct Sandbox {
    executable: PathBuf,
    timeout: Duration,
    permits: Permits,
}

impl Sandbox {
    /// `executable` must run [`worker::main`] when called with [`worker::COMMAND`]; the server passes its own path.
    pub fn new(executable: &Path) -> Self {
        Self { executable: executable.to_owned(), timeout: TIMEOUT, permits: Permits::new(CONCURRENCY) }
    }

    /// Replaces the default limits: how many files at the same time, and how long each may take.
    #[must_use]
    pub fn with_limits(self, concurrency: usize, timeout: Duration) -> Self {
        Self { permits: Permits::new(concurrency), timeout, ..self }
    }

    /// The program that workers run: the server's own.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// How a worker is confined on this machine.
    ///
    /// # Errors
    /// [`Error::Internal`] when no worker could be run, [`Error::Timeout`] when it did not answer.
    pub async fn confinement(&self) -> Result<Confinement> {
        let child = self.command().arg(worker::REPORT).spawn().map_err(Error::internal)?;
        let ended = tokio::time::timeout(self.timeout, child.wait_with_output()).await.map_err(|_| Error::Timeout)?;
        serde_json::from_slice(&ended.map_err(Error::internal)?.stdout).map_err(Error::internal)
    }

    /// Runs [`process`](super::process()) in a worker, for the account `owner` (`None`: an admin). Dropping the future kills
    /// the worker.
    ///
    /// # Errors
    /// The errors of [`process`](super::process()); [`Error::Broken`] also when the decoder crashed, [`Error::Timeout`]
    /// when it took too long, [`Error::Internal`] when no worker could be run.
    pub async fn process(&self, owner: Option<i64>, bytes: &[u8], purpose: Purpose) -> Result<Processed> {
        check(bytes, purpose)?;
        let _permit = self.permits.acquire(owner).await?;
        self.run(bytes, purpose).await
    }

    /// As [`process`](Self::process), of the file at `path`, which is read once it is its turn: waiting takes no memory.
    ///
    /// # Errors
    /// As [`process`](Self::process), and [`Error::Internal`] when the file cannot be read.
    pub async fn process_file(&self, owner: Option<i64>, path: &Path, purpose: Purpose) -> Result<Processed> {
        let _permit = self.permits.acquire(owner).await?;
        let bytes = tokio::fs::read(path).await.map_err(Error::internal)?;
        check(&bytes, purpose)?;
        self.run(&bytes, purpose).await
    }

    async fn run(&self, bytes: &[u8], purpose: Purpose) -> Result<Processed> {
        let child = self.command().spawn().map_err(Error::internal)?;
        tokio::time::timeout(self.timeout, converse(child, bytes, purpose)).await.map_err(|_| Error::Timeout)?
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .arg(worker::COMMAND)
            .env_clear()
            // The program's allocator would reserve a gibibyte in one piece, most of the worker's address space.
            .env("MIMALLOC_ARENA_RESERVE", "16M")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// Sends the request, reads the reply, and interprets the worker's exit status.
async fn converse(mut child: Child, bytes: &[u8], purpose: Purpose) -> Result<Processed> {
    let head = wire::request_head(bytes, purpose)?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Error::internal("the worker has no streams"));
    };
    // A worker that ends early breaks the pipe; its exit status says why.
    let send = async move {
        let _ = input.write_all(&head).await;
        let _ = input.write_all(bytes).await;
    };
    let mut reply = Vec::new();
    let mut output = output.take(wire::MAX_REPLY + 1);
    let ((), received) = tokio::join!(send, output.read_to_end(&mut reply));
    received.map_err(Error::internal)?;
    at_most(wire::MAX_REPLY, reply.len() as u64, Unit::Bytes)?;
    let status = child.wait().await.map_err(Error::internal)?;
    if !status.success() {
        return Err(failure(status));
    }
    wire::parse_reply(&reply).unwrap_or_else(|| Err(Error::internal("the worker's reply made no sense")))
}

/// The error for the exit status of a worker that failed.
fn failure(status: ExitStatus) -> Error {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal;

    /// Exit code of a Rust process that panicked.
    const PANICKED: i32 = 101;

    let signal = status.signal().and_then(Signal::from_named_raw);
    match signal {
        Some(Signal::XCPU) => Error::Timeout,
        // A decoder that crashed, or ran out of memory.
        Some(Signal::ABORT | Signal::SEGV | Signal::BUS | Signal::ILL | Signal::FPE) => Error::Broken,
        None if status.code() == Some(PANICKED) => Error::Broken,
        _ => Error::internal(format_args!("the media worker ended with {status}")),
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;

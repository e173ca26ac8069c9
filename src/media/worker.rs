//! The media worker: the hidden subcommand `rookery media-worker`, which processes one file and exits.
//!
//! Started by [`Sandbox`](super::Sandbox) with an empty environment. Before it reads a byte it gives up its capabilities,
//! sets resource limits (`setrlimit`: no new file descriptor or process, little memory, little CPU time), and has the
//! kernel refuse all files, connections and processes ([`confine`]). A decoder that crashes, hangs or is
//! compromised has only the one file it was given. `main` must call it before it starts a runtime or reads configuration.
//!
//! With [`RUN`] it confines itself less, for another program, and becomes that: `ffmpeg` or `ffprobe`, see
//! [`program`](super::program).

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use confine::{Confinement, Resource, drop_privileges, limit};

use super::process::process;
use super::wire;

/// The name of the subcommand.
pub const COMMAND: &str = "media-worker";

/// The argument with which the worker only says how it is confined, as JSON.
pub(crate) const REPORT: &str = "report";

/// The argument with which the worker only says how a program is confined, as JSON. After it: the program, the file to read, the
/// folder to write to.
pub(crate) const REPORT_PROGRAM: &str = "report-program";

/// The argument with which the worker becomes another program. After it: the file to read, the folder to write to, the limits
/// of CPU time in seconds and of a file's size in bytes, the program, and its arguments.
pub(crate) const RUN: &str = "run";

/// The exit code of a worker that did not become the program.
pub(crate) const NOT_RUN: u8 = 126;

/// Address space limit of a program in bytes (3 GiB): two threads that decode and encode the largest video.
const MAX_PROGRAM_MEMORY: u64 = 3 * 1024 * 1024 * 1024;

/// How many files a program may have open.
const MAX_PROGRAM_FILES: u64 = 64;

/// Address space limit in bytes (1 GiB): the largest image decoded, converted and rotated, and the executable.
const MAX_MEMORY: u64 = 1024 * 1024 * 1024;

/// CPU time limit in seconds. The kernel then sends `SIGXCPU`, and `SIGKILL` a second later.
const MAX_CPU: u64 = 20;

/// Handles one request from standard input. A processing error goes into the reply; fails only when none can be sent.
/// `arguments` are those after [`COMMAND`].
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let word = arguments.next();
    if word.as_ref().is_some_and(|word| word == RUN) {
        let Err(_) = run(arguments);
        return ExitCode::from(NOT_RUN);
    }
    if word.as_ref().is_some_and(|word| word == REPORT_PROGRAM) {
        return report_program(arguments).map_or(ExitCode::from(NOT_RUN), |()| ExitCode::SUCCESS);
    }
    let only_report = word.is_some_and(|word| word == REPORT);
    let done = give_up_rights().and_then(|confinement| {
        if only_report {
            return Ok(serde_json::to_writer(io::stdout(), &confinement)?);
        }
        serve(io::stdin().lock(), io::stdout().lock())
    });
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Confines this process and becomes the program of `arguments`.
///
/// # Errors
/// When the kernel refuses a confinement that it supports. Missing Landlock support is not an error: the server logs at
/// its start how programs are confined.
fn run(mut arguments: impl Iterator<Item = OsString>) -> io::Result<Infallible> {
    let mut next = || arguments.next().ok_or(io::ErrorKind::InvalidInput);
    let (input, output) = (PathBuf::from(next()?), PathBuf::from(next()?));
    let number = |text: OsString| text.to_str().and_then(|text| text.parse().ok()).ok_or(io::ErrorKind::InvalidInput);
    let (cpu_seconds, file_bytes): (u64, u64) = (number(next()?)?, number(next()?)?);
    let program = PathBuf::from(next()?);
    // The thread that waits for this process ends with the server, and nothing is to be left running then.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    drop_privileges()?;
    limit(Resource::As, MAX_PROGRAM_MEMORY, MAX_PROGRAM_MEMORY)?;
    limit(Resource::Cpu, cpu_seconds, cpu_seconds + 1)?;
    limit(Resource::Fsize, file_bytes, file_bytes)?;
    limit(Resource::Nofile, MAX_PROGRAM_FILES, MAX_PROGRAM_FILES)?;
    limit(Resource::Core, 0, 0)?;
    confine::program(&program, &input, &output)?;
    Err(Command::new(program).args(arguments).env_clear().exec())
}

fn report_program(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut next = || arguments.next().map(PathBuf::from).ok_or(io::ErrorKind::InvalidInput);
    let (program, input, output) = (next()?, next()?, next()?);
    drop_privileges()?;
    let confinement = confine::program(&program, &input, &output)?;
    Ok(serde_json::to_writer(io::stdout(), &confinement)?)
}

/// Irrevocably drops the rights that decoding does not need.
fn give_up_rights() -> io::Result<Confinement> {
    drop_privileges()?;
    limit(Resource::As, MAX_MEMORY, MAX_MEMORY)?;
    limit(Resource::Cpu, MAX_CPU, MAX_CPU + 1)?;
    // No writing to files, no new process or thread, no core dump.
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Nproc, 0, 0)?;
    limit(Resource::Core, 0, 0)?;
    let (files, network) = confine::files_and_network();
    // No descriptor beyond the three that are open.
    limit(Resource::Nofile, 0, 0)?;
    Ok(Confinement { files, network, calls: confine::system_calls() })
}

fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    let (purpose, file) = wire::read_request(input)?;
    wire::write_reply(output, process(&file, purpose))
}

#[cfg(test)]
mod tests {
    use super::super::{Error, Purpose, fixture};
    use super::*;

    /// The worker's reply to `file`, without the resource limits.
    fn reply(file: &[u8]) -> Option<super::super::Result<super::super::Processed>> {
        let request = [&wire::request_head(file, Purpose::Attachment).unwrap()[..], file].concat();
        let mut output = Vec::new();
        serve(&request[..], &mut output).unwrap();
        wire::parse_reply(&output)
    }

    #[test]
    fn request_is_answered_with_files_or_reason() {
        assert_eq!(reply(&fixture::png(3, 3)).unwrap().unwrap().original.width, 3);
        assert_eq!(reply(b"fLaC"), Some(Err(Error::unsupported("audio/flac"))));
    }

    #[test]
    fn half_a_request_is_nobodys() {
        assert!(serve(&b"RKM1\0\0\0\0\x09half"[..], Vec::new()).is_err());
    }

    #[test]
    fn image_is_decoded_without_rights() {
        let decoding = std::thread::spawn(|| {
            let _ = (confine::files_and_network(), confine::system_calls());
            process(&fixture::gif(40, 40, 5, 50), Purpose::Attachment).map(|done| done.is_gifv())
        });
        assert_eq!(decoding.join().unwrap(), Ok(true));
    }
}

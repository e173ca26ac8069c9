//! The media worker: the hidden subcommand `rookery media-worker`, which processes one file and exits.
//!
//! Started by [`Sandbox`](super::Sandbox) with an empty environment. Before it reads a byte it gives up its capabilities,
//! sets resource limits (`setrlimit`: no new file descriptor or process, little memory, little CPU time), and has the
//! kernel refuse all files, connections and processes ([`confine`](mod@super::confine)). A decoder that crashes, hangs or is
//! compromised has only the one file it was given. `main` must call it before it starts a runtime or reads configuration.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::confine::{self, Confinement};
use super::process::process;
use super::wire;

/// The name of the subcommand.
pub const COMMAND: &str = "media-worker";

/// The argument with which the worker only says how it is confined, as JSON.
pub(crate) const REPORT: &str = "report";

/// Address space limit in bytes (1 GiB): the largest image decoded, converted and rotated, and the executable.
const MAX_MEMORY: u64 = 1024 * 1024 * 1024;

/// CPU time limit in seconds. The kernel then sends `SIGXCPU`, and `SIGKILL` a second later.
const MAX_CPU: u64 = 20;

/// Handles one request from standard input. A processing error goes into the reply; fails only when none can be sent.
/// `argument` is what follows [`COMMAND`], if anything does.
pub fn main(argument: Option<OsString>) -> ExitCode {
    let only_report = argument.is_some_and(|word| word == REPORT);
    let done = confine().and_then(|confinement| {
        if only_report {
            return Ok(serde_json::to_writer(io::stdout(), &confinement)?);
        }
        serve(io::stdin().lock(), io::stdout().lock())
    });
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Irrevocably drops the rights that decoding does not need.
fn confine() -> io::Result<Confinement> {
    #[cfg(target_os = "linux")]
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

/// Nothing that is run may gain privileges, and what root may do beyond its own files is given up.
#[cfg(target_os = "linux")]
fn drop_privileges() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

fn limit(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) })?)
}

fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    let (purpose, file) = wire::read_request(input)?;
    wire::write_reply(output, process(&file, purpose))
}

#[cfg(test)]
mod tests {
    use super::super::{Error, Purpose, fixture};
    use super::*;

    /// What the worker replies to `file`, without the resource limits.
    fn reply(file: &[u8]) -> Option<super::super::Result<super::super::Processed>> {
        let request = [&wire::request_head(file, Purpose::Attachment).unwrap()[..], file].concat();
        let mut output = Vec::new();
        serve(&request[..], &mut output).unwrap();
        wire::parse_reply(&output)
    }

    #[test]
    fn a_request_is_answered_with_files_or_a_reason() {
        assert_eq!(reply(&fixture::png(3, 3)).unwrap().unwrap().original.width, 3);
        assert_eq!(reply(b"fLaC"), Some(Err(Error::unsupported("audio/flac"))));
    }

    #[test]
    fn half_a_request_is_nobodys() {
        assert!(serve(&b"RKM1\0\0\0\0\x09half"[..], Vec::new()).is_err());
    }
}

//! The child process that compiles a component: the hidden subcommand `rookery plugin-compiler`, and its parent's side.
//!
//! A component may come from strangers, and compiling it takes half a gigabyte. The child gives up its rights before it reads
//! a byte (no files, connections or processes; bounded memory and CPU time), takes the component from standard input, and
//! writes machine code to standard output. The system reclaims its memory when it exits. [`main`] must be called before the
//! program starts a runtime or reads its configuration.
//!
//! Development compiles within the server: there, functions that did not change are not compiled again.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};

use confine::{Resource, drop_privileges, limit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::call::one_line;
use crate::compile::{COMPILE_TIMEOUT, compile, maker};
use crate::engine::compile_config;

/// The name of the subcommand.
pub const COMMAND: &str = "plugin-compiler";

/// Address space limit in bytes (1.5 GiB): twice what compiling an interpreter of Python takes, and the executable.
const MAX_MEMORY: u64 = 3 << 29;
/// Largest machine code, bytes.
const MAX_CODE: usize = 512 << 20;
/// Longest message of the child, bytes.
const MAX_MESSAGE: u64 = 4 << 10;

/// Exit code when the component does not compile; standard error says why.
const REFUSED: u8 = 2;
/// Exit code of a program that compiles in another way than its parent.
const OTHER_BUILD: u8 = 3;

/// Why nothing was compiled.
#[derive(Debug)]
pub(crate) enum CompileError {
    /// The component does not compile, in the compiler's words.
    Refused(String),
    /// It took too much memory, or the compiler crashed.
    Crashed,
    /// It took too long.
    Late,
    /// The program on the disk is another than the one that runs.
    OtherBuild,
    /// The child could not be run.
    Failed(String),
    /// The code could not be stored.
    Unstored(io::Error),
}

/// Compiles the component of standard input. `arguments` are those after [`COMMAND`]: the name of the compiler that the
/// parent expects.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match compile_input(arguments.next()) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, why)) => {
            let _ = io::stderr().write_all(why.as_bytes());
            ExitCode::from(code)
        }
    }
}

fn compile_input(expected: Option<OsString>) -> Result<(), (u8, String)> {
    let failed = |error: &dyn std::fmt::Display| (1, error.to_string());
    // Before the limit of memory, and before anything of the component is read.
    let engine = wasmtime::Engine::new(&compile_config(false)).map_err(|error| failed(&error))?;
    if expected.is_none_or(|expected| expected != *maker(&engine, false)) {
        return Err((OTHER_BUILD, "another build of the server".to_owned()));
    }
    give_up_rights().map_err(|error| failed(&error))?;
    let mut wasm = Vec::new();
    io::stdin().read_to_end(&mut wasm).map_err(|error| failed(&error))?;
    let code = compile(|| engine.precompile_component(&wasm));
    let code = code.map_err(|error| (REFUSED, one_line(&error.root_cause().to_string())))?;
    io::stdout().write_all(&code).map_err(|error| failed(&error))
}

/// Irrevocably drops the rights that compiling does not need.
fn give_up_rights() -> io::Result<()> {
    // Best effort: where it is not permitted, compiling has normal priority, or outlives a server that was killed.
    let _ = rustix::process::setpriority_process(None, 10);
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    drop_privileges()?;
    let cpu = COMPILE_TIMEOUT.as_secs() * 2;
    limit(Resource::As, MAX_MEMORY, MAX_MEMORY)?;
    limit(Resource::Cpu, cpu, cpu + 1)?;
    limit(Resource::Fsize, 0, 0)?;
    limit(Resource::Core, 0, 0)?;
    // As much as the kernel has: the server says at its start how its child processes are confined.
    let _ = (confine::files_and_network(), confine::thread_calls());
    limit(Resource::Nofile, 0, 0)
}

/// Has `executable` compile `wasm` in a child, and passes the machine code on to `sink`. Dropping the future kills the child.
pub(crate) async fn in_child(
    executable: &Path,
    maker: &str,
    wasm: &[u8],
    sink: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), CompileError> {
    let mut command = Command::new(executable);
    command
        .args([COMMAND, maker])
        .env_clear()
        // The program's allocator would reserve a gibibyte in one piece, most of the child's address space.
        .env("MIMALLOC_ARENA_RESERVE", "16M")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| CompileError::Failed(error.to_string()))?;
    tokio::time::timeout(COMPILE_TIMEOUT, converse(child, wasm, sink)).await.map_err(|_| CompileError::Late)?
}

async fn converse(
    mut child: Child,
    wasm: &[u8],
    mut sink: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), CompileError> {
    let failed = |error: io::Error| CompileError::Failed(error.to_string());
    let (Some(mut input), Some(mut output), Some(message)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(CompileError::Failed("it has no streams".to_owned()));
    };
    // A child that ends early breaks the pipe; its exit status says why.
    let send = async move {
        let _ = input.write_all(wasm).await;
    };
    let receive = async {
        let (mut part, mut total) = (vec![0; 64 << 10], 0);
        loop {
            let read = output.read(&mut part).await.map_err(failed)?;
            total += read;
            if total > MAX_CODE {
                return Err(CompileError::Crashed);
            }
            match part.get(..read) {
                None | Some([]) => return Ok(()),
                Some(code) => sink(code).map_err(CompileError::Unstored)?,
            }
        }
    };
    let listen = async {
        let mut text = Vec::new();
        let _ = message.take(MAX_MESSAGE).read_to_end(&mut text).await;
        text
    };
    let ((), received, text) = tokio::join!(send, receive, listen);
    received?;
    judge(child.wait().await.map_err(failed)?, &String::from_utf8_lossy(&text))
}

/// The error for the exit status of a child.
fn judge(status: ExitStatus, text: &str) -> Result<(), CompileError> {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal;

    match (status.signal().and_then(Signal::from_named_raw), status.code().and_then(|code| u8::try_from(code).ok())) {
        (None, Some(0)) => Ok(()),
        (None, Some(REFUSED)) => Err(CompileError::Refused(one_line(text))),
        (None, Some(OTHER_BUILD)) => Err(CompileError::OtherBuild),
        (Some(Signal::XCPU), _) => Err(CompileError::Late),
        // A panic, or memory that it did not get.
        (Some(_), _) | (None, Some(101)) => Err(CompileError::Crashed),
        _ => Err(CompileError::Failed(one_line(&format!("{status}: {text}")))),
    }
}

impl CompileError {
    /// The sentence for the admin.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Refused(why) => format!("does not compile ({why}): build it again"),
            Self::Crashed => format!(
                "compiling it takes more than {} MiB of memory, or makes the compiler fail: make its functions smaller",
                MAX_MEMORY >> 20
            ),
            Self::Late => {
                format!("compiling took more than {} s: make the component smaller", COMPILE_TIMEOUT.as_secs())
            }
            Self::OtherBuild => "the server's program was replaced while it runs: restart the server".to_owned(),
            Self::Failed(why) => format!("the process that compiles could not be run ({why})"),
            Self::Unstored(error) => format!("its machine code could not be stored ({error})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn exit_status_names_the_cause() {
        let of = |raw: i32| judge(ExitStatus::from_raw(raw), "why\nso").map_err(|error| error.sentence());
        assert_eq!(of(0), Ok(()));
        assert_eq!(of(i32::from(REFUSED) << 8), Err("does not compile (why so): build it again".to_owned()));
        for (raw, words) in
            [(6, "more than 1536 MiB"), (101 << 8, "more than 1536 MiB"), (24, "300 s"), (3 << 8, "restart")]
        {
            assert!(of(raw).unwrap_err().contains(words), "{raw}");
        }
        assert!(of(1 << 8).unwrap_err().contains("could not be run"));
    }
}

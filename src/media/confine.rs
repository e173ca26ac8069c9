//! Giving up rights: what the media worker may still do once it has called [`files_and_network`] and [`system_calls`].
//!
//! Two layers beside the resource limits, each where the kernel has it, and none undone for as long as the process lives.
//! Landlock (Linux 5.13; all of it since 6.12) refuses every file, TCP connection and signal to others; seccomp refuses
//! every system call but those that computing and the three open streams need: no file, no socket, no process, no thread. A
//! refused call fails with `EPERM`, so that a library which only tries goes on. Both hold for the calling thread and those
//! that it starts; the worker has one.
//!
//! Spec: <https://docs.kernel.org/userspace-api/landlock.html>,
//! <https://docs.kernel.org/userspace-api/seccomp_filter.html>

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the kernel enforces of what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Landlock: no files.
    pub files: bool,
    /// Landlock: no TCP, no signals to other processes, no abstract sockets.
    pub network: bool,
    /// seccomp: only the listed system calls.
    pub calls: bool,
}

impl Confinement {
    /// True when nothing is missing.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.files && self.network && self.calls
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = |held| if held { "enforced" } else { "missing" };
        write!(
            f,
            "Landlock for files {}, Landlock for connections and signals {}, seccomp {}",
            held(self.files),
            held(self.network),
            held(self.calls)
        )
    }
}

/// Gives up every file, connection and signal to others; returns whether the kernel enforces the first, and the rest.
///
/// Without a rule that allows something, all that is handled is refused. What the kernel does not know is left out.
#[cfg(target_os = "linux")]
pub(crate) fn files_and_network() -> (bool, bool) {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetError,
        RulesetStatus, Scope,
    };

    let restrict = || -> Result<RestrictionStatus, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    let Ok(status) = restrict() else { return (false, false) };
    let whole = matches!(status.landlock, LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V6);
    let enforced = status.ruleset != RulesetStatus::NotEnforced;
    (enforced, enforced && whole)
}

/// Elsewhere there is no Landlock.
#[cfg(not(target_os = "linux"))]
pub(crate) fn files_and_network() -> (bool, bool) {
    (false, false)
}

/// Gives up every system call but those of [`allowed`]; true when the kernel enforces it.
#[cfg(target_os = "linux")]
pub(crate) fn system_calls() -> bool {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    let architecture = if cfg!(target_arch = "x86_64") {
        TargetArch::x86_64
    } else if cfg!(target_arch = "aarch64") {
        TargetArch::aarch64
    } else {
        return false;
    };
    let rules = allowed().into_iter().map(|call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)
        .and_then(BpfProgram::try_from)
        .is_ok_and(|program| seccompiler::apply_filter(&program).is_ok())
}

/// Elsewhere there is no seccomp.
#[cfg(not(target_os = "linux"))]
pub(crate) fn system_calls() -> bool {
    false
}

/// The system calls that are left: the three streams, memory, time, random bytes, and ending, also by a crash.
#[cfg(target_os = "linux")]
fn allowed() -> [libc::c_long; 37] {
    [
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_ppoll,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_getuid,
        libc::SYS_getrandom,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getcpu,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
        libc::SYS_restart_syscall,
        libc::SYS_membarrier,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ]
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Error, ErrorKind};
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    use super::*;

    /// Why something was refused; `None` when it was not.
    type Refused = Option<ErrorKind>;

    fn refused<T>(done: Result<T, Error>) -> Refused {
        done.err().map(|error| error.kind())
    }

    /// Tries a file, a connection, and a process on a thread that gave up rights; the rest of this process keeps them.
    fn tried(give_up: impl FnOnce() -> bool + Send + 'static) -> Option<[Refused; 3]> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let trying = std::thread::spawn(move || {
            give_up().then(|| {
                let file = refused(File::open("/etc/passwd"));
                let connection = refused(TcpStream::connect(address));
                [file, connection, refused(Command::new("/bin/true").status())]
            })
        });
        trying.join().unwrap()
    }

    const DENIED: Refused = Some(ErrorKind::PermissionDenied);

    #[test]
    fn landlock_refuses_files_connections_and_programs() {
        // A kernel without it is none of this test's business.
        let Some(tried) = tried(|| files_and_network() == (true, true)) else { return };
        assert_eq!(tried, [DENIED; 3]);
    }

    #[test]
    fn seccomp_refuses_files_connections_and_processes() {
        let Some(tried) = tried(system_calls) else { return };
        assert_eq!(tried, [DENIED; 3]);
    }

    #[test]
    fn image_is_decoded_without_rights() {
        let decoding = std::thread::spawn(|| {
            files_and_network();
            system_calls();
            crate::process(&crate::fixture::gif(40, 40, 5, 50), crate::Purpose::Attachment).map(|done| done.is_gifv())
        });
        assert_eq!(decoding.join().unwrap(), Ok(true));
    }

    #[test]
    fn what_is_missing_is_said() {
        let held = Confinement { files: true, network: false, calls: true };
        assert!(!held.is_whole());
        let said = "Landlock for files enforced, Landlock for connections and signals missing, seccomp enforced";
        assert_eq!(held.to_string(), said);
    }
}

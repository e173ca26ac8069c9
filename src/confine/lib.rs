//! Reduces the rights of a child process of the server, which decodes media or compiles plugins, to a minimum, by
//! [`drop_privileges`], [`limit`], [`files_and_network`] and [`system_calls`].
//!
//! A process with several computing threads calls [`thread_calls`] instead of the last. A program that a child
//! executes (`ffmpeg`, `ffprobe`) has a separate profile: [`program()`]. It may read its libraries and one file,
//! write to one folder, and start threads, but no process.
//!
//! Two layers in addition to the resource limits, each if the kernel supports it; neither can be undone while the
//! process lives. Landlock (Linux 5.13; complete since 6.12) denies access to files, TCP connections and signals to
//! other processes; seccomp denies every system call except the calls needed for computing and for the three open
//! streams: no file, no socket, no process, no thread. A denied call fails with `EPERM`, so that a library can
//! continue after an optional call. Both apply to the calling thread and the threads that it starts: call them while
//! the process has one thread.
//!
//! Spec: <https://docs.kernel.org/userspace-api/landlock.html>,
//! <https://docs.kernel.org/userspace-api/seccomp_filter.html>

#[cfg(target_os = "linux")]
use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, io};

pub use rustix::process::Resource;
use rustix::process::{Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// The restrictions that the kernel enforces.
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
    /// True when all restrictions are enforced.
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

/// Prevents programs from gaining privileges, and drops the rights of root beyond its own files.
///
/// # Errors
/// When the kernel rejects that.
#[cfg(target_os = "linux")]
pub fn drop_privileges() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Other systems have no such privileges.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn drop_privileges() -> io::Result<()> {
    Ok(())
}

/// Limits a resource of this process permanently to `maximum`.
///
/// # Errors
/// When the current limit is lower.
pub fn limit(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) })?)
}

/// Gives up all files, connections and signals to other processes; returns whether the kernel enforces the first, and
/// the rest.
///
/// Without rules, all handled access is denied. Access rights unknown to the kernel are skipped.
#[cfg(target_os = "linux")]
pub fn files_and_network() -> (bool, bool) {
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

/// Other systems have no Landlock.
#[cfg(not(target_os = "linux"))]
pub fn files_and_network() -> (bool, bool) {
    (false, false)
}

/// The folders of libraries. Missing folders are skipped.
#[cfg(target_os = "linux")]
const LIBRARIES: [&str; 8] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    // The only folder of programs and libraries on NixOS and Guix.
    "/nix/store",
    "/gnu/store",
];

/// The sources of random bytes for programs, and the empty input.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 3] = ["/dev/urandom", "/dev/random", "/dev/null"];

/// The dynamic loaders, which the kernel executes together with a program.
#[cfg(target_os = "linux")]
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Confines a process before it executes `program`: it may execute only that program, read its libraries and `input`,
/// write files to the folder `output`, and start threads.
///
/// # Errors
/// When the kernel does not enforce a layer that it supports: the program must not run then.
pub fn program(program: &Path, input: &Path, output: &Path) -> io::Result<Confinement> {
    let files = program_files(program, input, output);
    checked(files, program_calls())
}

/// The result of confining a program. `files`: whether Landlock is enforced, as [`files_and_network`]; `None` when it
/// failed although the kernel supports it. `calls`: seccomp is enforced.
fn checked(files: Option<(bool, bool)>, calls: bool) -> io::Result<Confinement> {
    let (files, network) = files.ok_or_else(|| io::Error::other("Landlock could not be applied"))?;
    if !calls && cfg!(target_os = "linux") {
        // Supported by every kernel of the last ten years, so its absence indicates another error.
        return Err(io::Error::other("seccomp could not be applied"));
    }
    Ok(Confinement { files, network, calls })
}

/// As [`files_and_network`], for [`program()`]; `None` when Landlock failed although the kernel supports it.
#[cfg(target_os = "linux")]
fn program_files(program: &Path, input: &Path, output: &Path) -> Option<(bool, bool)> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, RestrictionStatus, Ruleset,
        RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
    };

    let run = make_bitflags!(AccessFs::{Execute | ReadFile});
    let write = make_bitflags!(AccessFs::{ReadFile | WriteFile | ReadDir | MakeReg | RemoveFile | Truncate});
    let read = BitFlags::from(AccessFs::ReadFile);
    let fixed = [(program, run), (input, read), (output, write), (Path::new("/etc/ld.so.cache"), read)];
    let libraries = LIBRARIES.iter().map(|path| (Path::new(path), read | AccessFs::ReadDir));
    let devices = DEVICES.iter().map(|path| (Path::new(path), read));
    let loaders = LOADERS.iter().map(|path| (Path::new(path), run));
    let allowed: Vec<_> = fixed
        .into_iter()
        .chain(libraries)
        .chain(loaders)
        .chain(devices)
        .filter_map(|(path, access)| Some((PathFd::new(path).ok()?, access)))
        .collect();
    let restrict = || -> Result<RestrictionStatus, RulesetError> {
        let mut ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?;
        for (path, access) in allowed {
            ruleset = ruleset.add_rule(PathBeneath::new(path, access))?;
        }
        ruleset.restrict_self()
    };
    let status = restrict().ok()?;
    match status.landlock {
        LandlockStatus::Available { .. } if status.ruleset == RulesetStatus::NotEnforced => None,
        LandlockStatus::Available { effective_abi, .. } => Some((true, effective_abi >= ABI::V6)),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => Some((false, false)),
    }
}

/// Other systems have no Landlock.
#[cfg(not(target_os = "linux"))]
fn program_files(_program: &Path, _input: &Path, _output: &Path) -> Option<(bool, bool)> {
    Some((false, false))
}

/// Allows only the system calls in [`allowed`]; true when the kernel enforces it.
#[cfg(target_os = "linux")]
#[must_use]
pub fn system_calls() -> bool {
    install(allowed().into_iter().map(|call| (call, Vec::new())).collect(), libc::EPERM)
}

/// Allows only the system calls in [`allowed`] and [`of_programs`]; true when the kernel enforces it.
///
/// A denied call fails as if the kernel did not implement it: for `clone3` the C library then tries `clone`, whose
/// flags a filter can inspect.
#[cfg(target_os = "linux")]
fn program_calls() -> bool {
    install_with_threads(of_programs())
}

/// As [`system_calls`] for a process with several computing threads: it may start them.
#[cfg(target_os = "linux")]
#[must_use]
pub fn thread_calls() -> bool {
    install_with_threads(vec![libc::SYS_set_tid_address, libc::SYS_prctl, libc::SYS_prlimit64])
}

/// Denies all system calls except [`allowed`], `more`, and starting threads.
#[cfg(target_os = "linux")]
fn install_with_threads(more: Vec<libc::c_long>) -> bool {
    use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let starts_thread = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread);
    let Ok(rule) = starts_thread.and_then(|condition| SeccompRule::new(vec![condition])) else { return false };
    let calls = allowed().into_iter().chain(more).map(|call| (call, Vec::new()));
    install(calls.chain([(libc::SYS_clone, vec![rule])]).collect(), libc::ENOSYS)
}

/// Denies all system calls except `rules`, with the error number `refused`.
#[cfg(target_os = "linux")]
fn install(rules: BTreeMap<libc::c_long, Vec<seccompiler::SeccompRule>>, refused: libc::c_int) -> bool {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    let architecture = if cfg!(target_arch = "x86_64") {
        TargetArch::x86_64
    } else if cfg!(target_arch = "aarch64") {
        TargetArch::aarch64
    } else {
        return false;
    };
    let refused = SeccompAction::Errno(refused.unsigned_abs());
    SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)
        .and_then(BpfProgram::try_from)
        .is_ok_and(|program| seccompiler::apply_filter(&program).is_ok())
}

/// Other systems have no seccomp.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn system_calls() -> bool {
    false
}

/// Other systems have no seccomp.
#[cfg(not(target_os = "linux"))]
fn program_calls() -> bool {
    false
}

/// Other systems have no seccomp.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn thread_calls() -> bool {
    false
}

/// The remaining system calls: the three streams, memory, time, random bytes, and exit, also by a crash.
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

/// Further system calls of a program: startup, libraries, files (restricted by Landlock), and queries about itself.
#[cfg(target_os = "linux")]
fn of_programs() -> Vec<libc::c_long> {
    let mut calls = vec![
        libc::SYS_execve,
        libc::SYS_openat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_readlinkat,
        libc::SYS_getcwd,
        libc::SYS_getdents64,
        libc::SYS_pread64,
        libc::SYS_pwrite64,
        libc::SYS_ftruncate,
        libc::SYS_unlinkat,
        libc::SYS_fcntl,
        libc::SYS_ioctl,
        libc::SYS_dup,
        libc::SYS_dup3,
        libc::SYS_pipe2,
        libc::SYS_eventfd2,
        libc::SYS_pselect6,
        libc::SYS_fadvise64,
        libc::SYS_prctl,
        libc::SYS_prlimit64,
        libc::SYS_getrlimit,
        libc::SYS_getrusage,
        libc::SYS_gettimeofday,
        libc::SYS_times,
        libc::SYS_uname,
        libc::SYS_sysinfo,
        libc::SYS_umask,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getegid,
        libc::SYS_getppid,
        libc::SYS_set_tid_address,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_getparam,
        libc::SYS_sched_getscheduler,
        libc::SYS_get_mempolicy,
        libc::SYS_mincore,
        libc::SYS_rt_sigpending,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        libc::SYS_arch_prctl,
        libc::SYS_open,
        libc::SYS_access,
        libc::SYS_stat,
        libc::SYS_lstat,
        libc::SYS_readlink,
        libc::SYS_unlink,
        libc::SYS_poll,
        libc::SYS_select,
        libc::SYS_pipe,
        libc::SYS_dup2,
        libc::SYS_time,
    ]);
    calls
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Error, ErrorKind};
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;

    use super::*;

    /// The error of a denied operation; `None` when it succeeded.
    type Refused = Option<ErrorKind>;

    fn refused<T>(done: Result<T, Error>) -> Refused {
        done.err().map(|error| error.kind())
    }

    /// Tries a file, a connection, and a process on a thread with reduced rights; other threads of this process are
    /// not affected.
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
    fn program_reads_its_file_alone_and_writes_to_its_folder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("input"), b"x").unwrap();
        std::fs::write(path("other"), b"x").unwrap();
        std::fs::create_dir(path("output")).unwrap();
        let (input, output, other, beside) = (path("input"), path("output"), path("other"), path("beside"));
        let trying = std::thread::spawn(move || {
            if program_files(Path::new("/bin/true"), &input, &output) != Some((true, true)) {
                // Not testable on a kernel without Landlock.
                return None;
            }
            let read = [refused(std::fs::read(input)), refused(std::fs::read(other))];
            let written = [refused(std::fs::write(output.join("a"), b"x")), refused(std::fs::write(beside, b"x"))];
            Some((read, written))
        });
        let Some((read, written)) = trying.join().unwrap() else { return };
        assert_eq!((read, written), ([None, DENIED], [None, DENIED]));
    }

    #[test]
    fn program_starts_threads_but_no_process_and_no_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let trying = std::thread::spawn(move || {
            program_calls().then(|| {
                let thread = refused(std::thread::Builder::new().spawn(|| ()).map(|thread| thread.join().unwrap()));
                [thread, refused(Command::new("/bin/true").status()), refused(TcpStream::connect(address))]
            })
        });
        let Some([thread, process, connection]) = trying.join().unwrap() else { return };
        assert_eq!((thread, process, connection), (None, Some(ErrorKind::Unsupported), Some(ErrorKind::Unsupported)));
    }

    #[test]
    fn computing_starts_threads_but_opens_nothing() {
        let trying = std::thread::spawn(move || {
            thread_calls().then(|| {
                let thread = refused(std::thread::Builder::new().spawn(|| ()).map(|thread| thread.join().unwrap()));
                [thread, refused(Command::new("/bin/true").status()), refused(File::open("/etc/passwd"))]
            })
        });
        let Some([thread, process, file]) = trying.join().unwrap() else { return };
        assert_eq!((thread, process, file), (None, Some(ErrorKind::Unsupported), Some(ErrorKind::Unsupported)));
    }

    #[test]
    fn program_requires_enforcement_of_supported_layers() {
        assert!(checked(None, true).is_err(), "Landlock failed");
        assert!(checked(Some((true, true)), false).is_err(), "seccomp failed");
        let lacking = checked(Some((false, false)), true).unwrap();
        assert_eq!(lacking, Confinement { files: false, network: false, calls: true }, "an old kernel");
    }

    #[test]
    fn landlock_refuses_files_connections_and_programs() {
        // Not testable on a kernel without Landlock.
        let Some(tried) = tried(|| files_and_network() == (true, true)) else { return };
        assert_eq!(tried, [DENIED; 3]);
    }

    #[test]
    fn seccomp_refuses_files_connections_and_processes() {
        let Some(tried) = tried(system_calls) else { return };
        assert_eq!(tried, [DENIED; 3]);
    }

    #[test]
    fn missing_features_are_named() {
        let held = Confinement { files: true, network: false, calls: true };
        assert!(!held.is_whole());
        let description = "Landlock for files enforced, Landlock for connections and signals missing, seccomp enforced";
        assert_eq!(held.to_string(), description);
    }
}

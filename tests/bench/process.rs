//! A process under measurement: its processor time and memory, from `/proc`.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::load::Connection;

/// Killed when it is dropped.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    /// Time from the start of the process to its first response.
    pub started_in: Duration,
}

impl Process {
    /// Starts `command` and waits until it is ready on `address`, with every plugin.
    pub async fn start(mut command: Command, address: SocketAddr) -> Self {
        let begun = Instant::now();
        let child = command.stdout(Stdio::null()).stdin(Stdio::null()).spawn().expect("the program starts");
        let mut process = Self { child, address, started_in: Duration::ZERO };
        let request = crate::load::request("GET", "/readyz", "bench.test", None, None);
        loop {
            if let Some(mut connection) = Connection::try_open(address).await
                && matches!(connection.attempt(&request).await, Some(Ok(_)))
            {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the server did not become ready");
            if let Ok(Some(status)) = process.child.try_wait() {
                panic!("the server ended: {status}");
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.started_in = begun.elapsed();
        process
    }

    /// Processor time since the process began, of all its threads, including ended ones.
    pub fn cpu(&self) -> Duration {
        cpu_of(self.child.id())
    }

    /// As [`Process::cpu`], in nanoseconds but only of running threads: for single requests.
    pub fn cpu_now(&self) -> Duration {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("the server runs");
        let spent = threads.filter_map(|thread| {
            let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(spent.sum())
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Resident memory, in MiB.
    pub fn memory(&self) -> f64 {
        self.mib("VmRSS:")
    }

    /// The part of it that is not a mapped file, in MiB: the system can reclaim mapped pages of the database.
    pub fn own_memory(&self) -> f64 {
        self.mib("RssAnon:")
    }

    fn mib(&self, field: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a process has memory");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
    }

    /// Requests the process to stop and waits for it.
    pub fn stop(mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

impl Process {
    /// As [`Process::stop`], without blocking other tasks; returns the time that it took.
    pub async fn stop_meanwhile(mut self) -> Duration {
        let begun = Instant::now();
        self.signal("TERM");
        while !matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        begun.elapsed()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the process takes the signal {name}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processor time of a process since it began, of all its threads, including ended ones.
///
/// Clock ticks are hundredths of a second: runs are long enough for that.
pub fn cpu_of(id: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Processor time of every PostgreSQL process of the machine, including ended ones.
pub fn postgres_cpu() -> Duration {
    let processes =
        std::fs::read_dir("/proc").expect("Linux").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ticks = processes.filter_map(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (head, tail) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = tail.split_whitespace().collect();
        // utime, stime, cutime, cstime: an ended connection counts with its parent.
        head.ends_with("(postgres")
            .then(|| fields[11..15].iter().filter_map(|text| text.parse::<u64>().ok()).sum::<u64>())
    });
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

/// An unused address.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}

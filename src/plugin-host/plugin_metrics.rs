//! Metrics and stats of a plugin, and one circuit breaker for each of its routes, hooks, jobs and commands.
//!
//! Reached from `call`, which records every call, and read through [`Plugin::stats`](crate::Plugin::stats) and
//! [`Plugin::breakers`](crate::Plugin::breakers). Writes Prometheus metrics through the `metrics` crate; does not
//! export them.
//!
//! Spec: docs/plugins.md#27-administration-and-metrics.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::breaker::{Breaker, BreakerState, TimeBreaker};
use crate::error::{CallError, CallErrorKind};
use crate::limits::Limits;
use crate::part::Part;
use crate::state::Used;

/// The kind of call, as a label of metrics; decides which budgets and instance policy apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallKind {
    Route,
    Hook,
    Job,
    Command,
    Lifecycle,
}

impl CallKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Route => "route",
            Self::Hook => "hook",
            Self::Job => "job",
            Self::Command => "command",
            Self::Lifecycle => "lifecycle",
        }
    }
}

/// The counters of a plugin since it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Stats {
    pub calls: u64,
    /// The failed calls among `calls`, including failures that the guest returned. Refused calls (queue, open breaker,
    /// drain) are in neither.
    pub failures: u64,
    /// Instances created.
    pub instantiated: u64,
    /// Pooled instances dropped for their calls, age or memory.
    pub recycled: u64,
    /// Instances dropped after a failed call.
    pub discarded: u64,
    /// Warm instances in the pool.
    pub idle: u64,
    /// Calls that are running.
    pub running: u64,
    /// Calls in the queue.
    pub waiting: u64,
    pub cpu: Duration,
    pub cpu_peak: Duration,
    /// Time in the database that counts towards its limit.
    pub database: Duration,
    pub wall_peak: Duration,
    /// Bytes of linear memory.
    pub memory_peak: u64,
    pub host_calls_peak: u64,
    pub bytes_out_peak: u64,
    pub bytes_in_peak: u64,
}

/// The circuit breaker of one route, hook, job or command, or of the database time of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct BreakerReport {
    /// `route`, `hook`, `job`, `command` or `database`.
    pub kind: &'static str,
    /// Of `database`, the part.
    pub name: String,
    pub state: BreakerState,
    /// Within the last hour.
    pub openings: usize,
    /// Three openings within an hour, of another breaker than one of time in the database: requests decide how much of that
    /// is used, so the part alone is refused. The sandbox only reports it: `src/plugins` puts the plugin in quarantine.
    pub needs_quarantine: bool,
}

/// One route, hook, job or command: its circuit breaker and its metrics.
pub(crate) struct CallTarget {
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    breaker: Mutex<Breaker>,
    state: Gauge,
    seconds: Histogram,
    outcomes: [Counter; OUTCOMES.len()],
}

/// Values of the label `outcome`; the first is success.
const OUTCOMES: [&str; 9] = ["ok", "trap", "cpu", "wall", "limit", "busy", "open", "drained", "failure"];

fn outcome(ended: Option<CallErrorKind>) -> usize {
    match ended {
        None => 0,
        Some(CallErrorKind::Trap) => 1,
        Some(CallErrorKind::Cpu) => 2,
        Some(CallErrorKind::Wall) => 3,
        Some(CallErrorKind::Limit) => 4,
        Some(CallErrorKind::Busy) => 5,
        Some(CallErrorKind::Open) => 6,
        Some(CallErrorKind::Drained) => 7,
        Some(CallErrorKind::Failure) => 8,
    }
}

impl CallTarget {
    fn new(plugin: &str, kind: CallKind, name: &str) -> Self {
        let labels = || [("plugin", plugin.to_owned()), ("kind", kind.name().to_owned()), ("name", name.to_owned())];
        Self {
            kind,
            name: name.to_owned(),
            breaker: Mutex::new(Breaker::new(Instant::now())),
            state: gauge!("plugin_breaker_state", &labels()),
            seconds: histogram!("plugin_call_seconds", &labels()),
            outcomes: OUTCOMES.map(|outcome| {
                let [plugin, kind, name] = labels();
                counter!("plugin_calls_total", &[plugin, kind, name, ("outcome", outcome.to_owned())])
            }),
        }
    }

    /// Locks the breaker for `change`, and updates the gauge when its state changed.
    pub(crate) fn breaker<T>(&self, change: impl FnOnce(&mut Breaker, Instant) -> T) -> T {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        let before = breaker.state();
        let given = change(&mut breaker, Instant::now());
        if breaker.state() != before {
            self.state.set(match breaker.state() {
                BreakerState::Closed => 0.0,
                BreakerState::HalfOpen => 1.0,
                BreakerState::Open => 2.0,
            });
        }
        given
    }

    fn ended(&self, error: Option<&CallError>, wall: Duration) {
        if let Some(counter) = self.outcomes.get(outcome(error.map(|error| error.kind))) {
            counter.increment(1);
        }
        self.seconds.record(wall.as_secs_f64());
    }
}

/// Metrics and stats of one plugin.
pub(crate) struct PluginMetrics {
    plugin: String,
    targets: RwLock<HashMap<CallKind, HashMap<String, Arc<CallTarget>>>>,
    totals: Totals,
    database: [DatabaseTime; Part::ALL.len()],
    pub(crate) instantiate: Histogram,
    pub(crate) queue_wait: Histogram,
    cpu: Gauge,
    memory: Gauge,
    bytes_in: Counter,
    bytes_out: Counter,
    running: Gauge,
    idle: Gauge,
}

/// Time that one part of a plugin took of the database.
struct DatabaseTime {
    part: Part,
    breaker: Mutex<TimeBreaker>,
    seconds: Gauge,
}

impl DatabaseTime {
    fn breaker<T>(&self, change: impl FnOnce(&mut TimeBreaker, Instant) -> T) -> T {
        change(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }
}

#[derive(Default)]
struct Totals {
    calls: AtomicU64,
    failures: AtomicU64,
    instantiated: AtomicU64,
    recycled: AtomicU64,
    discarded: AtomicU64,
    cpu: AtomicU64,
    cpu_peak: AtomicU64,
    database: AtomicU64,
    wall_peak: AtomicU64,
    memory_peak: AtomicU64,
    host_calls_peak: AtomicU64,
    bytes_out_peak: AtomicU64,
    bytes_in_peak: AtomicU64,
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl PluginMetrics {
    pub(crate) fn new(plugin: &str, limits: &Limits) -> Self {
        let own = [("plugin", plugin.to_owned())];
        let with = |key: &'static str, value: &str| [("plugin", plugin.to_owned()), (key, value.to_owned())];
        Self {
            plugin: plugin.to_owned(),
            targets: RwLock::default(),
            totals: Totals::default(),
            database: Part::ALL.map(|part| DatabaseTime {
                part,
                breaker: Mutex::new(TimeBreaker::new(limits.database, Instant::now())),
                seconds: gauge!("plugin_database_seconds_total", &with("part", part.name())),
            }),
            instantiate: histogram!("plugin_instantiate_seconds", &own),
            queue_wait: histogram!("plugin_queue_wait_seconds", &own),
            cpu: gauge!("plugin_cpu_seconds_total", &own),
            memory: gauge!("plugin_memory_peak_bytes", &own),
            bytes_in: counter!("plugin_bytes_total", &with("dir", "in")),
            bytes_out: counter!("plugin_bytes_total", &with("dir", "out")),
            running: gauge!("plugin_instances", &with("state", "running")),
            idle: gauge!("plugin_instances", &with("state", "idle")),
        }
    }

    /// The entry of that kind and name, created on first use.
    pub(crate) fn target(&self, kind: CallKind, name: &str) -> Arc<CallTarget> {
        let targets = self.targets.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = targets.get(&kind).and_then(|targets| targets.get(name)) {
            return Arc::clone(target);
        }
        drop(targets);
        let mut targets = self.targets.write().unwrap_or_else(PoisonError::into_inner);
        let targets = targets.entry(kind).or_default();
        Arc::clone(
            targets.entry(name.to_owned()).or_insert_with(|| Arc::new(CallTarget::new(&self.plugin, kind, name))),
        )
    }

    /// Records a call that ended.
    pub(crate) fn ended(&self, target: &CallTarget, error: Option<&CallError>, wall: Duration) {
        if error.is_none_or(CallError::reached_guest) {
            self.totals.calls.fetch_add(1, Relaxed);
            self.totals.failures.fetch_add(u64::from(error.is_some()), Relaxed);
        }
        self.totals.wall_peak.fetch_max(nanos(wall), Relaxed);
        target.ended(error, wall);
    }

    /// Records the guest's use of resources until it stopped running.
    pub(crate) fn used(&self, used: &Used, cpu: Duration, memory: usize) {
        let totals = &self.totals;
        totals.cpu.fetch_add(nanos(cpu), Relaxed);
        totals.cpu_peak.fetch_max(nanos(cpu), Relaxed);
        totals.host_calls_peak.fetch_max(u64::from(used.host_calls), Relaxed);
        totals.bytes_out_peak.fetch_max(count(used.bytes_out), Relaxed);
        totals.bytes_in_peak.fetch_max(count(used.bytes_in), Relaxed);
        if totals.memory_peak.fetch_max(count(memory), Relaxed) < count(memory) {
            self.memory.set(f64::from(u32::try_from(memory).unwrap_or(u32::MAX)));
        }
        self.cpu.increment(cpu.as_secs_f64());
        self.bytes_out.increment(count(used.bytes_out));
        self.bytes_in.increment(count(used.bytes_in));
        if used.refused > 0 {
            counter!("plugin_limit_reached_total", "plugin" => self.plugin.clone(), "limit" => "bytes-in")
                .increment(u64::from(used.refused));
        }
        for (function, calls) in &used.functions {
            counter!("plugin_hostcalls_total", "plugin" => self.plugin.clone(), "fn" => *function)
                .increment(u64::from(*calls));
        }
    }

    /// Adds time that a part of the plugin took of the database.
    pub(crate) fn used_database(&self, part: Part, time: Duration) {
        self.totals.database.fetch_add(nanos(time), Relaxed);
        let own = self.database_time(part);
        own.seconds.increment(time.as_secs_f64());
        if own.breaker(|breaker, now| breaker.used(time, now)) {
            let (plugin, part) = (&self.plugin, part.name());
            tracing::warn!(
                plugin.name = %plugin,
                "plugin {plugin}: its {part} reached the limit db-time and are refused for a while"
            );
        }
    }

    fn database_time(&self, part: Part) -> &DatabaseTime {
        let [routes, jobs, decorations, filters] = &self.database;
        match part {
            Part::Routes => routes,
            Part::Jobs => jobs,
            Part::Decorations => decorations,
            Part::Filters => filters,
        }
    }

    /// Locks the breaker of the part's time in the database.
    pub(crate) fn database_breaker<T>(&self, part: Part, change: impl FnOnce(&mut TimeBreaker, Instant) -> T) -> T {
        self.database_time(part).breaker(change)
    }

    pub(crate) fn instantiated(&self, took: Duration) {
        self.totals.instantiated.fetch_add(1, Relaxed);
        self.instantiate.record(took.as_secs_f64());
    }

    pub(crate) fn recycled(&self) {
        self.totals.recycled.fetch_add(1, Relaxed);
    }

    pub(crate) fn discarded(&self) {
        self.totals.discarded.fetch_add(1, Relaxed);
    }

    /// Sets the gauges of running calls and idle instances.
    pub(crate) fn instances(&self, running: u32, idle: u32) {
        self.running.set(f64::from(running));
        self.idle.set(f64::from(idle));
    }

    pub(crate) fn stats(&self) -> Stats {
        let totals = &self.totals;
        let time = |nanos: &AtomicU64| Duration::from_nanos(nanos.load(Relaxed));
        Stats {
            calls: totals.calls.load(Relaxed),
            failures: totals.failures.load(Relaxed),
            instantiated: totals.instantiated.load(Relaxed),
            recycled: totals.recycled.load(Relaxed),
            discarded: totals.discarded.load(Relaxed),
            cpu: time(&totals.cpu),
            cpu_peak: time(&totals.cpu_peak),
            database: time(&totals.database),
            wall_peak: time(&totals.wall_peak),
            memory_peak: totals.memory_peak.load(Relaxed),
            host_calls_peak: totals.host_calls_peak.load(Relaxed),
            bytes_out_peak: totals.bytes_out_peak.load(Relaxed),
            bytes_in_peak: totals.bytes_in_peak.load(Relaxed),
            ..Stats::default()
        }
    }

    pub(crate) fn breakers(&self) -> Vec<BreakerReport> {
        let targets = self.targets.read().unwrap_or_else(PoisonError::into_inner);
        let mut reports: Vec<_> = targets.values().flat_map(HashMap::values).map(|target| report(target)).collect();
        let database = self.database.iter().map(|own| {
            let report = own.breaker(|time, now| report_of("database", own.part.name(), time.breaker(), now));
            BreakerReport { needs_quarantine: false, ..report }
        });
        reports.extend(database.filter(|report| report.openings > 0));
        reports.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        reports
    }
}

fn report(target: &CallTarget) -> BreakerReport {
    target.breaker(|breaker, now| report_of(target.kind.name(), &target.name, breaker, now))
}

fn report_of(kind: &'static str, name: &str, breaker: &Breaker, now: Instant) -> BreakerReport {
    BreakerReport {
        kind,
        name: name.to_owned(),
        state: breaker.state(),
        openings: breaker.openings(now),
        needs_quarantine: breaker.needs_quarantine(now),
    }
}

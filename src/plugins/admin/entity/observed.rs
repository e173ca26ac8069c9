//! The observed state of a plugin on this node: its use of limits and quotas, its failures and its history.

use std::time::Duration;

use rookery_plugin_host::{BreakerState, Stats};
use serde::Serialize;

use super::Problem;
use crate::admin::order::HookPosition;
use crate::admin::outbox::Outbox;
use crate::call::logs::Line;
use crate::life::observed::{Event, FailedCall, milliseconds};
use crate::{Active, Cx, Quota};
use plugin_package::manifest::Resolved;
use store::plugin_event::Parked;

#[derive(Debug, Serialize)]
pub struct ParkedRow {
    pub seq: i64,
    pub stream: String,
    pub kind: String,
    pub subject_id: Option<String>,
    pub error: Option<String>,
    pub created_at: String,
}

#[derive(Debug, Serialize)]
pub struct LimitRow {
    pub memory_bytes: u64,
    pub route_cpu_ms: u64,
    pub route_wall_ms: u64,
    pub hook_cpu_ms: u64,
    pub hook_wall_ms: u64,
    pub instances: u32,
    pub host_calls: u32,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub rows: u32,
    pub db_size_bytes: u64,
    pub feed_entries: u32,
    pub notifications: u32,
    pub notifications_per_hour: u32,
    pub jobs: u32,
    pub events: u32,
    pub log_lines: u32,
    pub log_size_bytes: u64,
    pub db_time_ms: u64,
}

/// One storage quota.
#[derive(Debug, Serialize)]
pub struct QuotaRow {
    /// Its key in `[limits]`.
    pub limit: &'static str,
    /// Bytes or rows in use, as measured last, and charged since.
    pub used: u64,
    /// Most bytes or rows.
    pub most: u64,
    /// How often something was refused or dropped, on this node.
    pub refused: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Usage {
    pub calls: u64,
    pub failures: u64,
    pub instantiated: u64,
    pub recycled: u64,
    pub discarded: u64,
    pub idle: u64,
    pub running: u64,
    pub waiting: u64,
    pub cpu_ms: u64,
    pub cpu_peak_us: u64,
    pub database_ms: u64,
    pub wall_peak_us: u64,
    pub memory_peak_bytes: u64,
    pub host_calls_peak: u64,
    pub bytes_out_peak: u64,
    pub bytes_in_peak: u64,
}

#[derive(Debug, Serialize)]
pub struct Breaker {
    pub kind: &'static str,
    pub name: String,
    /// `closed`, `open`, or `half-open` while one call tries it again.
    pub state: &'static str,
    pub openings: usize,
}

#[derive(Debug, Serialize)]
pub struct FailureRow {
    pub at: String,
    pub kind: String,
    pub name: String,
    pub ended: String,
    pub message: String,
    pub generation: u64,
    pub backtrace: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct EventRow {
    pub at: String,
    pub what: &'static str,
    pub version: String,
    pub digest: String,
    pub generation: u64,
    pub took_ms: u64,
    #[serde(flatten)]
    pub error: Option<Problem>,
}

#[derive(Debug, Serialize)]
pub struct LogLine {
    pub number: u64,
    pub at: String,
    pub level: &'static str,
    pub message: String,
}

#[derive(Debug, Serialize)]
pub struct OrderRow {
    pub plugin: String,
    pub priority: i32,
    pub kinds: Vec<String>,
}

impl From<&Parked> for ParkedRow {
    fn from(parked: &Parked) -> Self {
        Self {
            seq: parked.seq,
            stream: parked.stream.clone(),
            kind: parked.kind.clone(),
            subject_id: parked.subject_id.map(|id| id.to_string()),
            error: parked.last_error.clone(),
            created_at: parked.created_at.to_api(),
        }
    }
}

/// The quotas of a plugin; for an absent plugin, the quotas whose use can still grow.
pub(super) fn quotas(cx: &Cx, plugin: i64, active: Option<&Active>, outbox: &Outbox) -> Vec<QuotaRow> {
    let row = |quota: &Quota| QuotaRow {
        limit: quota.key(),
        used: quota.used(),
        most: quota.most(),
        refused: Some(quota.refused()),
    };
    let Some(active) = active else {
        return cx
            .plugins
            .latest()
            .absent
            .iter()
            .filter(|absent| absent.id == plugin)
            .map(|absent| row(&absent.events))
            .collect();
    };
    let (lines, dropped) = cx.plugins.logs.usage(active.name());
    let jobs = u64::try_from(outbox.jobs).unwrap_or_default();
    let counted = [
        QuotaRow { limit: "jobs", used: jobs, most: active.limits.jobs.into(), refused: None },
        QuotaRow { limit: "log-size", used: lines as u64, most: active.limits.log_size as u64, refused: Some(dropped) },
    ];
    active.quotas.all().map(row).into_iter().chain(counted).collect()
}

pub(super) fn breakers(component: &rookery_plugin_host::Plugin) -> Vec<Breaker> {
    let row = |report: rookery_plugin_host::BreakerReport| Breaker {
        kind: report.kind,
        name: report.name,
        state: breaker_state(report.state),
        openings: report.openings,
    };
    component.breakers().into_iter().map(row).collect()
}

fn breaker_state(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half-open",
        BreakerState::Open => "open",
    }
}

impl From<&Resolved> for LimitRow {
    fn from(limits: &Resolved) -> Self {
        let host = &limits.host;
        Self {
            memory_bytes: host.memory as u64,
            route_cpu_ms: milliseconds(host.route_cpu),
            route_wall_ms: milliseconds(host.route_wall),
            hook_cpu_ms: milliseconds(host.hook_cpu),
            hook_wall_ms: milliseconds(host.hook_wall),
            instances: host.instances,
            host_calls: host.host_calls,
            bytes_in: host.bytes_in as u64,
            bytes_out: host.bytes_out as u64,
            rows: limits.rows,
            db_size_bytes: limits.db_size,
            feed_entries: limits.feed_entries,
            notifications: limits.notifications,
            notifications_per_hour: limits.notifications_per_hour,
            jobs: limits.jobs,
            events: limits.events,
            log_lines: limits.log_lines,
            log_size_bytes: limits.log_size as u64,
            db_time_ms: milliseconds(host.database),
        }
    }
}

impl From<Stats> for Usage {
    fn from(stats: Stats) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            calls: stats.calls,
            failures: stats.failures,
            instantiated: stats.instantiated,
            recycled: stats.recycled,
            discarded: stats.discarded,
            idle: stats.idle,
            running: stats.running,
            waiting: stats.waiting,
            cpu_ms: milliseconds(stats.cpu),
            cpu_peak_us: micros(stats.cpu_peak),
            database_ms: milliseconds(stats.database),
            wall_peak_us: micros(stats.wall_peak),
            memory_peak_bytes: stats.memory_peak,
            host_calls_peak: stats.host_calls_peak,
            bytes_out_peak: stats.bytes_out_peak,
            bytes_in_peak: stats.bytes_in_peak,
        }
    }
}

impl From<&FailedCall> for FailureRow {
    fn from(failed: &FailedCall) -> Self {
        Self {
            at: failed.at.to_api(),
            kind: failed.kind.clone(),
            name: failed.name.clone(),
            ended: failed.ended.clone(),
            message: failed.message.clone(),
            generation: failed.generation,
            backtrace: failed.backtrace.clone(),
        }
    }
}

impl From<&Event> for EventRow {
    fn from(event: &Event) -> Self {
        let problem =
            |(stage, sentence): (&String, &String)| Problem { stage: stage.clone(), sentence: sentence.clone() };
        Self {
            at: event.at.to_api(),
            what: event.what,
            version: event.version.clone(),
            digest: event.digest.clone(),
            generation: event.generation,
            took_ms: event.took_ms,
            error: event.stage.as_ref().zip(event.sentence.as_ref()).map(problem),
        }
    }
}

impl From<&Line> for LogLine {
    fn from(line: &Line) -> Self {
        Self { number: line.number, at: line.at.to_api(), level: line.level.as_str(), message: line.message.clone() }
    }
}

impl From<HookPosition> for OrderRow {
    fn from(placed: HookPosition) -> Self {
        let HookPosition { plugin, priority, kinds } = placed;
        Self { plugin, priority, kinds }
    }
}

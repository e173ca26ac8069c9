//! Parses quantities as a manifest writes them: `32MiB`, `50ms`, `300/5m`.

use std::time::Duration;

use rookery_plugin_host::{InstancePolicy, Limits as HostLimits};

use super::Limits;

/// A number of bytes: `512`, `16KiB`, `32MiB`, `1GiB`.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// A duration: `50ms`, `5s`, `10m`, `1h`, `7d`.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let unit = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 3600 * 1000,
        "d" => 24 * 3600 * 1000,
        _ => return None,
    };
    number.checked_mul(unit).map(Duration::from_millis)
}

/// A rate: `300/5m`. In `300/3h reactions` the word is ignored here; it names a limit that several routes share.
#[must_use]
pub fn rate(text: &str) -> Option<(u32, Duration)> {
    let text = text.split_once(' ').map_or(text, |(rate, _)| rate);
    let (times, within) = text.split_once('/')?;
    let within = duration(within).or_else(|| duration(&format!("1{within}")))?;
    let times = times.parse().ok().filter(|times| *times > 0)?;
    (!within.is_zero()).then_some((times, within))
}

fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

/// Limits in numbers: the limits of a call, and the limits of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Limits that the sandbox enforces.
    pub host: HostLimits,
    /// How long one statement may run.
    pub statement_time: Duration,
    /// Most rows that one statement may return.
    pub rows: u32,
    /// Most bytes that the plugin may store.
    pub db_size: u64,
    /// Most entries in its feeds.
    pub feed_entries: u32,
    /// Most notifications of its types that are kept.
    pub notifications: u32,
    /// Most notifications for one account within an hour.
    pub notifications_per_hour: u32,
    /// Most jobs that wait, and most dead letters.
    pub jobs: u32,
    /// Most events that are kept for it.
    pub events: u32,
    /// Most log lines per second.
    pub log_lines: u32,
    /// Most bytes of log lines that are kept in memory.
    pub log_size: usize,
}

impl Default for Resolved {
    fn default() -> Self {
        Self {
            host: HostLimits::default(),
            statement_time: Duration::from_millis(500),
            rows: 10_000,
            db_size: 1 << 30,
            feed_entries: 1_000_000,
            notifications: 1_000_000,
            notifications_per_hour: 1_000,
            jobs: 10_000,
            events: 500_000,
            log_lines: 100,
            log_size: 1 << 20,
        }
    }
}

impl Limits {
    /// These limits in numbers, with the defaults of docs/plugins.md#26-limits.
    ///
    /// # Errors
    /// The invalid key, and the values it takes.
    pub fn resolve(&self) -> Result<Resolved, String> {
        let mut resolved = Resolved::default();
        let host = &mut resolved.host;
        for (to, key, text) in
            [(&mut host.bytes_in, "bytes-in", &self.bytes_in), (&mut host.bytes_out, "bytes-out", &self.bytes_out)]
        {
            set(to, key, text.as_deref(), call_bytes, "a size from 64KiB to 256MiB, such as \"8MiB\"")?;
        }
        set(&mut host.memory, "memory", self.memory.as_deref(), memory, "a size from 1MiB to 1GiB, such as \"32MiB\"")?;
        for (to, key, text) in [
            (&mut host.route_cpu, "route-cpu", &self.route_cpu),
            (&mut host.route_wall, "route-wall", &self.route_wall),
            (&mut host.hook_cpu, "hook-cpu", &self.hook_cpu),
            (&mut host.hook_wall, "hook-wall", &self.hook_wall),
        ] {
            set(to, key, text.as_deref(), short, "a time from 1ms to 5m, such as \"50ms\"")?;
        }
        for (to, key, text) in
            [(&mut host.route_policy, "routes", &self.routes), (&mut host.hook_policy, "hooks", &self.hooks)]
        {
            set(to, key, text.as_deref(), policy, "\"fresh\" or \"pooled\"")?;
        }
        set(
            &mut host.recycle_age,
            "renew-age",
            self.renew_age.as_deref(),
            age,
            "a time from 1s to 1d, such as \"1h\"",
        )?;
        set(&mut host.database, "db-time", self.db_time.as_deref(), minute, "a time from 1s to 60s, such as \"20s\"")?;
        within(&mut host.recycle_calls, "renew-calls", self.renew_calls, 1_000_000)?;
        within(&mut host.instances, "instances", self.instances, 64)?;
        within(&mut host.host_calls, "host-calls", self.host_calls, 1_000_000)?;
        within(&mut resolved.rows, "rows", self.rows, 1_000_000)?;
        self.resolve_kept(&mut resolved)?;
        set(&mut resolved.db_size, "db-size", self.db_size.as_deref(), size, "a size, such as \"1GiB\"")?;
        Ok(resolved)
    }

    /// The limits of the plugin's data on the server, in rows and lines.
    fn resolve_kept(&self, resolved: &mut Resolved) -> Result<(), String> {
        const MOST: u32 = 1_000_000_000;
        within(&mut resolved.feed_entries, "feed-entries", self.feed_entries, MOST)?;
        within(&mut resolved.notifications, "notifications", self.notifications, MOST)?;
        let per_hour = self.notifications_per_hour;
        within(&mut resolved.notifications_per_hour, "notifications-per-hour", per_hour, 1_000_000)?;
        within(&mut resolved.jobs, "jobs", self.jobs, 1_000_000)?;
        within(&mut resolved.events, "events", self.events, MOST)?;
        within(&mut resolved.log_lines, "log-lines", self.log_lines, 10_000)?;
        let takes = "a size from 1KiB to 64MiB, such as \"1MiB\"";
        set(&mut resolved.log_size, "log-size", self.log_size.as_deref(), log_bytes, takes)
    }

    /// Limits above the defaults: `route-cpu=5m`.
    #[must_use]
    pub fn raised(&self) -> Vec<String> {
        let (Ok(own), usual) = (self.resolve(), Resolved::default()) else { return Vec::new() };
        let text = |key: &str, value: &Option<String>, higher: bool| {
            value.as_ref().filter(|_| higher).map(|value| format!("{key}={value}"))
        };
        let number = |key: &str, value: Option<u32>, higher: bool| {
            value.filter(|_| higher).map(|value| format!("{key}={value}"))
        };
        let (host, least) = (&own.host, &usual.host);
        let raised = [
            text("memory", &self.memory, host.memory > least.memory),
            text("route-cpu", &self.route_cpu, host.route_cpu > least.route_cpu),
            text("route-wall", &self.route_wall, host.route_wall > least.route_wall),
            text("hook-cpu", &self.hook_cpu, host.hook_cpu > least.hook_cpu),
            text("hook-wall", &self.hook_wall, host.hook_wall > least.hook_wall),
            text("bytes-in", &self.bytes_in, host.bytes_in > least.bytes_in),
            text("bytes-out", &self.bytes_out, host.bytes_out > least.bytes_out),
            text("db-size", &self.db_size, own.db_size > usual.db_size),
            text("log-size", &self.log_size, own.log_size > usual.log_size),
            number("feed-entries", self.feed_entries, own.feed_entries > usual.feed_entries),
            number("notifications", self.notifications, own.notifications > usual.notifications),
            number(
                "notifications-per-hour",
                self.notifications_per_hour,
                own.notifications_per_hour > usual.notifications_per_hour,
            ),
            number("jobs", self.jobs, own.jobs > usual.jobs),
            number("events", self.events, own.events > usual.events),
            number("log-lines", self.log_lines, own.log_lines > usual.log_lines),
            text("db-time", &self.db_time, host.database > least.database),
            number("instances", self.instances, host.instances > least.instances),
            number("host-calls", self.host_calls, host.host_calls > least.host_calls),
            number("rows", self.rows, own.rows > usual.rows),
            number("renew-calls", self.renew_calls, host.recycle_calls > least.recycle_calls),
            text("renew-age", &self.renew_age, host.recycle_age > least.recycle_age),
        ];
        raised.into_iter().flatten().collect()
    }

    /// These limits, with the limits of `below` as the fallback.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        let or = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        Self {
            memory: or(&self.memory, &below.memory),
            route_cpu: or(&self.route_cpu, &below.route_cpu),
            route_wall: or(&self.route_wall, &below.route_wall),
            hook_cpu: or(&self.hook_cpu, &below.hook_cpu),
            hook_wall: or(&self.hook_wall, &below.hook_wall),
            instances: self.instances.or(below.instances),
            host_calls: self.host_calls.or(below.host_calls),
            bytes_in: or(&self.bytes_in, &below.bytes_in),
            bytes_out: or(&self.bytes_out, &below.bytes_out),
            rows: self.rows.or(below.rows),
            feed_entries: self.feed_entries.or(below.feed_entries),
            notifications: self.notifications.or(below.notifications),
            notifications_per_hour: self.notifications_per_hour.or(below.notifications_per_hour),
            jobs: self.jobs.or(below.jobs),
            events: self.events.or(below.events),
            log_lines: self.log_lines.or(below.log_lines),
            log_size: or(&self.log_size, &below.log_size),
            db_size: or(&self.db_size, &below.db_size),
            db_time: or(&self.db_time, &below.db_time),
            routes: or(&self.routes, &below.routes),
            hooks: or(&self.hooks, &below.hooks),
            renew_calls: self.renew_calls.or(below.renew_calls),
            renew_age: or(&self.renew_age, &below.renew_age),
        }
    }
}

fn memory(text: &str) -> Option<usize> {
    size(text).filter(|bytes| (1 << 20..=1 << 30).contains(bytes)).and_then(|bytes| usize::try_from(bytes).ok())
}

fn call_bytes(text: &str) -> Option<usize> {
    size(text).filter(|bytes| (64 << 10..=256 << 20).contains(bytes)).and_then(|bytes| usize::try_from(bytes).ok())
}

fn log_bytes(text: &str) -> Option<usize> {
    size(text).filter(|bytes| (1 << 10..=64 << 20).contains(bytes)).and_then(|bytes| usize::try_from(bytes).ok())
}

fn short(text: &str) -> Option<Duration> {
    duration(text).filter(|time| (Duration::from_millis(1)..=Duration::from_secs(300)).contains(time))
}

fn age(text: &str) -> Option<Duration> {
    duration(text).filter(|time| (Duration::from_secs(1)..=Duration::from_secs(24 * 3600)).contains(time))
}

fn minute(text: &str) -> Option<Duration> {
    duration(text).filter(|time| (Duration::from_secs(1)..=Duration::from_secs(60)).contains(time))
}

fn policy(text: &str) -> Option<InstancePolicy> {
    match text {
        "fresh" => Some(InstancePolicy::Fresh),
        "pooled" => Some(InstancePolicy::Pooled),
        _ => None,
    }
}

fn set<T>(to: &mut T, key: &str, text: Option<&str>, read: fn(&str) -> Option<T>, takes: &str) -> Result<(), String> {
    if let Some(text) = text {
        *to = read(text).ok_or_else(|| format!("limits, {key}: {text:?} is not {takes}"))?;
    }
    Ok(())
}

fn within(to: &mut u32, key: &str, value: Option<u32>, max: u32) -> Result<(), String> {
    match value {
        None => {}
        Some(value) if (1..=max).contains(&value) => *to = value,
        Some(value) => return Err(format!("limits, {key}: {value} is not a number from 1 to {max}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_they_are_written_and_nothing_else_does() {
        assert_eq!(size("16KiB"), Some(16384));
        assert_eq!(size("7"), Some(7));
        assert_eq!(size("1.5MiB"), None);
        assert_eq!(size("99999999999999999999"), None);
        assert_eq!(size("99999999999999GiB"), None);
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("2h"), Some(Duration::from_secs(7200)));
        assert_eq!(duration("5"), None);
        assert_eq!(rate("300/5m"), Some((300, Duration::from_secs(300))));
        assert_eq!(rate("10/s"), Some((10, Duration::from_secs(1))));
        assert_eq!(rate("0/5m"), None);
    }

    #[test]
    fn admin_limits_override_manifest() {
        let asked = Limits { memory: Some("16MiB".into()), rows: Some(5), ..Limits::default() };
        let set = Limits { memory: Some("8MiB".into()), hooks: Some("fresh".into()), ..Limits::default() };
        let resolved = set.over(&asked).resolve().expect("good");
        assert_eq!((resolved.host.memory, resolved.rows), (8 << 20, 5));
        assert_eq!(resolved.host.hook_policy, InstancePolicy::Fresh);
        assert_eq!(asked.raised(), [""; 0]);
        let greedy = Limits { route_cpu: Some("5m".into()), rows: Some(20_000), ..Limits::default() };
        assert_eq!(greedy.raised(), ["route-cpu=5m", "rows=20000"]);
        let lasting = Limits { renew_calls: Some(5_000), renew_age: Some("1h".into()), ..Limits::default() };
        let resolved = lasting.resolve().expect("good").host;
        assert_eq!((resolved.recycle_calls, resolved.recycle_age), (5_000, Duration::from_secs(3600)));
        assert_eq!(lasting.raised(), ["renew-calls=5000", "renew-age=1h"], "an admin agrees to it");
        let endless = Limits { renew_age: Some("7d".into()), ..Limits::default() };
        assert!(endless.resolve().unwrap_err().contains("is not a time from 1s to 1d"));
        let wrong = Limits { route_cpu: Some("1h".into()), ..Limits::default() };
        assert_eq!(
            wrong.resolve().unwrap_err(),
            "limits, route-cpu: \"1h\" is not a time from 1ms to 5m, such as \"50ms\""
        );
    }
}

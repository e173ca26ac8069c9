//! The latest log lines of each plugin, kept in memory on this node for the admin.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::Time;

/// Bytes that a line takes beside its text.
const OVERHEAD: usize = size_of::<Line>();

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    /// As the admin API writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// A log line of a plugin; line breaks and control characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number in its plugin's log, counted from 1.
    pub number: u64,
    /// When.
    pub at: Time,
    /// Severity.
    pub level: Level,
    pub message: String,
}

/// The latest lines of every plugin.
#[derive(Debug, Default)]
pub struct Logs(Mutex<HashMap<String, LogBuffer>>);

/// The latest lines of one plugin.
#[derive(Debug, Default)]
struct LogBuffer {
    lines: VecDeque<Line>,
    /// Of all lines together.
    bytes: usize,
    dropped: u64,
}

impl Logs {
    /// Appends a line; drops the oldest beyond `most` bytes.
    pub fn push(&self, plugin: &str, at: Time, level: Level, message: String, most: usize) {
        self.of(plugin, |kept| {
            let number = kept.lines.back().map_or(0, |line| line.number) + 1;
            kept.bytes += message.len() + OVERHEAD;
            kept.lines.push_back(Line { number, at, level, message });
            // The newest stays, so that numbers go on.
            while kept.bytes > most && kept.lines.len() > 1 {
                kept.bytes -= kept.lines.pop_front().map_or(0, |line| line.message.len() + OVERHEAD);
            }
        });
    }

    /// Counts a line that was dropped because the plugin wrote too many.
    pub fn count_dropped(&self, plugin: &str) {
        self.of(plugin, |kept| kept.dropped += 1);
    }

    /// Bytes of the kept lines of `plugin`, and how many lines were dropped.
    #[must_use]
    pub fn usage(&self, plugin: &str) -> (usize, u64) {
        self.of(plugin, |kept| (kept.bytes, kept.dropped))
    }

    fn of<T>(&self, plugin: &str, work: impl FnOnce(&mut LogBuffer) -> T) -> T {
        let mut plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match plugins.get_mut(plugin) {
            Some(kept) => work(kept),
            None => work(plugins.entry(plugin.to_owned()).or_default()),
        }
    }

    /// The lines of `plugin` numbered above `after`, oldest first.
    #[must_use]
    pub fn after(&self, plugin: &str, after: u64) -> Vec<Line> {
        let plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = plugins.get(plugin).into_iter().flat_map(|kept| &kept.lines);
        lines.filter(|line| line.number > after).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_lines_stay_and_can_be_followed() {
        let logs = Logs::default();
        let most = 10 * (OVERHEAD + 100);
        for number in 1..=11 {
            logs.push("a", Time::from_micros(0), Level::Info, format!("{number:0100}"), most);
        }
        assert_eq!(logs.after("a", 0).len(), 10);
        assert_eq!(logs.after("a", 0)[0].message, format!("{:0100}", 2));
        assert_eq!(logs.usage("a"), (most, 0));
        let last = logs.after("a", 0).last().map(|line| line.number).unwrap();
        logs.push("a", Time::from_micros(0), Level::Error, "new".to_owned(), most);
        assert_eq!(logs.after("a", last).iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["new"]);
        assert_eq!(logs.after("b", 0), []);
    }
}

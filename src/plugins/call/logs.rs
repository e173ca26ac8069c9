//! The latest log lines of each plugin, kept in memory on this node for the admin.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::Time;

/// Lines kept per plugin.
const KEPT: usize = 500;

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the levels of logs")]
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
    /// The text.
    pub message: String,
}

/// The latest lines of every plugin.
#[derive(Debug, Default)]
pub struct Logs(Mutex<HashMap<String, VecDeque<Line>>>);

impl Logs {
    /// Appends a line; drops the oldest when full.
    pub fn push(&self, plugin: &str, at: Time, level: Level, message: String) {
        let mut plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !plugins.contains_key(plugin) {
            plugins.insert(plugin.to_owned(), VecDeque::new());
        }
        let Some(lines) = plugins.get_mut(plugin) else { return };
        if lines.len() == KEPT {
            lines.pop_front();
        }
        let number = lines.back().map_or(0, |line| line.number) + 1;
        lines.push_back(Line { number, at, level, message });
    }

    /// The lines of `plugin` numbered above `after`, oldest first.
    #[must_use]
    pub fn after(&self, plugin: &str, after: u64) -> Vec<Line> {
        let plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = plugins.get(plugin).into_iter().flatten();
        lines.filter(|line| line.number > after).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_stay_and_can_be_followed() {
        let logs = Logs::default();
        for number in 0..=KEPT {
            logs.push("a", Time::from_micros(0), Level::Info, number.to_string());
        }
        assert_eq!(logs.after("a", 0).len(), KEPT);
        assert_eq!(logs.after("a", 0)[0].message, "1");
        let last = logs.after("a", 0).last().map(|line| line.number).unwrap();
        logs.push("a", Time::from_micros(0), Level::Error, "new".to_owned());
        assert_eq!(logs.after("a", last).iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["new"]);
        assert_eq!(logs.after("b", 0), []);
    }
}

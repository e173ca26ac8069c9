//! What plugins said lately, kept in memory for the admin: the newest lines of each, on this node.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::Time;

/// Lines kept of each plugin.
const KEPT: usize = 500;

/// How urgent a line is.
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
    /// The word for it.
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

/// A line that a plugin logged; without line breaks and control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1; those of one plugin grow by one.
    pub number: u64,
    /// When.
    pub at: Time,
    /// How urgent.
    pub level: Level,
    /// What.
    pub message: String,
}

/// The newest lines of every plugin.
#[derive(Debug, Default)]
pub struct Logs(Mutex<HashMap<String, VecDeque<Line>>>);

impl Logs {
    /// Keeps a line; the oldest makes room.
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

    /// The lines of `plugin` that are numbered above `after`, the oldest first.
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

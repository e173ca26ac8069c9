//! The budgets of one plugin that outlive its calls: requests to other servers, lines of its log, metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Concurrent requests of one plugin.
const MAX_CONCURRENT: usize = 8;
/// Rate limit of one plugin, in requests per minute.
pub(super) const MAX_PER_MINUTE: u32 = 300;
const MINUTE: Duration = Duration::from_secs(60);
/// Lines of a burst, for each line per second.
const BURST: f64 = 5.0;

/// Request budget of one plugin.
#[derive(Debug)]
pub(super) struct Allowance {
    pub(super) places: Semaphore,
    minute: Mutex<(Instant, u32)>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { places: Semaphore::new(MAX_CONCURRENT), minute: Mutex::new((Instant::now(), 0)) }
    }
}

impl Allowance {
    /// Counts a request; false when the rate limit is exhausted.
    pub(super) fn spend(&self, now: Instant) -> bool {
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(minute.0) >= MINUTE {
            *minute = (now, 0);
        }
        if minute.1 >= MAX_PER_MINUTE {
            return false;
        }
        minute.1 += 1;
        true
    }
}

/// A token bucket of log lines, full at first.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    /// Lines that were taken out and not filled in yet.
    taken: f64,
    filled: Option<Instant>,
    suppressed: u64,
}

impl Bucket {
    /// Takes a token of the `rate` lines per second; returns how many lines were dropped since the last one, or none
    /// when the bucket is empty.
    pub(super) fn take(&mut self, now: Instant, rate: u32) -> Option<u64> {
        let rate = f64::from(rate);
        let since = self.filled.replace(now).map_or(0.0, |filled| now.saturating_duration_since(filled).as_secs_f64());
        self.taken = (self.taken - since * rate).max(0.0);
        if self.taken + 1.0 > rate * BURST {
            self.suppressed += 1;
            return None;
        }
        self.taken += 1.0;
        Some(std::mem::take(&mut self.suppressed))
    }
}

/// Most metrics of one plugin.
const NAMES: usize = 32;
/// Most sets of labels of one metric.
const LABEL_SETS: usize = 64;
/// Most labels in a set.
const LABELS: usize = 8;
/// Longest name of a metric or label, and longest value of a label, in bytes.
const LENGTH: usize = 64;

/// The metrics and sets of labels in use.
#[derive(Debug, Default)]
pub(super) struct MetricTable(BTreeMap<String, BTreeSet<Vec<(String, String)>>>);

impl MetricTable {
    /// True when `name` with `labels` is in use or there is room for it.
    pub(super) fn admit(&mut self, name: &str, labels: &[(String, String)]) -> bool {
        let fits = |(label, value): &(String, String)| is_name(label) && value.len() <= LENGTH;
        if !is_name(name) || labels.len() > LABELS || !labels.iter().all(fits) {
            return false;
        }
        if !self.0.contains_key(name) && self.0.len() == NAMES {
            return false;
        }
        let sets = self.0.entry(name.to_owned()).or_default();
        sets.contains(labels) || (sets.len() < LABEL_SETS && sets.insert(labels.to_vec()))
    }
}

fn is_name(name: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= LENGTH && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(value: usize) -> Vec<(String, String)> {
        vec![("kind".to_owned(), value.to_string())]
    }

    #[test]
    fn metrics_table_bounds_names_and_labels() {
        let mut metrics = MetricTable::default();
        for number in 0..LABEL_SETS {
            assert!(metrics.admit("first", &labels(number)));
        }
        assert!(!metrics.admit("first", &labels(LABEL_SETS)));
        assert!(metrics.admit("first", &labels(0)));
        for number in 1..NAMES {
            assert!(metrics.admit(&format!("name_{number}"), &[]));
        }
        assert!(!metrics.admit("one_more", &[]));
        assert!(metrics.admit("name_1", &labels(1)));
    }

    #[test]
    fn names_cannot_break_the_exposition() {
        let mut metrics = MetricTable::default();
        for name in ["", "a b", "a\nb", "é", "A", "1a", "a{x=\"y\"}", &"a".repeat(LENGTH + 1)] {
            assert!(!metrics.admit(name, &[]), "{name}");
            assert!(!metrics.admit("good", &[(name.to_owned(), String::new())]), "{name}");
        }
        assert!(!metrics.admit("good", &[("label".to_owned(), "v".repeat(LENGTH + 1))]));
    }
}

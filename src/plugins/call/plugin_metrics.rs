//! A plugin's own metrics: counters and histograms of bounded cardinality (contract: interface `log`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use metrics::Label;

use super::Call;

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
    fn admit(&mut self, name: &str, labels: &[(String, String)]) -> bool {
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

impl Call {
    pub(super) fn count(&self, name: &str, labels: &[(String, String)], add: u64) {
        if let Some(labels) = self.admitted_labels(name, labels) {
            metrics::counter!("rookery_plugin_counted_total", labels).increment(add);
        }
    }

    pub(super) fn measure(&self, name: &str, labels: &[(String, String)], value: f64) {
        if let Some(labels) = self.admitted_labels(name, labels)
            && value.is_finite()
        {
            metrics::histogram!("rookery_plugin_measured", labels).record(value);
        }
    }

    /// The labels as exported, with plugin and metric name added; none when the limits are exhausted.
    fn admitted_labels(&self, name: &str, labels: &[(String, String)]) -> Option<Vec<Label>> {
        let mut labels = labels.to_vec();
        labels.sort();
        labels.dedup_by(|a, b| a.0 == b.0);
        let plugin = self.active.name();
        let mut metrics = self.state.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        if !metrics.admit(name, &labels) {
            metrics::counter!("rookery_plugin_figures_dropped_total", "plugin" => plugin.to_owned()).increment(1);
            return None;
        }
        let own = [("plugin", plugin), ("figure", name)].map(|(label, value)| Label::new(label, value.to_owned()));
        let given = labels.into_iter().filter(|(label, _)| label != "plugin" && label != "figure");
        Some(own.into_iter().chain(given.map(|(label, value)| Label::new(label, value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(value: usize) -> Vec<(String, String)> {
        vec![("kind".to_owned(), value.to_string())]
    }

    #[test]
    fn the_table_has_room_for_so_many_names_and_labels() {
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

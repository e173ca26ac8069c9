//! A plugin's own metrics: counters and histograms of bounded cardinality (contract: interface `log`).

use std::sync::PoisonError;

use metrics::Label;

use super::Call;

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

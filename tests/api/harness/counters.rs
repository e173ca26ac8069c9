//! Reads the metrics that the server under test counts, of one test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, LocalRecorderGuard, Metadata, Recorder, SharedString, Unit,
};

/// Name of a counter and the values of its labels, and how often it was counted.
type Counted = Arc<Mutex<BTreeMap<(String, String), u64>>>;

/// Counters of the current thread, which in a test of the usual kind is the whole server.
#[derive(Clone, Default)]
pub struct Counters(Counted);

impl Counters {
    /// Counts what this thread counts until the guard is dropped.
    pub fn of_this_thread() -> (Self, LocalRecorderGuard<'static>) {
        let counters = Self::default();
        // Lives as long as the process of the tests: the guard may only refer to what outlives it.
        let recorder: &'static Self = Box::leak(Box::new(counters.clone()));
        (counters, metrics::set_default_local_recorder(recorder))
    }

    /// The values of the labels of the counter `name`, each as often as it was counted, and starts anew.
    pub fn take(&self, name: &str) -> Vec<String> {
        let mut counted = self.0.lock().unwrap();
        let found: Vec<(String, u64)> =
            counted.iter().filter(|((of, _), _)| of == name).map(|((_, labels), n)| (labels.clone(), *n)).collect();
        counted.retain(|(of, _), _| of != name);
        found.into_iter().flat_map(|(labels, n)| (0..n).map(move |_| labels.clone())).collect()
    }
}

struct Handle(Counted, (String, String));

impl CounterFn for Handle {
    fn increment(&self, value: u64) {
        *self.0.lock().unwrap().entry(self.1.clone()).or_default() += value;
    }

    fn absolute(&self, value: u64) {
        self.0.lock().unwrap().insert(self.1.clone(), value);
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels = key.labels().map(metrics::Label::value).collect::<Vec<_>>().join(" ");
        Counter::from_arc(Arc::new(Handle(Arc::clone(&self.0), (key.name().to_owned(), labels))))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

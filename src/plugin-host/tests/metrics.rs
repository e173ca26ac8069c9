//! The metrics that calls of a plugin record, by name and labels.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use crate::harness::*;

/// Records the metrics that were registered.
#[derive(Default)]
struct Names(Arc<Mutex<BTreeSet<String>>>);

impl Names {
    fn note(&self, key: &Key) {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        self.0.lock().unwrap().insert(format!("{}{{{}}}", key.name(), labels.join(",")));
    }
}

impl Recorder for Names {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.note(key);
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.note(key);
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.note(key);
        Histogram::noop()
    }
}

#[test]
fn calls_are_measured_under_documented_names() {
    let names = Names::default();
    let noted = Arc::clone(&names.0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&names, || {
        runtime.block_on(async {
            let plugin = load("trap_for_13").await.unwrap();
            get(&plugin).await.unwrap();
            decorate(&plugin, 13).await.unwrap_err();
        });
    });
    let noted = noted.lock().unwrap();
    for name in [
        "plugin_calls_total{plugin=guest,kind=route,name=index,outcome=ok}",
        "plugin_calls_total{plugin=guest,kind=hook,name=decorate,outcome=trap}",
        "plugin_call_seconds{plugin=guest,kind=route,name=index}",
        "plugin_cpu_seconds_total{plugin=guest}",
        "plugin_memory_peak_bytes{plugin=guest}",
        "plugin_hostcalls_total{plugin=guest,fn=config.version}",
        "plugin_bytes_total{plugin=guest,dir=in}",
        "plugin_bytes_total{plugin=guest,dir=out}",
        "plugin_instances{plugin=guest,state=idle}",
        "plugin_instantiate_seconds{plugin=guest}",
        "plugin_queue_wait_seconds{plugin=guest}",
        "plugin_breaker_state{plugin=guest,kind=hook,name=decorate}",
        "plugin_reload_seconds{stage=compile}",
    ] {
        assert!(noted.contains(name), "{name} is not among {noted:#?}");
    }
}

//! Logs and metrics.
//!
//! ```
//! # use rookery_plugin::log;
//! # let _fake = rookery_plugin::test::Fake::bare();
//! log::info("a deck was saved", &[("account", "7")]);
//! log::counter("saved", &[], 1);
//! ```

use super::imports::log as host;
use crate::contract::log::Level;

fn pairs(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

macro_rules! level {
    ($($name:ident $level:ident $text:literal),*) => {
        $(#[doc = $text]
        pub fn $name(message: &str, fields: &[(&str, &str)]) {
            host::emit(Level::$level, message, &pairs(fields));
        })*
    };
}
level!(
    trace Trace "Every step.",
    debug Debug "Details for finding a fault.",
    info Info "What happened.",
    warn Warn "The plugin coped.",
    error Error "Someone must act."
);

/// Adds to a counter.
pub fn counter(name: &str, labels: &[(&str, &str)], add: u64) {
    host::counter(name, &pairs(labels), add);
}

/// Records a value in a histogram.
pub fn observe(name: &str, labels: &[(&str, &str)], value: f64) {
    host::observe(name, &pairs(labels), value);
}

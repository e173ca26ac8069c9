//! Logging to standard error: human-readable on a terminal, JSON lines otherwise.
//!
//! Set up once, first thing, together with the [traces](crate::telemetry). Fields of a request are in its span
//! ([`rookery_http::observe`]); tokens, passwords, addresses and private text are never logged.

use std::io::{IsTerminal as _, stderr};

use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use crate::telemetry::Traces;
use config::{Log, LogFormat};
use model::span::{STATEMENT, USE_CASE};

/// Installs the logger as configured, and the layer of `traces`. A second call does nothing.
pub fn start(config: &Log, traces: Option<&Traces>) {
    let registry = tracing_subscriber::registry();
    let filter = filter(config.level.as_str());
    // These fail only when a logger is already installed.
    let _ = match traces {
        None => registry.with(lines(config)).with(filter).try_init(),
        // The log and the export have separate filters.
        Some(traces) => registry.with(lines(config).with_filter(filter)).with(traces.layer()).try_init(),
    };
}

fn lines<S: Subscriber + for<'a> LookupSpan<'a>>(config: &Log) -> Box<dyn Layer<S> + Send + Sync> {
    let pretty = match config.format {
        LogFormat::Auto => stderr().is_terminal(),
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr);
    if pretty {
        lines.with_ansi(stderr().is_terminal()).with_target(false).boxed()
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
    }
}

/// Installs a logger for commands: warnings and errors only, except from the target `answered`, whose messages the
/// command prints itself.
pub fn start_quiet(answered: Option<&str>) {
    let but = answered.map(|target| format!(",{target}=off")).unwrap_or_default();
    let lines = tracing_subscriber::fmt().with_env_filter(filter(&format!("warn{but}"))).with_writer(stderr);
    let _ = lines.with_ansi(stderr().is_terminal()).with_target(false).without_time().try_init();
}

/// The log filter. Spans of use cases and statements are not created for the log at any level, unless `directives` name
/// their targets: they would replace the request in its lines.
pub fn filter(directives: &str) -> EnvFilter {
    EnvFilter::builder().parse_lossy(format!("{USE_CASE}=off,{STATEMENT}=off,{directives}"))
}

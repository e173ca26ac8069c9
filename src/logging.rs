//! Log lines on standard error: pretty on a terminal, a JSON object each otherwise.
//!
//! Set up once, before anything can go wrong. What is logged about a request stands in its span
//! ([`http::observe`](crate::http::observe)); no token, password, address or private text is ever a field.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

use config::{Log, LogFormat};

/// Begins to write log lines as `config` says. A second call does nothing.
pub fn start(config: &Log) {
    let pretty = match config.format {
        LogFormat::Auto => stderr().is_terminal(),
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter(config.level.as_str())).with_writer(stderr);
    // It fails only when something else logs already.
    let _ = if pretty {
        lines.with_ansi(stderr().is_terminal()).with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
    };
}

/// Begins to write what a command of the command line should not keep to itself, but for what comes from `answered`: the
/// command says that itself.
pub fn start_quiet(answered: Option<&str>) {
    let but = answered.map(|target| format!(",{target}=off")).unwrap_or_default();
    let lines = tracing_subscriber::fmt().with_env_filter(filter(&format!("warn{but}"))).with_writer(stderr);
    let _ = lines.with_ansi(stderr().is_terminal()).with_target(false).without_time().try_init();
}

fn filter(directives: &str) -> EnvFilter {
    EnvFilter::builder().parse_lossy(directives)
}

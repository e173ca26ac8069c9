//! Logging to standard error: human-readable on a terminal, JSON lines otherwise.
//!
//! Set up once, first thing. Fields of a request are in its span ([`rookery_http::observe`]); tokens, passwords,
//! addresses and private text are never logged.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

use config::{Log, LogFormat};

/// Installs the logger as configured. A second call does nothing.
pub fn start(config: &Log) {
    let pretty = match config.format {
        LogFormat::Auto => stderr().is_terminal(),
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter(config.level.as_str())).with_writer(stderr);
    // This fails only when a logger is already installed.
    let _ = if pretty {
        lines.with_ansi(stderr().is_terminal()).with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
    };
}

/// Installs a logger for commands: warnings and errors only, except from the target `answered`, whose messages the
/// command prints itself.
pub fn start_quiet(answered: Option<&str>) {
    let but = answered.map(|target| format!(",{target}=off")).unwrap_or_default();
    let lines = tracing_subscriber::fmt().with_env_filter(filter(&format!("warn{but}"))).with_writer(stderr);
    let _ = lines.with_ansi(stderr().is_terminal()).with_target(false).without_time().try_init();
}

fn filter(directives: &str) -> EnvFilter {
    EnvFilter::builder().parse_lossy(directives)
}

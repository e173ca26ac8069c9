//! Log lines of plugins: bounded in rate and length, and escaped so that they cannot forge other lines (contract:
//! interface `log`).

use std::sync::PoisonError;

use rookery_plugin_host::imports::log::Level as ContractLevel;
use tokio::time::Instant;

use super::Call;
use crate::call::logs::Level;
use text::printable::is_unprintable;

/// Longest line, in bytes.
const LENGTH: usize = 4096;

impl Call {
    pub(super) fn log(&self, level: ContractLevel, message: &str, fields: &[(String, String)]) {
        let rate = self.active.limits.log_lines;
        let taken = self.state.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now(), rate);
        let Some(suppressed) = taken else {
            let plugin = self.active.name();
            metrics::counter!("rookery_plugin_log_dropped_total", "plugin" => plugin.to_owned()).increment(1);
            self.cx.plugins.logs.count_dropped(plugin);
            return;
        };
        if suppressed > 0 {
            self.write(Level::Warn, format!("suppressed {suppressed} lines"));
        }
        let level = match level {
            ContractLevel::Trace => Level::Trace,
            ContractLevel::Debug => Level::Debug,
            ContractLevel::Info => Level::Info,
            ContractLevel::Warn => Level::Warn,
            ContractLevel::Error => Level::Error,
        };
        self.write(level, line(message, fields));
    }

    /// Writes a line of the server's about the plugin into its log.
    pub(crate) fn log_of_host(&self, level: Level, line: String) {
        self.write(level, line);
    }

    fn write(&self, level: Level, line: String) {
        let plugin = self.active.name();
        match level {
            Level::Trace => tracing::trace!(target: "rookery::plugin", plugin, "{line}"),
            Level::Debug => tracing::debug!(target: "rookery::plugin", plugin, "{line}"),
            Level::Info => tracing::info!(target: "rookery::plugin", plugin, "{line}"),
            Level::Warn => tracing::warn!(target: "rookery::plugin", plugin, "{line}"),
            Level::Error => tracing::error!(target: "rookery::plugin", plugin, "{line}"),
        }
        self.cx.plugins.logs.push(plugin, self.cx.clock.now(), level, line, self.active.limits.log_size);
    }
}

/// The message and its fields on one line of bounded length.
fn line(message: &str, fields: &[(String, String)]) -> String {
    let mut line = String::with_capacity(message.len().min(LENGTH));
    push_escaped(&mut line, message);
    for (name, value) in fields {
        line.push(' ');
        push_escaped(&mut line, name);
        line.push('=');
        push_escaped(&mut line, value);
    }
    line
}

/// Appends `text`, escaped, as far as the line has room.
fn push_escaped(line: &mut String, text: &str) {
    for c in text.chars() {
        if line.len() + c.len_utf8() > LENGTH {
            return;
        }
        if is_unprintable(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::call::budgets::Bucket;

    #[test]
    fn log_line_stays_one_bounded_line() {
        let fields = [("who\n".to_owned(), "\u{1b}[31mroot\u{202e}\0".to_owned())];
        let line = super::line("saved\nERROR forged\r\u{2028}", &fields);
        assert_eq!(line, "saved\\nERROR forged\\r\\u{2028} who\\n=\\u{1b}[31mroot\\u{202e}\\u{0}");
        let long = super::line(&"ä\n".repeat(LENGTH), &[]);
        assert!(long.len() <= LENGTH + 8 && !long.contains('\n'), "{}", long.len());
    }

    #[test]
    fn lines_beyond_the_burst_are_counted_and_come_back_with_time() {
        let (mut bucket, start) = (Bucket::default(), Instant::now());
        let written = (0..10_000).filter(|_| bucket.take(start, 100).is_some()).count();
        assert_eq!(written, 500);
        assert_eq!(bucket.take(start + Duration::from_millis(20), 100), Some(9_500));
        assert_eq!(bucket.take(start + Duration::from_millis(20), 100), Some(0));
        assert_eq!(bucket.take(start + Duration::from_millis(20), 100), None);
        let later = (0..10_000).filter(|_| bucket.take(start + Duration::from_secs(3600), 100).is_some()).count();
        assert_eq!(later, 500);
        let mut slow = Bucket::default();
        assert_eq!((0..100).filter(|_| slow.take(start, 2).is_some()).count(), 10, "a rate of its own");
    }
}

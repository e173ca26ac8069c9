//! The parts of a plugin: each has a separate budget of database time, with a circuit breaker.
//!
//! Chosen by `call` from the exported function, and by `src/plugins` for statements that the server runs without a call.

use crate::plugin_metrics::CallKind;

/// A part of a plugin. One that used up its time in the database is refused for a while, and the others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Routes, pages and searches: what requests ask of the plugin.
    Routes,
    /// Jobs, schedules, commands, automatic deletion, and the hooks on `events` and `fanout`, which run in the background.
    Jobs,
    /// The hooks on `decorate` and `channels`: part of what people read.
    Decorations,
    /// The hooks that decide about a change, which waits for them: `status-filter`, `sign-up`, `notification-filter`.
    Filters,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Routes, Self::Jobs, Self::Decorations, Self::Filters];

    /// Its name in logs, metrics and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Routes => "routes",
            Self::Jobs => "jobs",
            Self::Decorations => "decorations",
            Self::Filters => "filters",
        }
    }

    /// The part that a call belongs to; `name` is the interface of a hook.
    pub(crate) fn of(kind: CallKind, name: &str) -> Self {
        match kind {
            CallKind::Route => Self::Routes,
            CallKind::Job | CallKind::Command | CallKind::Lifecycle => Self::Jobs,
            CallKind::Hook => match name {
                "events" | "fanout" | "activity-filter" | "activity-handler" => Self::Jobs,
                "decorate" | "channels" | "instance-info" => Self::Decorations,
                _ => Self::Filters,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_apart_from_reads_and_background_work() {
        let of = |name| Part::of(CallKind::Hook, name);
        for name in ["status-filter", "sign-up", "notification-filter"] {
            assert_eq!(of(name), Part::Filters, "{name}");
        }
        assert_eq!((of("events"), of("fanout")), (Part::Jobs, Part::Jobs));
        assert_eq!((of("decorate"), of("channels")), (Part::Decorations, Part::Decorations));
        assert_eq!(Part::of(CallKind::Route, "events"), Part::Routes);
    }
}

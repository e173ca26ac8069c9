//! Filters: where they apply, and what a client does with what matches.

use super::text_enum;

text_enum! {
    /// Where a filter applies. Clients go by it; the server marks what matches wherever it shows it.
    FilterContext {
        /// Home and list timelines.
        Home = "home",
        Notifications = "notifications",
        /// Public and hashtag timelines.
        Public = "public",
        Thread = "thread",
        /// Profiles.
        Account = "account",
        /// Trends and search.
        Explore = "explore",
    }
}

text_enum! {
    /// What a client does with a status that matches.
    FilterAction {
        /// Shows the filter's title in place of it, until it is opened.
        Warn = "warn",
        /// Leaves it out.
        Hide = "hide",
        /// Shows it folded; clients that do not know this are told to warn.
        HalfWarn = "half_warn",
    }
}

impl FilterAction {
    /// As clients know it that do not know [`FilterAction::HalfWarn`].
    #[must_use]
    pub fn coarse(self) -> Self {
        match self {
            Self::Hide => Self::Hide,
            Self::Warn | Self::HalfWarn => Self::Warn,
        }
    }
}

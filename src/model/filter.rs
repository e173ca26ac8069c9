//! Filters: where they apply, and how clients show matches.

use super::text_enum;

text_enum! {
    /// Where a filter applies. Enforced by clients; the server marks matches in every context.
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
    /// How clients show a matching status.
    FilterAction {
        /// Shows the filter's title instead, until the status is opened.
        Warn = "warn",
        /// Hides it.
        Hide = "hide",
        /// Shows it folded; older clients receive `warn` instead.
        HalfWarn = "half_warn",
        /// Shows its text, and hides its media until they are opened.
        Blur = "blur",
    }
}

impl FilterAction {
    /// The action for clients that do not support [`FilterAction::HalfWarn`].
    #[must_use]
    pub fn coarse(self) -> Self {
        match self {
            Self::Hide => Self::Hide,
            Self::Blur => Self::Blur,
            Self::Warn | Self::HalfWarn => Self::Warn,
        }
    }
}

//! One-time links.

use chrono::Duration;

use super::{AccountId, RowId, Time, text_enum};

text_enum! {
    /// The purpose of a link.
    LinkKind {
        /// To confirm the e-mail address in `Link::email`.
        ConfirmEmail = "confirm_email",
        /// To set a new password.
        ResetPassword = "reset_password",
        /// To create the server's first account, its owner.
        OwnerSetup = "owner_setup",
    }
}

impl LinkKind {
    /// How long a link is valid (docs/contract/rules.md#8-oauth-and-sign-up: two days for a confirmation).
    #[must_use]
    pub fn lifetime(self) -> Duration {
        match self {
            Self::ConfirmEmail => Duration::days(2),
            Self::ResetPassword => Duration::hours(6),
            Self::OwnerSetup => Duration::days(7),
        }
    }
}

/// An unused one-time link. Its secret is derived from `id` and the server's key, so the table does not reveal it.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "one_time_links", alias = "l")]
pub struct Link {
    pub id: RowId,
    pub kind: LinkKind,
    pub account_id: Option<AccountId>,
    /// The address to be confirmed.
    pub email: Option<String>,
    pub expires_at: Time,
}

//! Links that work once.

use super::{AccountId, RowId, Time, text_enum};

text_enum! {
    /// What a link is for.
    LinkKind {
        /// The e-mail address of `Link::email` is theirs.
        ConfirmEmail = "confirm_email",
        /// A new password.
        ResetPassword = "reset_password",
        /// The first account of the server, its owner.
        OwnerSetup = "owner_setup",
    }
}

/// A link that was made and not used. Its secret is derived from `id`, so whoever reads the table cannot follow it.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table one_time_links")]
pub struct Link {
    pub id: RowId,
    pub kind: LinkKind,
    pub account_id: Option<AccountId>,
    /// The address to be confirmed.
    pub email: Option<String>,
    pub expires_at: Time,
}

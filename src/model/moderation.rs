//! The words of moderation: the states of accounts, and what moderators do to them.

use super::text_enum;

text_enum! {
    /// Where an account is from.
    Origin {
        Local = "local",
        Remote = "remote",
    }
}

text_enum! {
    /// The state of an account.
    AccountStatus {
        /// Not suspended.
        Active = "active",
        /// A sign-up that awaits approval.
        Pending = "pending",
        /// Of other servers none ever is: this server admits them without a review.
        RemotePending = "remote_pending",
        Disabled = "disabled",
        Silenced = "silenced",
        Suspended = "suspended",
        Sensitized = "sensitized",
    }
}

text_enum! {
    /// What a moderator does to an account.
    WarningAction {
        /// Only the warning.
        None = "none",
        /// The account cannot sign in.
        Disable = "disable",
        /// All its media are sensitive.
        Sensitive = "sensitive",
        /// Only its followers see it without looking for it.
        Silence = "silence",
        /// It is hidden, and deleted after a while.
        Suspend = "suspend",
    }
}

text_enum! {
    /// What was decided about an appeal.
    AppealState {
        /// Nothing yet.
        Pending = "pending",
        /// The strike is overruled.
        Approved = "approved",
        Rejected = "rejected",
    }
}

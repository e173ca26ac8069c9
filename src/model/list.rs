//! Lists of accounts.

use super::text_enum;

text_enum! {
    /// Which replies by its members a list shows; replies to themselves and to its owner are always shown.
    RepliesPolicy {
        /// Replies to accounts that the owner follows.
        Followed = "followed",
        /// Replies to members.
        List = "list",
        /// No other replies.
        None = "none",
    }
}

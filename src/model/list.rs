//! Lists of accounts.

use super::text_enum;

text_enum! {
    /// Which replies of its members to others a list shows; those to themselves and to its owner it always does.
    RepliesPolicy {
        /// Replies to whomever the owner follows.
        Followed = "followed",
        /// Replies to members.
        List = "list",
        /// No others.
        None = "none",
    }
}

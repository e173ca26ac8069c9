//! Reports of accounts to the staff.

use super::text_enum;

text_enum! {
    /// What a report is about.
    ReportCategory {
        /// Unwanted advertising or engagement.
        Spam = "spam",
        /// Against the law.
        Legal = "legal",
        /// Against rules of the server.
        Violation = "violation",
        /// Anything else.
        Other = "other",
    }
}

//! Reports of accounts to the staff.

use super::text_enum;

text_enum! {
    /// The reason of a report.
    ReportCategory {
        /// Unwanted advertising or engagement.
        Spam = "spam",
        /// Illegal content.
        Legal = "legal",
        /// A violation of server rules.
        Violation = "violation",
        /// Anything else.
        Other = "other",
    }
}

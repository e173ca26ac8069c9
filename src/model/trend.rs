//! Kinds of trends.

use super::text_enum;

text_enum! {
    /// A kind of trend; the text determines the type of `subject_id` in the table of trends.
    TrendKind {
        Tag = "tag",
        Status = "status",
        /// A link: its preview card.
        Link = "link",
    }
}

//! Trends: what may be one.

use super::text_enum;

text_enum! {
    /// What is used a lot at present; the text says of what `subject_id` in the table of trends is the id.
    TrendKind {
        Tag = "tag",
        Status = "status",
        /// A link: its preview card.
        Link = "link",
    }
}

//! Lists of domains, which are imported from files or fetched from addresses: their formats, and how they apply.
//!
//! Reached from `service::domain_list` and the table of subscriptions.
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use super::text_enum;

text_enum! {
    /// The text of a list.
    ListFormat {
        /// Comma-separated values, as Mastodon exports them.
        Csv = "csv",
        /// A domain a line.
        Plain = "plain",
        /// An array of domains, or of objects with the parameters of blocks.
        Json = "json",
    }
}

text_enum! {
    /// The handling of a listed domain that is blocked already.
    ImportMode {
        /// The stricter severity, and the flags of both.
        Merge = "merge",
        /// The parameters of the list.
        Replace = "replace",
    }
}

text_enum! {
    /// The handling of the changes of a subscribed list.
    ListMode {
        /// It is a draft until the staff applies it.
        Draft = "draft",
        /// It applies immediately.
        Apply = "apply",
    }
}

text_enum! {
    /// A change that a list proposes for a domain.
    DraftChange {
        /// The list names the domain.
        Add = "add",
        /// The list names it with other parameters.
        Update = "update",
        /// The list does not name it any more.
        Remove = "remove",
    }
}

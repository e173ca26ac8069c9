//! Data that users move between servers in files.

use super::text_enum;

text_enum! {
    /// The content of an exported or imported file; named as in imports of Mastodon.
    TransferKind {
        /// Followed accounts.
        Follows = "following",
        /// Blocked accounts.
        Blocks = "blocking",
        /// Muted accounts.
        Mutes = "muting",
        /// Blocked domains.
        DomainBlocks = "domain_blocking",
        /// Members of lists.
        Lists = "lists",
        /// Bookmarked statuses.
        Bookmarks = "bookmarks",
        /// Filters with their keywords.
        Filters = "filters",
    }
}

impl TransferKind {
    /// The name of an exported file.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Follows => "following_accounts.csv",
            Self::Blocks => "blocked_accounts.csv",
            Self::Mutes => "muted_accounts.csv",
            Self::DomainBlocks => "blocked_domains.csv",
            Self::Lists => "lists.csv",
            Self::Bookmarks => "bookmarks.csv",
            Self::Filters => "filters.json",
        }
    }
}

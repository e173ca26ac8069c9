//! What a person can take from one server to another in files.

use super::text_enum;

text_enum! {
    /// What an exported or imported file holds; the words are those of Mastodon's imports.
    TransferKind {
        /// Accounts that they follow.
        Follows = "following",
        /// Accounts that they block.
        Blocks = "blocking",
        /// Accounts that they mute.
        Mutes = "muting",
        /// Domains that they block.
        DomainBlocks = "domain_blocking",
        /// Who is on their lists.
        Lists = "lists",
        /// Statuses that they bookmarked.
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

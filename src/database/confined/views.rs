//! The views of `core_v1`, and the tables that they read.

/// The views of `core_v1`. `statuses_private` is `statuses` for plugins that were granted `statuses:private`.
pub const VIEWS: &[&str] = &[
    "account_domain_blocks",
    "accounts",
    "blocks",
    "bookmarks",
    "custom_emojis",
    "favourites",
    "follows",
    "list_accounts",
    "lists",
    "mentions",
    "mutes",
    "status_applications",
    "status_tags",
    "statuses",
    "statuses_private",
    "tags",
    "tokens",
];

/// The tables that a view reads.
pub(super) fn bases(view: &str) -> &[&str] {
    match view {
        "accounts" => &["accounts", "users"],
        "status_applications" => &["statuses", "oauth_apps"],
        "status_tags" => &["status_tags", "tags"],
        "statuses_private" => &["statuses"],
        "tokens" => &["oauth_tokens"],
        other => VIEWS.iter().find(|known| **known == other).map_or(&[], std::slice::from_ref),
    }
}

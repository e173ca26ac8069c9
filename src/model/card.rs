//! Preview cards of links in statuses.

use super::{AccountId, RowId, Time, text_enum};

text_enum! {
    /// The content of a card, which determines how clients show it.
    CardKind {
        Link = "link",
        Photo = "photo",
        Video = "video",
    }
}

text_enum! {
    /// The fetch state of a card's page.
    CardState {
        /// Not fetched yet.
        Waiting = "waiting",
        /// Fetched; the card is shown.
        Found = "found",
        /// No card to show: the page cannot be fetched, or has no metadata.
        Nothing = "nothing",
    }
}

/// A row of the preview cards table.
#[derive(Clone, Debug, PartialEq, crate::Row)]
#[row(table = "preview_cards", alias = "c")]
pub struct PreviewCard {
    pub id: RowId,
    /// The URL to fetch.
    pub url: String,
    pub state: CardState,
    pub kind: CardKind,
    /// The displayed URL, and the target of the card.
    pub page_url: String,
    pub title: String,
    pub description: String,
    pub language: Option<String>,
    pub author_name: String,
    pub author_url: String,
    /// The account that the page names as its author; shown if that account allows it.
    pub creator_account_id: Option<AccountId>,
    pub provider_name: String,
    pub provider_url: String,
    /// Sanitised.
    pub html: String,
    pub width: i64,
    pub height: i64,
    /// Storage key.
    pub image: Option<String>,
    /// The size of the image file.
    pub image_bytes: i64,
    pub image_description: String,
    pub embed_url: String,
    pub blurhash: Option<String>,
    pub published_at: Option<Time>,
    /// The number of consecutive failed fetches.
    pub failures: i64,
    /// When the page is due to be fetched (again), if the link is used; during a fetch, when that fetch counts as
    /// lost.
    pub due_at: Time,
    /// When a status last used it.
    pub used_at: Time,
    pub created_at: Time,
}

impl PreviewCard {
    /// True when the two cards look the same to clients.
    #[must_use]
    pub fn looks_like(&self, other: &Self) -> bool {
        let Self { failures, due_at, used_at, image_bytes, .. } = *self;
        *self == Self { failures, due_at, used_at, image_bytes, ..other.clone() }
    }
}

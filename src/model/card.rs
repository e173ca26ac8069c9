//! Preview cards: what links in statuses lead to.

use super::{AccountId, RowId, Time, text_enum};

text_enum! {
    /// What a card shows, which decides how clients do.
    CardKind {
        Link = "link",
        Photo = "photo",
        Video = "video",
    }
}

text_enum! {
    /// Whether the page of a card was fetched.
    CardState {
        /// Not yet.
        Waiting = "waiting",
        /// It was, and the card is shown.
        Found = "found",
        /// There is nothing to show: the page cannot be fetched, or says nothing about itself.
        Nothing = "nothing",
    }
}

/// A row of the preview cards table.
#[derive(Clone, Debug, PartialEq, crate::Row)]
#[row(table = "preview_cards", alias = "c")]
pub struct PreviewCard {
    pub id: RowId,
    /// What is fetched.
    pub url: String,
    pub state: CardState,
    pub kind: CardKind,
    /// What is shown, and where the card leads.
    pub page_url: String,
    pub title: String,
    pub description: String,
    pub language: Option<String>,
    pub author_name: String,
    pub author_url: String,
    /// The account that the page names as its author; it is shown if that account says so too.
    pub creator_account_id: Option<AccountId>,
    pub provider_name: String,
    pub provider_url: String,
    /// Sanitised.
    pub html: String,
    pub width: i64,
    pub height: i64,
    /// Storage key.
    pub image: Option<String>,
    /// The size of that file.
    pub image_bytes: i64,
    pub image_description: String,
    pub embed_url: String,
    pub blurhash: Option<String>,
    pub published_at: Option<Time>,
    /// How many fetches in a row failed.
    pub failures: i64,
    /// From when on the page is fetched (again) if the link is used; while it is being fetched, when that counts as lost.
    pub due_at: Time,
    /// When a status used it last.
    pub used_at: Time,
    pub created_at: Time,
}

impl PreviewCard {
    /// True when clients see no difference between the two.
    #[must_use]
    pub fn looks_like(&self, other: &Self) -> bool {
        let Self { failures, due_at, used_at, image_bytes, .. } = *self;
        *self == Self { failures, due_at, used_at, image_bytes, ..other.clone() }
    }
}

//! <https://docs.joinmastodon.org/entities/PreviewCard/>

use serde::Serialize;

use super::Fragment;
use super::history::{Day, Histories};
use crate::Cx;
use crate::error::Result;
use model::card::CardKind;
use model::urls::Urls;
use model::{RowId, Time};

/// What a link leads to.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct PreviewCard {
    pub url: String,
    pub title: String,
    pub description: String,
    pub language: Option<String>,
    #[serde(rename = "type")]
    pub kind: CardKind,
    pub author_name: String,
    pub author_url: String,
    pub provider_name: String,
    pub provider_url: String,
    pub html: String,
    pub width: i64,
    pub height: i64,
    pub image: Option<String>,
    pub image_description: String,
    pub embed_url: String,
    pub blurhash: Option<String>,
    pub published_at: Option<String>,
    /// Always one, whose name may be empty.
    pub authors: [CardAuthor; 1],
}

/// A link that trends: <https://docs.joinmastodon.org/entities/PreviewCard/#trends-link>
#[derive(Debug, Serialize)]
struct TrendsLink {
    #[serde(flatten)]
    card: PreviewCard,
    history: Vec<Day>,
}

/// Renders links that trend, in the order given: one statement for the history of all.
///
/// # Errors
/// When one cannot be serialised, which is a bug.
pub async fn render_trends(cx: &Cx, cards: Vec<model::PreviewCard>) -> Result<Vec<Fragment>> {
    let ids: Vec<RowId> = cards.iter().map(|card| card.id).collect();
    let rows = match ids.as_slice() {
        [] => Vec::new(),
        ids => store::card::history(&cx.db, ids, Histories::since(cx)).await?,
    };
    let histories = Histories::new(cx, rows.into_iter().map(|(card, day, uses, by)| (i64::from(card), day, uses, by)));
    let link = |card: model::PreviewCard| {
        let history = histories.of(card.id.into());
        Fragment::of(&TrendsLink { card: PreviewCard::new(card, &cx.urls), history })
    };
    cards.into_iter().map(link).collect()
}

/// <https://docs.joinmastodon.org/entities/PreviewCardAuthor/>
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct CardAuthor {
    pub name: String,
    pub url: String,
    /// Always `null`: no account can say yet of which sites it may be called the author.
    pub account: Option<()>,
}

impl PreviewCard {
    /// The card as clients see it.
    #[must_use]
    pub fn new(card: model::PreviewCard, urls: &Urls) -> Self {
        let author = CardAuthor { name: card.author_name.clone(), url: card.author_url.clone(), account: None };
        Self {
            url: card.page_url,
            title: card.title,
            description: card.description,
            language: card.language,
            kind: card.kind,
            author_name: card.author_name,
            author_url: card.author_url,
            provider_name: card.provider_name,
            provider_url: card.provider_url,
            html: card.html,
            width: card.width,
            height: card.height,
            image: card.image.as_deref().map(|key| urls.media(key)),
            image_description: card.image_description,
            embed_url: card.embed_url,
            blurhash: card.blurhash,
            published_at: card.published_at.map(Time::to_api),
            authors: [author],
        }
    }
}

//! <https://docs.joinmastodon.org/entities/PreviewCard/>

use std::collections::HashMap;

use serde::Serialize;
use url::Url;

use super::account;
use super::history::Histories;
use context::Cx;
use context::caches::Creator;
use context::error::Result;
use context::json::Fragment;
use model::account::is_author_at;
use model::card::CardKind;
use model::urls::Urls;
use model::{AccountId, RowId, Time};

/// The preview of a link.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Always one, with a possibly empty name.
    pub authors: [CardAuthor; 1],
}

/// How the JSON of a card ends that has no account as its author.
const NOBODY: &str = "null}]}";

/// The account that the page of `card` names as its author.
pub(super) fn creator_of(card: &model::PreviewCard) -> Option<Creator> {
    let account = card.creator_account_id?;
    let host = Url::parse(&card.page_url).ok()?.host_str()?.to_owned();
    Some(Creator { account, host })
}

/// The sites that accounts confirm as theirs.
#[derive(Clone, Debug, Default)]
pub(super) struct Creators {
    sites: HashMap<AccountId, Vec<String>>,
    /// The versions of the accounts, for their rendering.
    pub(super) versions: Vec<(AccountId, i64)>,
}

impl Creators {
    /// Loads the accounts of `named`. One statement, or none when there are no accounts.
    pub(super) async fn load(cx: &Cx, named: impl Iterator<Item = &Creator>) -> Result<Self> {
        let mut ids: Vec<AccountId> = named.map(|creator| creator.account).collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        ids.sort_unstable();
        ids.dedup();
        let rows = store::account::list_creators(&cx.db, &ids).await?;
        let versions = rows.iter().map(|row| (row.id, row.version)).collect();
        Ok(Self { versions, sites: rows.into_iter().map(|row| (row.id, row.attribution_domains.0)).collect() })
    }

    /// The account of `creator`, one of `accounts`, if it confirms the site of the page.
    pub(super) fn confirmed<'a>(&self, creator: &Creator, accounts: &'a account::Rendered) -> Option<&'a str> {
        let agrees = self.sites.get(&creator.account).is_some_and(|sites| is_author_at(sites, &creator.host));
        accounts.get(&creator.account).filter(|_| agrees).map(AsRef::as_ref)
    }
}

/// Appends `json`, which ends with a card, to `out`, with `account` as the author of the page.
pub(super) fn write_attributed(out: &mut String, json: &str, account: &str) {
    out.push_str(json.strip_suffix(NOBODY).unwrap_or(json));
    if json.ends_with(NOBODY) {
        out.push_str(account);
        out.push_str(&NOBODY["null".len()..]);
    }
}

/// Appends `json`, which ends with a card, to `out`: the page names the viewer, who does not confirm its site.
pub(super) fn write_unconfirmed(out: &mut String, json: &str) {
    out.push_str(json);
    if json.ends_with(NOBODY) {
        out.pop();
        out.push_str(",\"missing_attribution\":true}");
    }
}

/// Renders trending links, with their history (<https://docs.joinmastodon.org/entities/PreviewCard/#trends-link>), in
/// the order given. One statement for the history of all, and another for their authors if there are any.
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
    let named: Vec<Option<Creator>> = cards.iter().map(creator_of).collect();
    let creators = Creators::load(cx, named.iter().flatten()).await?;
    let accounts = account::render_versions(cx, &creators.versions).await?;
    let link = |(card, creator): (model::PreviewCard, Option<Creator>)| {
        let history = Fragment::of(&histories.of(card.id.into()))?;
        let mut card = Fragment::of(&PreviewCard::new(card, &cx.urls))?;
        if let Some(account) = creator.and_then(|creator| creators.confirmed(&creator, &accounts)) {
            let mut text = String::new();
            write_attributed(&mut text, card.as_str(), account);
            card = Fragment::from_string(text);
        }
        let mut link = card.open();
        link.member("history", history.as_str());
        Ok(link.close())
    };
    cards.into_iter().zip(named).map(link).collect()
}

/// <https://docs.joinmastodon.org/entities/PreviewCardAuthor/>
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CardAuthor {
    pub name: String,
    pub url: String,
    /// Always `null` here, and the last member of the last member: [`write_attributed`] inserts the account there.
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

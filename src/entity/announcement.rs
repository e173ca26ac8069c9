//! <https://docs.joinmastodon.org/entities/Announcement/>

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::emoji::{CustomEmoji, Palette};
use super::status::{self, Beside};
use super::status_core::{StatusMention, StatusTag, tag};
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::{Array, Fragment};
use model::{AccountId, Actor, RowId, StatusId, Time};
use service::announcement::VisibleAnnouncements;
use store::announcement::{ListedAnnouncement, ReactionCount};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Announcement<'a> {
    pub id: RowId,
    pub content: &'a str,
    pub starts_at: Option<String>,
    pub ends_at: Option<String>,
    pub all_day: bool,
    pub published_at: Option<String>,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<bool>,
    mentions: Vec<StatusMention>,
    statuses: Vec<Box<RawValue>>,
    tags: Vec<StatusTag>,
    pub emojis: Vec<CustomEmoji>,
    pub reactions: Vec<Reaction<'a>>,
}

/// <https://docs.joinmastodon.org/entities/Reaction/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reaction<'a> {
    pub name: &'a str,
    pub count: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub me: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_url: Option<String>,
}

/// The data for the announcements of a page.
struct Parts<'a> {
    /// Whether to include the read state and the reactions of a reader.
    personal: bool,
    statuses: ById<StatusId, Fragment>,
    mentioned: HashMap<AccountId, model::Account>,
    palette: Palette,
    reactions: &'a [ReactionCount],
}

/// The event of a reaction in streams (docs/contract/streaming.md#7-events).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ReactionEvent<'a> {
    #[serde(flatten)]
    reaction: Reaction<'a>,
    announcement_id: RowId,
}

/// Renders announcements for `actor`, in the order given.
pub async fn render(cx: &Cx, actor: &Actor, page: &VisibleAnnouncements) -> Result<Array> {
    Ok(fragments(cx, Some(actor), page).await?.into())
}

/// Renders an announcement without a viewer, for streams.
pub async fn render_publicly(cx: &Cx, page: &VisibleAnnouncements) -> Result<Option<Fragment>> {
    Ok(fragments(cx, None, page).await?.pop())
}

async fn fragments(cx: &Cx, actor: Option<&Actor>, page: &VisibleAnnouncements) -> Result<Vec<Fragment>> {
    let Beside { statuses, .. } = status::render_beside(cx, actor, &page.statuses, &[]).await?;
    let parts = Parts {
        personal: actor.is_some(),
        statuses: statuses.into(),
        mentioned: mentioned(cx, &page.listed).await?,
        palette: Palette::load(cx, &[]).await?,
        reactions: &page.reactions,
    };
    let items = page.listed.iter().map(|listed| Fragment::of(&parts.announcement(cx, listed)?));
    items.collect()
}

/// Renders the event of a reaction for streams; `None` for a custom emoji that cannot be used at present.
pub fn render_reaction(cx: &Cx, count: &ReactionCount) -> Result<Option<Fragment>> {
    let event = |reaction| Fragment::of(&ReactionEvent { reaction, announcement_id: count.announcement_id });
    Reaction::new(cx, count, false).map(event).transpose()
}

/// The accounts that announcements mention, without suspended accounts.
async fn mentioned(cx: &Cx, page: &[ListedAnnouncement]) -> Result<HashMap<AccountId, model::Account>> {
    let mut ids: Vec<AccountId> = page.iter().flat_map(|listed| listed.announcement.mentions.0.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store::account::list_with_roles(&cx.db, &ids).await?.into_iter().map(|row| row.account);
    Ok(rows.filter(|account| !account.is_suspended()).map(|account| (account.id, account)).collect())
}

impl<'a> Parts<'a> {
    fn announcement<'s>(&'s self, cx: &Cx, listed: &'s ListedAnnouncement) -> Result<Announcement<'s>>
    where
        'a: 's,
    {
        let shown = &listed.announcement;
        let statuses = shown.statuses.iter().filter_map(|id| self.statuses.get(id));
        let statuses = statuses.map(|status| RawValue::from_string(status.as_str().to_owned()));
        let reactions = self.reactions.iter().filter(|reaction| reaction.announcement_id == shown.id);
        Ok(Announcement {
            id: shown.id,
            content: &shown.content,
            starts_at: shown.starts_at.map(Time::to_api),
            ends_at: shown.ends_at.map(Time::to_api),
            all_day: shown.all_day,
            published_at: shown.published_at.map(Time::to_api),
            updated_at: shown.updated_at.to_api(),
            read: self.personal.then_some(listed.read),
            mentions: shown.mentions.iter().filter_map(|id| self.mentioned.get(id)).map(StatusMention::from).collect(),
            statuses: statuses.collect::<serde_json::Result<_>>().map_err(Error::internal)?,
            tags: shown.tags.iter().map(|name| tag(cx, name)).collect(),
            emojis: self.palette.of(&cx.urls, None, &[&shown.content]),
            reactions: reactions.filter_map(|reaction| Reaction::new(cx, reaction, self.personal)).collect(),
        })
    }
}

impl<'a> Reaction<'a> {
    /// `None` for a custom emoji that cannot be used at present.
    fn new(cx: &Cx, reaction: &'a ReactionCount, personal: bool) -> Option<Self> {
        let me = personal.then_some(reaction.me);
        let plain = Self { name: &reaction.name, count: reaction.count, me, url: None, static_url: None };
        if emojis::get(&reaction.name).is_some() {
            return Some(plain);
        }
        let emojis = cx.emojis();
        let image = CustomEmoji::short(emojis.by_shortcode.get(&reaction.name)?, &cx.urls);
        Some(Self { url: Some(image.url), static_url: Some(image.static_url), ..plain })
    }
}

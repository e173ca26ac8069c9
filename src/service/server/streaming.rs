//! The database queries of the crate `streaming`: the contents and recipients of events.
//!
//! Reached from the crate `streaming`, which knows the connections. [`visibility`] decides who may see a status, and
//! `entity` renders it. Nothing here sends anything.
//!
//! Spec: docs/contract/streaming.md#4-channels and docs/contract/streaming.md#7-events.

use crate::announcement::{self, VisibleAnnouncements};
use crate::visibility;
use context::Cx;
use context::error::Result;
use model::account::Searchability;
use model::{AccountId, RowId, Status, StatusId, Visibility};
use store::announcement::{ListedAnnouncement, ReactionCount};
use store::feed::Feed;

/// Properties of a public status that decide which public streams carry it.
#[derive(Clone, Debug)]
pub struct PublicStatus {
    /// Whether public timelines show it.
    pub listed: bool,
    /// Whether timelines of its hashtags show it.
    pub tagged: bool,
    /// Whether it belongs to this server.
    pub local: bool,
    pub has_media: bool,
    /// Its language, if known.
    pub language: Option<String>,
    /// Its hashtags, in their normal form.
    pub tags: Vec<String>,
    /// The accounts that it mentions.
    pub mentioned: Vec<AccountId>,
}

/// The properties for public streams; `None` when no stream carries the status.
#[model::use_case]
pub async fn public_status(cx: &Cx, id: StatusId) -> Result<Option<PublicStatus>> {
    let Some(status) = store::status::list(&cx.db, &[id]).await?.pop() else { return Ok(None) };
    let tagged = status.reblog_of_id.is_none() && is_tagged_publicly(&status);
    if !status.listed && !tagged {
        return Ok(None);
    }
    let tags = store::status::tags(&cx.db, &[id]).await?;
    let mentions = store::plugin_record::mentions(&cx.db, &[id]).await?;
    Ok(Some(PublicStatus {
        listed: status.listed,
        tagged,
        local: status.local,
        has_media: status.has_media,
        language: status.language,
        tags: tags.into_iter().map(|(_, name)| name).collect(),
        mentioned: mentions.into_iter().map(|(_, account)| account).collect(),
    }))
}

/// Streams of hashtags also carry unlisted statuses that anyone may find.
fn is_tagged_publicly(status: &Status) -> bool {
    let found = status.visibility == Visibility::Unlisted && status.searchability == Searchability::Public;
    status.visibility.is_listed() || found
}

/// The accounts that the status mentions, including silent mentions.
#[model::use_case]
pub async fn mentioned(cx: &Cx, id: StatusId) -> Result<Vec<AccountId>> {
    let mentions = store::plugin_record::mentions(&cx.db, &[id]).await?;
    Ok(mentions.into_iter().map(|(_, account)| account).collect())
}

/// The `feeds` that the status `id` entered, even if it was deleted since.
#[model::use_case]
pub async fn feeds_with(cx: &Cx, id: StatusId, feeds: &[Feed]) -> Result<Vec<Feed>> {
    if feeds.is_empty() {
        return Ok(Vec::new());
    }
    Ok(store::feed::list_with(&cx.db, id, feeds).await?)
}

/// The announcement `id` without a viewer; `None` when it is not shown.
#[model::use_case]
pub async fn announcement(cx: &Cx, id: RowId) -> Result<Option<VisibleAnnouncements>> {
    let Some(announcement) = announcement::find_shown(cx, id).await? else { return Ok(None) };
    let statuses = visibility::statuses(cx, None, visibility::Place::Single, &announcement.statuses.0).await?;
    let reactions = store::announcement::reactions(&cx.db, nobody(), &[id]).await?;
    Ok(Some(VisibleAnnouncements {
        listed: vec![ListedAnnouncement { announcement, read: false }],
        reactions,
        statuses,
    }))
}

/// The number of reactions `name` to the announcement `id`: 0 after the last one was removed.
#[model::use_case]
pub async fn reaction(cx: &Cx, id: RowId, name: &str) -> Result<ReactionCount> {
    let counts = store::announcement::reactions(&cx.db, nobody(), &[id]).await?;
    let none = || ReactionCount { announcement_id: id, name: name.to_owned(), count: 0, me: false };
    Ok(counts.into_iter().find(|count| count.name == name).unwrap_or_else(none))
}

/// No account has this id.
fn nobody() -> AccountId {
    AccountId::from(0)
}

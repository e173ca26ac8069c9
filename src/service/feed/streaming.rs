//! What streams tell of, and to whom: the questions of `streaming` that need the database.
//!
//! Reached from the crate `streaming`, which knows who is connected. Who may see a status is decided by
//! [`visibility`], and how it looks by `entity`. Nothing here sends anything.
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

/// Which public streams carry a status, and what their filters go by.
#[derive(Clone, Debug)]
pub struct PublicStatus {
    /// Public timelines show it.
    pub listed: bool,
    /// Timelines of its hashtags show it.
    pub tagged: bool,
    /// It is of this server.
    pub local: bool,
    pub has_media: bool,
    /// Its language, if that is known.
    pub language: Option<String>,
    /// Its hashtags, in their normal form.
    pub tags: Vec<String>,
    /// Whom it mentions.
    pub mentioned: Vec<AccountId>,
}

/// What public streams go by; `None` when none carries the status.
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

/// Streams of hashtags also carry what is unlisted, where everyone may find it.
fn is_tagged_publicly(status: &Status) -> bool {
    let found = status.visibility == Visibility::Unlisted && status.searchability == Searchability::Public;
    status.visibility.is_listed() || found
}

/// Whom the status mentions, silently too.
#[model::use_case]
pub async fn mentioned(cx: &Cx, id: StatusId) -> Result<Vec<AccountId>> {
    let mentions = store::plugin_record::mentions(&cx.db, &[id]).await?;
    Ok(mentions.into_iter().map(|(_, account)| account).collect())
}

/// Those of `feeds` that the status `id` entered, though it may be deleted since.
#[model::use_case]
pub async fn feeds_with(cx: &Cx, id: StatusId, feeds: &[Feed]) -> Result<Vec<Feed>> {
    if feeds.is_empty() {
        return Ok(Vec::new());
    }
    Ok(store::feed::list_with(&cx.db, id, feeds).await?)
}

/// The announcement `id` as nobody in particular reads it; `None` when it is not shown.
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

/// How often the announcement `id` was reacted to by `name`: 0 after the last reaction was taken back.
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

//! What reports and strikes name stays for the staff when its author deletes it: the text, and the files of its media.
//!
//! It is deleted with the account, as the reports about it are.

use context::Cx;
use context::error::{Error, Result};
use context::json::media::MediaAttachment;
use context::queue::{self, PurgeMedia};
use database::Tx;
use model::{AccountId, Json, MediaId, Status, StatusId, Time};
use store::held_status::HeldFile;

pub use store::held_status::HeldStatus;

/// Keeps the status `id` of `author`, which is about to be deleted, if a report or a strike names it.
pub(crate) async fn hold(cx: &Cx, tx: &mut Tx, author: AccountId, id: StatusId) -> Result<()> {
    let named = store::held_status::named(&mut *tx, author).await?;
    if !named.iter().any(|ids| ids.0.contains(&id)) {
        return Ok(());
    }
    let status = store::status::find(&mut *tx, id).await?;
    let Some(status) = status.filter(|status| status.account_id == author && status.reblog_of_id.is_none()) else {
        return Ok(());
    };
    let media = store::media::list_for_statuses(&mut *tx, &[id]).await?;
    let shown: Vec<MediaAttachment> = media.iter().map(|media| MediaAttachment::new(media, &cx.urls)).collect();
    let files: Vec<HeldFile> = media
        .into_iter()
        .flat_map(|media| [media.file, media.preview].into_iter().flatten().map(move |file| (media.id, file)))
        .map(|(media_id, file)| HeldFile { file, status_id: id, media_id })
        .collect();
    let Status { account_id, uri, url, text, content, spoiler_text, sensitive, visibility, language, .. } = status;
    let held = HeldStatus {
        id,
        account_id,
        uri,
        url,
        text,
        content,
        spoiler_text,
        sensitive,
        visibility,
        language,
        media: Json(serde_json::to_value(shown).map_err(Error::internal)?),
        created_at: status.created_at,
        edited_at: status.edited_at,
        deleted_at: cx.clock.now(),
    };
    Ok(store::held_status::insert(tx, &held, &files).await?)
}

/// The held ones among `ids`, by id.
#[model::use_case]
pub async fn list(cx: &Cx, ids: &[StatusId]) -> Result<Vec<HeldStatus>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    Ok(store::held_status::list(&cx.db, ids).await?)
}

/// A status that a report names, as text.
#[derive(Clone, Debug)]
pub struct NamedStatus {
    pub id: StatusId,
    pub created_at: Time,
    /// `None` while it exists.
    pub deleted_at: Option<Time>,
    pub spoiler_text: String,
    /// Without markup.
    pub text: String,
}

/// The statuses `ids` with their texts, whatever their visibility, by id; without those of which nothing is left.
#[model::use_case]
pub async fn texts(cx: &Cx, ids: &[StatusId]) -> Result<Vec<NamedStatus>> {
    let words = |text: String, content: &str| if text.is_empty() { text::plain(content) } else { text };
    let existing = store::status::list(&cx.db, ids).await?.into_iter().map(|status| NamedStatus {
        id: status.id,
        created_at: status.created_at,
        deleted_at: None,
        spoiler_text: status.spoiler_text,
        text: words(status.text, &status.content),
    });
    let mut all: Vec<NamedStatus> = existing.collect();
    all.extend(list(cx, ids).await?.into_iter().map(|held| NamedStatus {
        id: held.id,
        created_at: held.created_at,
        deleted_at: Some(held.deleted_at),
        spoiler_text: held.spoiler_text,
        text: words(held.text, &held.content),
    }));
    all.sort_unstable_by_key(|status| status.id);
    all.dedup_by_key(|status| status.id);
    Ok(all)
}

/// Deletes the held statuses and files of a removed account; false when there is nothing.
pub(crate) async fn release(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<bool> {
    let files = store::held_status::files_of(&mut *tx, account).await?;
    if store::held_status::delete_of(tx, account).await? == 0 {
        return Ok(false);
    }
    let mut of_media: std::collections::BTreeMap<MediaId, Vec<String>> = std::collections::BTreeMap::new();
    for HeldFile { file, media_id, .. } in files {
        of_media.entry(media_id).or_default().push(file);
    }
    for (media, files) in of_media {
        queue::enqueue(cx, tx, &PurgeMedia { media, files }).await?;
    }
    Ok(true)
}

//! Media attachments: upload, description and focus, attaching to and detaching from statuses.
//!
//! Reached from `/api/v1/media`, `/api/v2/media` and from publishing and editing a status. Decoding is the work of
//! [`media::Sandbox`], keeping files that of [`Storage`]. No file can be orphaned: before it is written, a
//! [`PurgeMedia`] job is queued that deletes it unless a status uses it by then.
//!
//! Spec: contract rules, sections 10 and 17.

use bytes::Bytes;
use chrono::Duration;

use crate::Cx;
use crate::error::{Error, Result};
use crate::queue::{self, PurgeMedia};
use media::storage::{self, Key, Storage};
use media::{File, Processed, Purpose, focus};
use model::media::{MediaKind, MediaState};
use model::{AccountId, Actor, Json, MediaAttachment, MediaId, ScheduledStatusId, StatusId};
use store::Tx;

/// How long an unattached upload, or media of a deleted status, is kept.
pub const UNATTACHED_TTL: Duration = Duration::days(1);

/// An upload as sent.
#[derive(Debug, Default)]
pub struct Upload {
    /// The file itself.
    pub file: Option<Bytes>,
    /// A thumbnail was sent.
    pub has_thumbnail: bool,
    /// Alternative text (description).
    pub description: Option<String>,
    /// `"x,y"`, see [`focus`].
    pub focus: Option<String>,
}

/// Processes and stores an uploaded file, not yet attached to any status.
///
/// # Errors
/// [`Error::Invalid`] for a missing, unsupported, oversized or corrupt file, a thumbnail for an image, a description
/// that is too long, a malformed focus.
pub async fn upload(cx: &Cx, actor: &Actor, upload: Upload) -> Result<MediaAttachment> {
    let description = description(cx, upload.description)?;
    let focus = parse_focus(upload.focus.as_deref())?;
    let file = upload.file.ok_or_else(|| Error::invalid("file is missing"))?;
    refuse_thumbnail(upload.has_thumbnail)?;
    let processed = process(cx, Some(actor.id), "file", &file, Purpose::Attachment).await?;
    let meta = serde_json::to_value(media::meta(&processed, focus)).map_err(Error::internal)?;

    let now = cx.clock.now();
    let original = new_key(storage::FileKind::Media, &processed.original);
    let preview = processed.preview.as_ref().map(|file| new_key(storage::FileKind::Media, file));
    let row = MediaAttachment {
        id: cx.ids.next(),
        account_id: actor.id,
        status_id: None,
        scheduled_status_id: None,
        position: 0,
        kind: if processed.is_gifv() { MediaKind::Gifv } else { MediaKind::Image },
        state: MediaState::Ready,
        mime: processed.original.mime().to_owned(),
        file: Some(original.as_str().to_owned()),
        size_bytes: i64::try_from(processed.original.bytes.len()).unwrap_or(i64::MAX),
        preview: preview.as_ref().map(|key| key.as_str().to_owned()),
        remote_url: None,
        preview_remote_url: None,
        meta: Json(meta),
        description,
        blurhash: Some(processed.blurhash.clone()),
        created_at: now,
        updated_at: now,
    };
    let mut tx = cx.db.begin().await?;
    purge_later(cx, &mut tx, &row).await?;
    tx.commit().await?;
    put_all(cx, [(Some(original), Some(processed.original)), (preview, processed.preview)]).await?;

    let mut tx = cx.db.begin().await?;
    store::media::insert(&mut tx, &row).await?;
    tx.commit().await?;
    Ok(row)
}

/// New description and focus of an attachment; `None` leaves a value unchanged.
#[derive(Debug, Default)]
pub struct Change {
    /// A thumbnail was sent.
    pub has_thumbnail: bool,
    /// "" removes it.
    pub description: Option<String>,
    /// `"x,y"`; "" removes it.
    pub focus: Option<String>,
}

/// The attachment, if `actor` uploaded it and it is neither attached to a status nor kept for a scheduled one.
///
/// # Errors
/// [`Error::NotFound`] otherwise, [`Error::Invalid`] when it could not be processed.
pub async fn show(cx: &Cx, actor: &Actor, id: MediaId) -> Result<MediaAttachment> {
    let media = store::media::find(&cx.db, id).await?;
    let media = media.filter(|media| media.account_id == actor.id && !media.is_used());
    let media = media.ok_or(Error::NotFound)?;
    match media.state {
        MediaState::Failed => Err(Error::invalid("file could not be processed")),
        MediaState::Processing | MediaState::Ready => Ok(media),
    }
}

/// Changes description and focus of an unattached attachment.
///
/// # Errors
/// As [`show`], and [`Error::Invalid`] for what [`upload`] refuses.
pub async fn update(cx: &Cx, actor: &Actor, id: MediaId, change: Change) -> Result<MediaAttachment> {
    let mut media = show(cx, actor, id).await?;
    refuse_thumbnail(change.has_thumbnail)?;
    apply(cx, &mut media, change)?;
    media.updated_at = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    save(&mut tx, &media).await?;
    tx.commit().await?;
    Ok(media)
}

/// Applies `change` to `media` in memory only; [`save`] writes it. For editing a status.
///
/// # Errors
/// [`Error::Invalid`] for a description that is too long and a malformed focus.
pub fn apply(cx: &Cx, media: &mut MediaAttachment, change: Change) -> Result<()> {
    if change.description.is_some() {
        media.description = description(cx, change.description)?;
    }
    if let Some(text) = change.focus {
        let focus = parse_focus(Some(&text))?;
        if let Some(meta) = media.meta.0.as_object_mut() {
            match focus {
                None => meta.remove("focus"),
                Some((x, y)) => meta.insert("focus".to_owned(), serde_json::json!({ "x": x, "y": y })),
            };
        }
    }
    Ok(())
}

/// Writes description and focus of `media`.
pub async fn save(tx: &mut Tx, media: &MediaAttachment) -> Result<()> {
    let description = media.description.clone();
    Ok(store::media::describe(tx, media.id, description, media.meta.clone(), media.updated_at).await?)
}

/// The media of `ids` in that order, each once, if `actor` may attach them together: their own, processed, and on no
/// other status than `current` (the one being edited); no more than the settings allow; a video or audio file only
/// alone.
///
/// # Errors
/// [`Error::Invalid`] with the reason.
pub async fn attachable(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    current: Option<StatusId>,
    ids: &[MediaId],
) -> Result<Vec<MediaAttachment>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut wanted: Vec<MediaId> = Vec::with_capacity(ids.len());
    for id in ids {
        if !wanted.contains(id) {
            wanted.push(*id);
        }
    }
    let limit = cx.settings().max_media_attachments;
    if i64::try_from(wanted.len()).unwrap_or(i64::MAX) > limit {
        return Err(Error::invalid(format!("media_ids: a status has at most {limit} media")));
    }
    let mut rows = store::media::list(&mut *tx, &wanted).await?;
    rows.retain(|row| {
        row.account_id == actor.id && (!row.is_used() || (current.is_some() && row.status_id == current))
    });
    rows.sort_by_key(|row| wanted.iter().position(|id| *id == row.id));
    if let Some(missing) = wanted.iter().find(|id| rows.iter().all(|row| row.id != **id)) {
        return Err(Error::invalid(format!("media_ids: {missing} is none of your unattached media")));
    }
    match_together(&rows)?;
    Ok(rows)
}

fn match_together(rows: &[MediaAttachment]) -> Result<()> {
    if let Some(row) = rows.iter().find(|row| row.state != MediaState::Ready) {
        return Err(Error::invalid(format!("media_ids: {} is still being processed, or could not be", row.id)));
    }
    if rows.len() > 1 && rows.iter().any(|row| matches!(row.kind, MediaKind::Video | MediaKind::Audio)) {
        return Err(Error::invalid("media_ids: a video or sound stands alone"));
    }
    Ok(())
}

/// Attaches `ids`, which [`attachable`] returned in this transaction, to `status`, in that order.
///
/// # Errors
/// [`Error::Invalid`] when a concurrent request attached one of them first.
pub async fn attach(cx: &Cx, tx: &mut Tx, status: StatusId, ids: &[MediaId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let attached = store::media::attach(tx, status, ids, cx.clock.now()).await?;
    if usize::try_from(attached).is_ok_and(|attached| attached == ids.len()) {
        return Ok(());
    }
    Err(Error::invalid("media_ids: one of them is on another status by now"))
}

/// Keeps `ids`, which [`attachable`] returned in this transaction, for a scheduled status, in that order.
///
/// # Errors
/// [`Error::Invalid`] when a concurrent request used one of them first.
pub async fn reserve(cx: &Cx, tx: &mut Tx, scheduled: ScheduledStatusId, ids: &[MediaId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let reserved = store::media::reserve(tx, scheduled, ids, cx.clock.now()).await?;
    if usize::try_from(reserved).is_ok_and(|reserved| reserved == ids.len()) {
        return Ok(());
    }
    Err(Error::invalid("media_ids: one of them is on another status by now"))
}

/// Frees the media of `owner` that are kept for a scheduled status, which is about to be deleted: as [`detach`].
pub async fn release(cx: &Cx, tx: &mut Tx, owner: AccountId, scheduled: ScheduledStatusId) -> Result<()> {
    let mut rows = store::media::list_for_scheduled(&mut *tx, &[scheduled]).await?;
    rows.retain(|row| row.account_id == owner);
    loosen(cx, tx, &rows).await
}

/// Detaches from `status` the media not in `kept`; they can be attached again within [`UNATTACHED_TTL`] and are then
/// deleted. Call it before a status is deleted (`kept` empty), and when an edit drops some.
pub async fn detach(cx: &Cx, tx: &mut Tx, status: StatusId, kept: &[MediaId]) -> Result<()> {
    let mut rows = store::media::list_for_statuses(&mut *tx, &[status]).await?;
    rows.retain(|row| !kept.contains(&row.id));
    loosen(cx, tx, &rows).await
}

/// Makes `rows` belong to no status, for [`UNATTACHED_TTL`].
async fn loosen(cx: &Cx, tx: &mut Tx, rows: &[MediaAttachment]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<MediaId> = rows.iter().map(|row| row.id).collect();
    store::media::detach(tx, &ids, cx.clock.now()).await?;
    for row in rows {
        purge_later(cx, tx, row).await?;
    }
    Ok(())
}

async fn purge_later(cx: &Cx, tx: &mut Tx, row: &MediaAttachment) -> Result<()> {
    let files = [&row.file, &row.preview].into_iter().flatten().cloned().collect();
    queue::enqueue_at(cx, tx, &PurgeMedia { media: row.id, files }, cx.clock.now() + UNATTACHED_TTL).await
}

/// Decodes `bytes`, sent by `owner` (`None`: an admin) as the parameter `name`, in the sandbox.
///
/// # Errors
/// [`Error::Invalid`] when the file is invalid, [`Error::Internal`] when processing itself fails.
pub async fn process(
    cx: &Cx,
    owner: Option<AccountId>,
    name: &str,
    bytes: &[u8],
    purpose: Purpose,
) -> Result<Processed> {
    let processed = cx.sandbox.process(owner.map(i64::from), bytes, purpose).await;
    processed.map_err(|error| match error {
        media::Error::Internal { cause } => Error::internal(cause),
        media::Error::Unsupported { .. }
        | media::Error::TooLarge { .. }
        | media::Error::Broken
        | media::Error::Timeout => Error::invalid(format!("{name}: {error}")),
    })
}

/// A random, unguessable storage key for `file`.
pub fn new_key(kind: storage::FileKind, file: &File) -> Key {
    let mut random = [0; 16];
    crypto::fill_random(&mut random);
    Storage::key(kind, file.format, random)
}

/// Writes each file under its key.
///
/// # Errors
/// [`Error::Unavailable`] when the storage fails; the cause is logged.
pub async fn put_all(cx: &Cx, files: impl IntoIterator<Item = (Option<Key>, Option<File>)>) -> Result<()> {
    for (key, file) in files.into_iter().filter_map(|(key, file)| key.zip(file)) {
        cx.storage.put(&key, file.bytes).await.map_err(|error| {
            tracing::error!(?error, "could not store a file");
            Error::Unavailable("The file could not be stored, try again".into())
        })?;
    }
    Ok(())
}

fn description(cx: &Cx, text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let limit = cx.settings().media_description_limit;
    if i64::try_from(text.chars().count()).unwrap_or(i64::MAX) > limit {
        return Err(Error::invalid(format!("description has more than {limit} characters")));
    }
    Ok(Some(text))
}

fn parse_focus(text: Option<&str>) -> Result<Option<(f64, f64)>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    focus::parse(text).map(Some).map_err(|error| Error::invalid(format!("focus: {error}")))
}

/// Thumbnails are supported only for video and audio, which are not supported yet.
fn refuse_thumbnail(sent: bool) -> Result<()> {
    if sent { Err(Error::invalid("thumbnail: an image makes its own")) } else { Ok(()) }
}

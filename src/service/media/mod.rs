//! Media attachments: upload, description and focus, attaching to and detaching from statuses.
//!
//! Reached from `/api/v1/media`, `/api/v2/media` and from publishing and editing a status. [`media::Sandbox`] decodes
//! files, [`Storage`] stores them, and [`moving`] handles video and audio. No file can be orphaned: before it is
//! written, a [`PurgeMedia`] job is queued that deletes it unless a status uses it by the time the job runs.
//!
//! Spec: docs/contract/rules.md#10-statuses and docs/contract/rules.md#17-media.

mod attached;
pub mod drafts;
pub mod moving;
mod place;
pub(crate) mod purge;
pub mod relocate;
pub mod stock;

pub use attached::of_status;

use std::path::{Path, PathBuf};

use chrono::Duration;

use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, PurgeMedia};
use database::{Fault, Tx};
use media::storage::{self, Key, Storage};
use media::{File, Meta, Processed, Purpose, Still, converter, focus};
use model::media::{MediaKind, MediaState};
use model::{AccountId, Actor, Json, MediaAttachment, MediaId, ScheduledStatusId, StatusId};

/// How long an unattached upload, or media of a deleted status, is kept.
pub const UNATTACHED_TTL: Duration = Duration::days(1);

/// An upload as sent.
#[derive(Debug, Default)]
pub struct Upload {
    /// The uploaded file, on the same disk as the stored ones: it may be moved away.
    pub file: Option<PathBuf>,
    /// The picture of a video or audio file.
    pub thumbnail: Option<PathBuf>,
    /// Alternative text (description).
    pub description: Option<String>,
    /// `"x,y"`, see [`focus`].
    pub focus: Option<String>,
}

/// Processes and stores an uploaded file, not yet attached to any status. `processing`: when a video or audio file is
/// converted.
///
/// # Errors
/// [`Error::Invalid`] for a missing, unsupported, oversized or corrupt file, a thumbnail for an image, a description
/// that is too long, a malformed focus.
#[model::use_case]
pub async fn upload(cx: &Cx, actor: &Actor, upload: Upload, processing: moving::Processing) -> Result<MediaAttachment> {
    let description = description(cx, upload.description)?;
    let focus = parse_focus(upload.focus.as_deref())?;
    let file = upload.file.ok_or_else(|| Error::invalid("file is missing"))?;
    if let Some(container) = converter::container(&file).await.map_err(|error| refused("file", error))? {
        let new = moving::New { file, container, thumbnail: upload.thumbnail, description, focus };
        return moving::upload(cx, actor, new, processing).await;
    }
    if upload.thumbnail.is_some() {
        return Err(no_thumbnail());
    }
    let processed = process_file(cx, actor.id, "file", &file, Purpose::Attachment).await?;
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
        failure: None,
        created_at: now,
        updated_at: now,
    };
    let mut tx = cx.db.begin().await?;
    purge_later(cx, &mut tx, row.id, [&row.file, &row.preview]).await?;
    tx.commit().await?;
    put_all(cx, [(Some(original), Some(processed.original)), (preview, processed.preview)]).await?;

    let mut tx = cx.db.begin().await?;
    store::media::insert(&mut tx, &row).await?;
    tx.commit().await?;
    Ok(row)
}

/// Changes of the description, focus and picture of an attachment; `None` leaves a value unchanged.
#[derive(Debug, Default)]
pub struct MediaUpdate {
    /// The picture of a video or audio file.
    pub thumbnail: Option<PathBuf>,
    /// An empty string removes it.
    pub description: Option<String>,
    /// `"x,y"`; an empty string removes it.
    pub focus: Option<String>,
}

/// The attachment, if `viewer` uploaded it and it is neither attached to a status nor reserved for a scheduled one.
///
/// # Errors
/// [`Error::NotFound`] otherwise, [`Error::Invalid`] when it could not be processed.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: MediaId) -> Result<MediaAttachment> {
    let media = store::media::find(&cx.db, id).await?;
    let media = media.filter(|media| media.account_id == viewer.id && !media.is_used());
    let media = media.ok_or(Error::NotFound)?;
    usable(media)
}

/// `media`, unless it could not be processed.
fn usable(media: MediaAttachment) -> Result<MediaAttachment> {
    match media.state {
        MediaState::Failed => Err(Error::invalid(match media.failure {
            Some(failure) => format!("file could not be processed: {failure}"),
            None => "file could not be processed".to_owned(),
        })),
        MediaState::Processing | MediaState::Ready => Ok(media),
    }
}

/// Changes description, focus and picture of an unattached attachment.
///
/// # Errors
/// As [`show`], and [`Error::Invalid`] for values that [`upload`] refuses.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: MediaId, mut change: MediaUpdate) -> Result<MediaAttachment> {
    let seen = show(cx, actor, id).await?;
    let picture = match change.thumbnail.take() {
        Some(path) => Some(moving::new_thumbnail(cx, &seen, &path).await?),
        None => None,
    };
    let mut tx = cx.db.begin().await?;
    // Read again under a lock: a conversion that ends meanwhile writes the same members.
    let media = store::media::lock(&mut tx, id).await?.filter(|media| !media.is_used());
    let mut media = usable(media.ok_or(Error::NotFound)?)?;
    if let Some(picture) = &picture {
        set_picture(&mut tx, &mut media, picture).await?;
    }
    apply(cx, &mut media, change)?;
    media.updated_at = cx.clock.now();
    save(&mut tx, &media).await?;
    tx.commit().await?;
    Ok(media)
}

/// A stored picture for a video or audio file, to be set by [`set_picture`].
#[derive(Debug)]
pub struct Picture {
    key: Key,
    processed: Processed,
}

/// Stores another picture for the attachment `id`, if `actor` uploaded it and no status other than `current` uses it;
/// `None` otherwise. The previous picture is deleted a day later, and so is the new one unless it is set.
///
/// # Errors
/// [`Error::Invalid`] when the file is not a picture, and when the attachment is an image.
pub async fn new_picture(
    cx: &Cx,
    actor: &Actor,
    current: StatusId,
    id: MediaId,
    path: &Path,
) -> Result<Option<Picture>> {
    let media = store::media::find(&cx.db, id).await?;
    let media = media.filter(|media| media.account_id == actor.id);
    match media.filter(|media| media.status_id == Some(current) || !media.is_used()) {
        Some(media) => moving::new_thumbnail(cx, &media, path).await.map(Some),
        None => Ok(None),
    }
}

/// Sets the picture of `media` to a stored one. Changes its metadata in memory only; [`save`] writes them.
pub async fn set_picture(tx: &mut Tx, media: &mut MediaAttachment, picture: &Picture) -> Result<()> {
    moving::set_thumbnail(media, &picture.key, &picture.processed)?;
    Ok(store::media::set_preview(tx, media.id, picture.key.as_str(), media.blurhash.clone()).await?)
}

/// Deletes an unattached attachment of `actor` with its files, also while it is processed.
///
/// # Errors
/// [`Error::NotFound`] when `actor` has no such attachment, [`Error::Invalid`] when it is on a status or reserved for
/// one.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: MediaId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let media = store::media::lock(&mut tx, id).await?.filter(|media| media.account_id == actor.id);
    let MediaAttachment { file, preview, .. } = media.ok_or(Error::NotFound)?;
    if !store::media::delete_loose(&mut tx, id).await? {
        return Err(Error::invalid("the attachment is used by a status"));
    }
    let files = [file, preview].into_iter().flatten().collect();
    queue::enqueue(cx, &mut tx, &PurgeMedia { media: id, files }).await?;
    tx.commit().await?;
    Ok(())
}

/// Deletes media that were just detached from a status, with their files.
pub(super) async fn delete_detached(cx: &Cx, tx: &mut Tx, media: Vec<MediaAttachment>) -> Result<()> {
    for MediaAttachment { id, file, preview, .. } in media {
        if store::media::delete_loose(tx, id).await? {
            let files = [file, preview].into_iter().flatten().collect();
            queue::enqueue(cx, tx, &PurgeMedia { media: id, files }).await?;
        }
    }
    Ok(())
}

/// Applies the description and the focus of `change` to `media` in memory only; [`save`] writes them.
///
/// # Errors
/// [`Error::Invalid`] for a description that is too long and a malformed focus.
pub fn apply(cx: &Cx, media: &mut MediaAttachment, change: MediaUpdate) -> Result<()> {
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

/// The media of `ids` in that order, each once, if `actor` may attach them together: uploaded by the actor,
/// processed, and not on a status other than `current` (the one being edited); at most as many as the settings allow;
/// a video or audio file only alone.
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
        return Err(Error::invalid(format!("media_ids: {missing} is not one of your unattached media")));
    }
    match_together(&rows)?;
    Ok(rows)
}

fn match_together(rows: &[MediaAttachment]) -> Result<()> {
    if let Some(row) = rows.iter().find(|row| row.state != MediaState::Ready) {
        return Err(Error::invalid(format!("media_ids: {} is still being processed, or could not be", row.id)));
    }
    if rows.len() > 1 && rows.iter().any(|row| matches!(row.kind, MediaKind::Video | MediaKind::Audio)) {
        return Err(Error::invalid("media_ids: a video or audio file cannot be combined with other media"));
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
    Err(Error::invalid("media_ids: one of them is already on another status"))
}

/// Reserves `ids`, which [`attachable`] returned in this transaction, for a scheduled status, in that order.
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
    Err(Error::invalid("media_ids: one of them is already on another status"))
}

/// Releases the media of `owner` that are reserved for a scheduled status, which is about to be deleted: as
/// [`detach`].
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

/// Detaches `rows` from their status, for [`UNATTACHED_TTL`].
async fn loosen(cx: &Cx, tx: &mut Tx, rows: &[MediaAttachment]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<MediaId> = rows.iter().map(|row| row.id).collect();
    store::media::detach(tx, &ids, cx.clock.now()).await?;
    for row in rows {
        purge_later(cx, tx, row.id, [&row.file, &row.preview]).await?;
    }
    Ok(())
}

/// Queues the deletion of `media` and its `files` after [`UNATTACHED_TTL`], unless it is attached to a status again.
async fn purge_later<'a>(
    cx: &Cx,
    tx: &mut Tx,
    media: MediaId,
    files: impl IntoIterator<Item = &'a Option<String>>,
) -> Result<()> {
    let files = files.into_iter().flatten().cloned().collect();
    queue::enqueue_at(cx, tx, &PurgeMedia { media, files }, cx.clock.now() + UNATTACHED_TTL).await
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
    processed.map_err(|error| refused(name, error))
}

/// The error for the sender of the parameter `name`.
fn refused(name: &str, error: media::Error) -> Error {
    match error {
        media::Error::Internal { cause } => Error::internal(cause),
        media::Error::Unsupported { .. }
        | media::Error::TooLarge { .. }
        | media::Error::Broken
        | media::Error::NoConverter
        | media::Error::Timeout => Error::invalid(format!("{name}: {error}")),
    }
}

/// Decodes the image at `path`, sent by `owner` as the parameter `name`, in the sandbox. An image that is too large
/// is not read, and others wait for a free decoder before they are read.
///
/// # Errors
/// As [`process`].
async fn process_file(cx: &Cx, owner: AccountId, name: &str, path: &Path, purpose: Purpose) -> Result<Processed> {
    let limit = cx.config.media.image_size_limit_bytes;
    if tokio::fs::metadata(path).await.map_err(Error::internal)?.len() > limit {
        return Err(Error::invalid(format!("{name} is larger than {limit} bytes")));
    }
    decode(cx, owner, path, purpose).await?.map_err(|error| refused(name, error))
}

/// Decodes the image at `path`, sent by `owner`, in the sandbox. An AVIF or HEIC image is first converted to a JPEG.
///
/// # Errors
/// [`Error::Machine`] when the disk is full or read-only; the inner error describes a fault of the file.
pub(super) async fn decode(
    cx: &Cx,
    owner: AccountId,
    path: &Path,
    purpose: Purpose,
) -> Result<media::Result<Processed>> {
    let owner = i64::from(owner);
    let still = match Still::at(path).await {
        Ok(Some(still)) => still,
        Ok(None) => return Ok(cx.sandbox.process_file(Some(owner), path, purpose).await),
        Err(error) => return Ok(Err(error)),
    };
    let scratch = cx.storage.scratch().map_err(|error| not_stored(cx, &error))?;
    Ok(match cx.converter.still(owner, path, still, purpose, scratch.path()).await {
        Ok(picture) => cx.sandbox.process_file(Some(owner), &picture, purpose).await,
        Err(error) => Err(error),
    })
}

/// A random, unguessable storage key for `file`.
pub fn new_key(kind: storage::FileKind, file: &File) -> Key {
    Storage::key(kind, file.format, unguessable())
}

/// The random part of a storage key.
pub(crate) fn unguessable() -> [u8; 16] {
    let mut random = [0; 16];
    crypto::fill_random(&mut random);
    random
}

/// Writes each file under its key.
///
/// # Errors
/// [`Error::Machine`] when the disk is full or read-only, [`Error::Unavailable`] when it fails otherwise; the cause
/// is logged.
pub async fn put_all(cx: &Cx, files: impl IntoIterator<Item = (Option<Key>, Option<File>)>) -> Result<()> {
    for (key, file) in files.into_iter().filter_map(|(key, file)| key.zip(file)) {
        cx.storage.put(&key, file.bytes).await.map_err(|error| not_stored(cx, &error))?;
    }
    Ok(())
}

/// The error of a file that could not be stored because of `error`, which is logged; a fault of the machine at most
/// once a minute.
pub fn not_stored(cx: &Cx, error: &(dyn std::error::Error + 'static)) -> Error {
    if let Some(fault) = fault(error) {
        if cx.storage.may_log() {
            tracing::error!(%error, "files of media cannot be stored: {}", fault.sentence());
        }
        return Error::Machine(fault);
    }
    tracing::error!(?error, "could not store a file");
    Error::Unavailable("The file could not be stored, try again".into())
}

/// The fault of the machine among the causes of `error`.
fn fault(error: &(dyn std::error::Error + 'static)) -> Option<Fault> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|error| error.downcast_ref()).find_map(Fault::of_io)
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

/// Only video and audio have separate thumbnails.
fn no_thumbnail() -> Error {
    Error::invalid("thumbnail: an image makes its own")
}

/// The metadata of `media`, for changes.
fn meta_of(media: &MediaAttachment) -> Result<Meta> {
    serde_json::from_value(media.meta.0.clone()).map_err(Error::internal)
}

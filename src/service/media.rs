//! Uploading media and putting them on statuses.
//!
//! Reached from `/api/v1/media`, `/api/v2/media` and from publishing and editing a status. Decoding is [`media::Sandbox`]'s,
//! keeping files is [`Storage`]'s. A file is never without someone who will remove it: before it is written, a
//! [`PurgeMedia`] is queued that removes it unless a status has it by then.
//!
//! Spec: contract rules, sections 10 and 17.

use bytes::Bytes;
use chrono::Duration;

use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs::{self, purge_media::PurgeMedia};
use media::storage::{self, Key, Storage};
use media::{File, Processed, Purpose, focus};
use model::media::{MediaKind, MediaState};
use model::{Actor, Json, MediaAttachment, MediaId, StatusId};
use store::Tx;

/// How long an upload waits to be posted, and media of a deleted status to be posted again.
pub const LOOSE_FOR: Duration = Duration::days(1);

/// What was uploaded, as it was sent.
#[derive(Debug, Default)]
pub struct Upload {
    /// The file itself.
    pub file: Option<Bytes>,
    /// A picture for a file that is none was sent with it.
    pub has_thumbnail: bool,
    /// For people who cannot see it.
    pub description: Option<String>,
    /// `"x,y"`, see [`focus`].
    pub focus: Option<String>,
}

/// Takes a file in: decoded, cleaned, stored, and not yet on any status.
///
/// # Errors
/// [`Error::Invalid`] for a missing, unsupported, oversized or broken file, a thumbnail of an image, a description that
/// is too long, a focus that is none.
pub async fn upload(app: &App, actor: &Actor, upload: Upload) -> Result<MediaAttachment> {
    let description = description(app, upload.description)?;
    let focus = parse_focus(upload.focus.as_deref())?;
    let file = upload.file.ok_or_else(|| Error::invalid("file is missing"))?;
    refuse_thumbnail(upload.has_thumbnail)?;
    let processed = process(app, "file", &file, Purpose::Attachment).await?;
    let meta = serde_json::to_value(media::meta(&processed, focus)).map_err(Error::internal)?;

    let now = app.clock.now();
    let original = new_key(storage::Kind::Media, &processed.original);
    let preview = processed.preview.as_ref().map(|file| new_key(storage::Kind::Media, file));
    let row = MediaAttachment {
        id: app.ids.next(),
        account_id: actor.id,
        status_id: None,
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
    let mut tx = app.db.begin().await?;
    purge_later(app, &mut tx, &row).await?;
    tx.commit().await?;
    put_all(app, [(Some(original), Some(processed.original)), (preview, processed.preview)]).await?;

    let mut tx = app.db.begin().await?;
    store::media::insert(&mut tx, row.clone()).await?;
    tx.commit().await?;
    Ok(row)
}

/// What an owner says about an attachment; `None` leaves it as it is.
#[derive(Debug, Default)]
pub struct Change {
    /// A picture for a file that is none was sent.
    pub has_thumbnail: bool,
    /// "" removes it.
    pub description: Option<String>,
    /// `"x,y"`; "" removes it.
    pub focus: Option<String>,
}

/// The attachment, if `actor` uploaded it and it is on no status.
///
/// # Errors
/// [`Error::NotFound`] otherwise, [`Error::Invalid`] when it could not be processed.
pub async fn show(app: &App, actor: &Actor, id: MediaId) -> Result<MediaAttachment> {
    let media = store::media::find(&app.db, id).await?;
    let media = media.filter(|media| media.account_id == actor.id && media.status_id.is_none());
    let media = media.ok_or(Error::NotFound)?;
    match media.state {
        MediaState::Failed => Err(Error::invalid("file could not be processed")),
        MediaState::Processing | MediaState::Ready => Ok(media),
    }
}

/// Changes description and focus of an attachment that is on no status.
///
/// # Errors
/// As [`show`], and [`Error::Invalid`] for what [`upload`] refuses.
pub async fn update(app: &App, actor: &Actor, id: MediaId, change: Change) -> Result<MediaAttachment> {
    let mut media = show(app, actor, id).await?;
    refuse_thumbnail(change.has_thumbnail)?;
    apply(app, &mut media, change)?;
    media.updated_at = app.clock.now();
    let mut tx = app.db.begin().await?;
    save(&mut tx, &media).await?;
    tx.commit().await?;
    Ok(media)
}

/// Lays `change` over `media`; nothing is written. For editing a status, with [`save`].
///
/// # Errors
/// [`Error::Invalid`] for a description that is too long and a focus that is none.
pub fn apply(app: &App, media: &mut MediaAttachment, change: Change) -> Result<()> {
    if change.description.is_some() {
        media.description = description(app, change.description)?;
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
///
/// # Errors
/// When the database does.
pub async fn save(tx: &mut Tx, media: &MediaAttachment) -> Result<()> {
    let description = media.description.clone();
    Ok(store::media::describe(tx, media.id, description, media.meta.clone(), media.updated_at).await?)
}

/// The media of `ids` in their order, each once, if `actor` may put them together on a status: own, ready, and on no
/// other status than `current` (that which is edited). No more than the settings allow; a video or sound stands alone.
///
/// # Errors
/// [`Error::Invalid`] that names what is wrong.
pub async fn attachable(
    app: &App,
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
    let limit = app.settings().max_media_attachments;
    if i64::try_from(wanted.len()).unwrap_or(i64::MAX) > limit {
        return Err(Error::invalid(format!("media_ids: a status has at most {limit} media")));
    }
    let mut rows = store::media::list(&mut *tx, &wanted).await?;
    rows.retain(|row| row.account_id == actor.id && (row.status_id.is_none() || row.status_id == current));
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

/// Puts `ids`, which [`attachable`] allowed in this transaction, on `status`, in their order.
///
/// # Errors
/// [`Error::Invalid`] when another request was faster with one of them.
pub async fn attach(app: &App, tx: &mut Tx, status: StatusId, ids: &[MediaId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let attached = store::media::attach(tx, status, ids, app.clock.now()).await?;
    if usize::try_from(attached).is_ok_and(|attached| attached == ids.len()) {
        return Ok(());
    }
    Err(Error::invalid("media_ids: one of them is on another status by now"))
}

/// Takes those media off `status` that are not in `kept`; they can be posted again within [`LOOSE_FOR`], then they are
/// removed. Call it before a status is deleted (`kept` empty), and when an edit leaves some out.
///
/// # Errors
/// When the database does.
pub async fn detach(app: &App, tx: &mut Tx, status: StatusId, kept: &[MediaId]) -> Result<()> {
    let mut rows = store::media::list_for_statuses(&mut *tx, &[status]).await?;
    rows.retain(|row| !kept.contains(&row.id));
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<MediaId> = rows.iter().map(|row| row.id).collect();
    store::media::detach(tx, &ids, app.clock.now()).await?;
    for row in &rows {
        purge_later(app, tx, row).await?;
    }
    Ok(())
}

async fn purge_later(app: &App, tx: &mut Tx, row: &MediaAttachment) -> Result<()> {
    let files = [&row.file, &row.preview].into_iter().flatten().cloned().collect();
    jobs::enqueue_at(app, tx, &PurgeMedia { media: row.id, files }, app.clock.now() + LOOSE_FOR).await
}

/// Decodes `bytes`, sent as the parameter `name`, in the sandbox.
///
/// # Errors
/// [`Error::Invalid`] when the file is at fault, [`Error::Internal`] when we are.
pub async fn process(app: &App, name: &str, bytes: &[u8], purpose: Purpose) -> Result<Processed> {
    let processed = app.sandbox.process(bytes, purpose).await;
    processed.map_err(|error| match error {
        media::Error::Internal { cause } => Error::internal(cause),
        media::Error::Unsupported { .. }
        | media::Error::TooLarge { .. }
        | media::Error::Broken
        | media::Error::Timeout => Error::invalid(format!("{name}: {error}")),
    })
}

/// A name for `file` that nobody can guess.
pub fn new_key(kind: storage::Kind, file: &File) -> Key {
    let mut random = [0; 16];
    crypto::fill_random(&mut random);
    Storage::key(kind, file.format, random)
}

/// Writes each file under its name.
///
/// # Errors
/// [`Error::Unavailable`] when the storage does not take it; the cause is logged.
pub async fn put_all(app: &App, files: impl IntoIterator<Item = (Option<Key>, Option<File>)>) -> Result<()> {
    for (key, file) in files.into_iter().filter_map(|(key, file)| key.zip(file)) {
        app.storage.put(&key, file.bytes).await.map_err(|error| {
            tracing::error!(?error, "could not store a file");
            Error::Unavailable("The file could not be stored, try again".into())
        })?;
    }
    Ok(())
}

fn description(app: &App, text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let limit = app.settings().media_description_limit;
    if i64::try_from(text.chars().count()).unwrap_or(i64::MAX) > limit {
        return Err(Error::invalid(format!("description has more than {limit} characters")));
    }
    Ok(Some(text))
}

fn parse_focus(text: Option<&str>) -> Result<Option<(f64, f64)>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    focus::parse(text).map(Some).map_err(|error| Error::invalid(format!("focus: {error}")))
}

/// Only video and sound may have a picture of their own, and there are none of them yet.
fn refuse_thumbnail(sent: bool) -> Result<()> {
    if sent { Err(Error::invalid("thumbnail: an image makes its own")) } else { Ok(()) }
}

//! Video and audio: accepted after an inspection of the file, converted by a job.
//!
//! Reached from [`super::upload`] and from the job [`ProcessMedia`]. The request stores the original file, where it
//! cannot be fetched, and inserts the row with the job. Until the job has ended, the attachment is
//! [`Processing`](MediaState::Processing) and cannot be posted. The job may be killed and run again at any moment: it
//! writes to keys that were chosen before, and its result takes effect in one transaction. The job `purge_media`
//! deletes leftover files.
//!
//! Spec: docs/contract/rules.md#17-media.

use std::path::{Path, PathBuf};

use super::{Picture, meta_of, no_thumbnail, not_stored, process_file, put_all, refused, unguessable};
use context::error::{Error, Result};
use context::queue::{self, Done, Failure, ProcessMedia};
use context::{Cx, job};
use media::storage::{FileKind, Key, LARGEST_BYTES, Storage};
use media::{Container, Converted, Focus, Format, Kind, Meta, Permit, Processed, Purpose, Streams, converter};
use model::media::{MediaKind, MediaState};
use model::{Actor, Json, MediaAttachment, MediaId};
use store::job::Claim;

/// How often a conversion is tried that fails because of the machine rather than the file.
const MAX_ATTEMPTS: i64 = 3;

/// When an upload is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processing {
    /// Before the response.
    Now,
    /// By a job.
    Later {
        /// The number of attempts, including this one.
        attempt: i64,
    },
}

/// A video or audio upload, with the other fields of the request.
#[derive(Debug)]
pub(super) struct New {
    pub file: PathBuf,
    pub container: Container,
    pub thumbnail: Option<PathBuf>,
    pub description: Option<String>,
    pub focus: Option<(f64, f64)>,
}

/// Accepts an upload; see [`super::upload`].
pub(super) async fn upload(cx: &Cx, actor: &Actor, new: New, processing: Processing) -> Result<MediaAttachment> {
    let streams = inspect(cx, actor, &new).await?;
    let picture = match &new.thumbnail {
        Some(path) => Some(thumbnail(cx, actor.id, path).await?),
        None => None,
    };
    let mut row = row(cx, actor, &streams, &new)?;
    let job = job(row.id, &streams);
    let preview = picture.as_ref().map(|picture| super::new_key(FileKind::Media, &picture.original));
    if let Some((key, picture)) = preview.as_ref().zip(picture.as_ref()) {
        set_thumbnail(&mut row, key, picture)?;
    }

    let mut tx = cx.db.begin().await?;
    let files = [&job.incoming, &job.original, &job.preview].map(|file| Some(file.clone()));
    super::purge_later(cx, &mut tx, row.id, files.iter().chain([&row.preview])).await?;
    tx.commit().await?;
    cx.storage.adopt(&key(&job.incoming)?, &new.file).await.map_err(|error| not_stored(cx, &error))?;
    put_all(cx, [(preview, picture.map(|picture| picture.original))]).await?;

    let mut tx = cx.db.begin().await?;
    store::media::insert(&mut tx, &row).await?;
    queue::enqueue_at(cx, &mut tx, &job, cx.clock.now() + patience(cx, processing)).await?;
    tx.commit().await?;
    match processing {
        Processing::Later { .. } => Ok(row),
        Processing::Now => {
            process(cx, &job, processing).await?;
            super::show(cx, actor, row.id).await
        }
    }
}

/// How long the job of an upload waits. After a conversion before the response the job is needed only if this process
/// was killed.
fn patience(cx: &Cx, processing: Processing) -> chrono::TimeDelta {
    match processing {
        Processing::Later { .. } => chrono::TimeDelta::zero(),
        Processing::Now => {
            let limit = i64::try_from(cx.config.media.conversion_timeout_seconds).unwrap_or(i64::MAX / 1_000_000);
            chrono::TimeDelta::seconds(limit.saturating_mul(2))
        }
    }
}

/// Inspects an upload before any of it is stored.
async fn inspect(cx: &Cx, actor: &Actor, new: &New) -> Result<Streams> {
    let limit = cx.config.media.video_size_limit_bytes;
    if cx.converter.is_available() && tokio::fs::metadata(&new.file).await.map_err(Error::internal)?.len() > limit {
        return Err(Error::invalid(format!("file is larger than {limit} bytes")));
    }
    let scratch = cx.storage.scratch().map_err(|error| not_stored(cx, &error))?;
    let found = cx.converter.inspect(i64::from(actor.id), &new.file, new.container, scratch.path()).await;
    found.map_err(|error| refused("file", error))
}

/// The row of an upload that is to be converted.
fn row(cx: &Cx, actor: &Actor, streams: &Streams, new: &New) -> Result<MediaAttachment> {
    let now = cx.clock.now();
    let meta = Meta { focus: new.focus.map(|(x, y)| Focus { x, y }), ..Meta::default() };
    Ok(MediaAttachment {
        id: cx.ids.next(),
        account_id: actor.id,
        status_id: None,
        scheduled_status_id: None,
        position: 0,
        kind: kind(streams.kind()),
        state: MediaState::Processing,
        mime: format(streams.kind()).mime().to_owned(),
        file: None,
        size_bytes: 0,
        preview: None,
        remote_url: None,
        preview_remote_url: None,
        meta: Json(serde_json::to_value(meta).map_err(Error::internal)?),
        description: new.description.clone(),
        blurhash: None,
        failure: None,
        created_at: now,
        updated_at: now,
    })
}

fn job(media: MediaId, streams: &Streams) -> ProcessMedia {
    let stored = |format| Storage::key(FileKind::Media, format, unguessable()).to_string();
    ProcessMedia {
        media,
        incoming: Storage::incoming_key(unguessable()).to_string(),
        original: stored(format(streams.kind())),
        preview: stored(Format::Png),
    }
}

fn kind(kind: Kind) -> MediaKind {
    match kind {
        Kind::Video => MediaKind::Video,
        Kind::Gifv => MediaKind::Gifv,
        Kind::Audio => MediaKind::Audio,
    }
}

fn format(kind: Kind) -> Format {
    match kind {
        Kind::Video | Kind::Gifv => Format::Mp4,
        Kind::Audio => Format::Mp3,
    }
}

fn key(text: &str) -> Result<Key> {
    text.parse().map_err(Error::internal)
}

/// Converts the upload of `job`, unless it was converted or is no longer wanted; false when it was not tried, because
/// other uploads of the same account are being converted. An upload that cannot be converted is marked as failed,
/// which is not an error.
///
/// # Errors
/// When the machine failed: it is tried again, [`MAX_ATTEMPTS`] times.
#[model::use_case]
pub async fn process(cx: &Cx, job: &ProcessMedia, processing: Processing) -> Result<bool> {
    let Some(row) = store::media::find(&cx.db, job.media).await?.filter(|row| row.state == MediaState::Processing)
    else {
        discard(cx, job).await?;
        return Ok(true);
    };
    let owner = i64::from(row.account_id);
    let permit = match processing {
        Processing::Now => Some(cx.converter.permit(owner).await),
        Processing::Later { attempt } if attempt > MAX_ATTEMPTS => {
            fail(cx, job, "The server failed at it, several times").await?;
            return Ok(true);
        }
        Processing::Later { .. } => cx.converter.permit_within_share(owner).await.transpose(),
    };
    let Some(permit) = permit else { return Ok(false) };
    let permit = permit.map_err(|error| refused("file", error))?;
    match convert(cx, job, &row, &permit).await {
        Ok(()) => {}
        Err(Error::Invalid(reason)) => fail(cx, job, &reason).await?,
        Err(error) => return Err(error),
    }
    Ok(true)
}

/// Writes the files of an upload and then its row.
async fn convert(cx: &Cx, job: &ProcessMedia, row: &MediaAttachment, permit: &Permit<'_>) -> Result<()> {
    let scratch = cx.storage.scratch().map_err(|error| not_stored(cx, &error))?;
    let input =
        cx.storage.local_file(&key(&job.incoming)?, LARGEST_BYTES).await.map_err(|error| not_stored(cx, &error))?;
    let input = input.path();
    let reported = |error| failed(cx, error);
    let container = converter::container(input).await.map_err(reported)?;
    let container = container.ok_or_else(|| Error::internal("an upload is no longer a video or audio file"))?;
    let converted = cx.converter.convert(permit, input, container, scratch.path()).await.map_err(reported)?;
    let picture = match &converted.picture {
        Some(path) if row.preview.is_none() => picture(cx, row, &converted, path).await?,
        Some(_) | None => None,
    };
    cx.storage.adopt(&key(&job.original)?, &converted.path).await.map_err(|error| not_stored(cx, &error))?;
    if let Some(picture) = &picture {
        put_all(cx, [(Some(key(&job.preview)?), Some(picture.original.clone()))]).await?;
    }
    finish(cx, job, &converted, picture.as_ref()).await
}

/// The error of a conversion. A full disk makes `ffmpeg` fail as a broken file does, but is temporary.
fn failed(cx: &Cx, error: media::Error) -> Error {
    if error == media::Error::Broken && !cx.storage.has_room() {
        return not_stored(cx, &std::io::Error::from(std::io::ErrorKind::StorageFull));
    }
    refused("file", error)
}

/// The picture at `path`, processed; `None` for an audio file with a broken cover.
async fn picture(cx: &Cx, row: &MediaAttachment, converted: &Converted, path: &Path) -> Result<Option<Processed>> {
    match thumbnail(cx, row.account_id, path).await {
        Err(Error::Invalid(_)) if converted.kind == Kind::Audio => Ok(None),
        processed => processed.map(Some),
    }
}

/// Writes the result of an upload that is still wanted, and deletes the original file.
async fn finish(cx: &Cx, job: &ProcessMedia, converted: &Converted, picture: Option<&Processed>) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let row = store::media::lock(&mut tx, job.media).await?;
    if let Some(mut row) = row.filter(|row| row.state == MediaState::Processing) {
        row.kind = kind(converted.kind);
        if let Some(picture) = picture.filter(|_| row.preview.is_none()) {
            set_thumbnail(&mut row, &key(&job.preview)?, picture)?;
        }
        let mut meta = meta_of(&row)?;
        media::meta_of_converted(converted, &mut meta);
        row.meta = Json(serde_json::to_value(meta).map_err(Error::internal)?);
        row.state = MediaState::Ready;
        row.mime = converted.format.mime().to_owned();
        row.file = Some(job.original.clone());
        row.size_bytes = i64::try_from(converted.size_bytes).unwrap_or(i64::MAX);
        row.updated_at = cx.clock.now();
        store::media::finish(&mut tx, &row).await?;
    }
    tx.commit().await?;
    discard(cx, job).await
}

/// Writes why an upload was not converted.
async fn fail(cx: &Cx, job: &ProcessMedia, reason: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let row = store::media::lock(&mut tx, job.media).await?;
    if let Some(mut row) = row.filter(|row| row.state == MediaState::Processing) {
        row.state = MediaState::Failed;
        row.failure = Some(reason.to_owned());
        row.updated_at = cx.clock.now();
        store::media::finish(&mut tx, &row).await?;
    }
    tx.commit().await?;
    discard(cx, job).await
}

/// Deletes the files of `job` that belong to no attachment (any longer).
async fn discard(cx: &Cx, job: &ProcessMedia) -> Result<()> {
    let row = store::media::find(&cx.db, job.media).await?;
    let files = [&job.incoming, &job.original, &job.preview].into_iter();
    for file in files.filter(|file| row.as_ref().is_none_or(|row| !row.has_file(file))) {
        cx.storage.delete(&key(file)?).await.map_err(Error::internal)?;
    }
    Ok(())
}

/// Processes the picture of a video or audio file.
async fn thumbnail(cx: &Cx, owner: model::AccountId, path: &Path) -> Result<Processed> {
    process_file(cx, owner, "thumbnail", path, Purpose::Thumbnail).await
}

/// Stores another picture for `media`, to be set by [`set_thumbnail`]. The previous one is deleted a day later.
///
/// # Errors
/// [`Error::Invalid`] when the file is not a picture, and when `media` is an image.
pub(super) async fn new_thumbnail(cx: &Cx, media: &MediaAttachment, path: &Path) -> Result<Picture> {
    match media.kind {
        MediaKind::Video | MediaKind::Gifv | MediaKind::Audio => {}
        MediaKind::Image | MediaKind::Unknown => return Err(no_thumbnail()),
    }
    let picture = thumbnail(cx, media.account_id, path).await?;
    let key = super::new_key(FileKind::Media, &picture.original);
    let mut tx = cx.db.begin().await?;
    let new = Some(key.to_string());
    super::purge_later(cx, &mut tx, media.id, [&new, &media.preview]).await?;
    tx.commit().await?;
    put_all(cx, [(Some(key.clone()), Some(picture.original.clone()))]).await?;
    Ok(Picture { key, processed: picture })
}

/// Sets the picture of `media` in memory.
pub(super) fn set_thumbnail(media: &mut MediaAttachment, key: &Key, picture: &Processed) -> Result<()> {
    let mut meta = meta_of(media)?;
    media::with_thumbnail(&mut meta, picture, media.kind == MediaKind::Audio);
    media.meta = Json(serde_json::to_value(meta).map_err(Error::internal)?);
    media.preview = Some(key.to_string());
    media.blurhash = Some(picture.blurhash.clone());
    Ok(())
}

/// The job succeeds when a file cannot be converted: its uploader receives the error.
#[model::use_case]
#[job]
async fn process_media(cx: &Cx, job: ProcessMedia, claim: Claim) -> Result<Done, Failure> {
    if process(cx, &job, Processing::Later { attempt: claim.attempts }).await? {
        Ok(Done::Remove)
    } else {
        Err(Failure::NotNow("other files of the same account are converted first".to_owned()))
    }
}

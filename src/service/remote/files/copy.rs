//! Copies of files: pictures are fetched while clients wait, videos and sounds by a job.
//!
//! One fetch serves all who wait for a file, and goes on when they leave. A file that cannot be had is tried again when
//! it is requested after a pause, which doubles with every failure.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::TimeDelta;
use context::error::{Error, Result};
use context::queue::{self, CopyRemoteFile, Failure, PurgeRemoteFiles};
use context::{Cx, job};
use media::storage::{FileKind, Key};
use media::{Container, File, Format, Processed, Purpose, converter};
use model::Time;
use model::remote_file::RemoteFileKind;
use outbound::{Beyond, Fetch, Pass, PlainHttp};
use store::remote_file::{self, RemoteFile};
use tokio::io::AsyncWriteExt as _;

use super::{Subject, pass};
use crate::media::{new_key, not_stored, put_all, unguessable};
use crate::web_page;

/// The pause after the first failure.
pub(super) const FIRST_BACK_OFF: TimeDelta = TimeDelta::minutes(1);
/// The longest pause.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::days(7);
/// The time for a whole picture.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a client waits for a picture; it has its place by then, and the next request finds the copy.
const WAIT: Duration = Duration::from_secs(25);
/// The time for a whole video or sound.
const MOVING_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Between two pieces of it.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a stored file may be without its entry; it normally takes milliseconds.
const UNSET_TTL: TimeDelta = TimeDelta::hours(1);
/// Whose share of the decoders is used: no account has such an id, and people keep half. Pictures of profiles and emojis
/// do not wait for attachments.
const SMALL_OWNER: i64 = -1;
const LARGE_OWNER: i64 = -2;

/// The most bytes of a file.
pub(super) fn limit(cx: &Cx, subject: &Subject) -> u64 {
    if subject.is_moving() { cx.config.media.video_size_limit_bytes } else { purpose(subject.kind).max_bytes() }
}

fn purpose(kind: RemoteFileKind) -> Purpose {
    match kind {
        RemoteFileKind::Avatar => Purpose::Avatar,
        RemoteFileKind::Header => Purpose::Header,
        RemoteFileKind::Attachment => Purpose::Attachment,
        RemoteFileKind::Thumbnail => Purpose::Preview,
        RemoteFileKind::Emoji => Purpose::Emoji,
    }
}

/// The entry of a picture after it was fetched, by this request or another.
pub(super) async fn picture(cx: &Cx, subject: &Subject) -> Result<RemoteFile> {
    let (task, subject) = (cx.clone(), Arc::new(subject.clone()));
    let again = cx.clock.now() + FIRST_BACK_OFF;
    let missing = entry(&subject, again, again);
    let fetched = tokio::spawn(async move { fetch_picture(&task, &subject).await });
    match tokio::time::timeout(WAIT, fetched).await {
        Ok(fetched) => fetched.map_err(Error::internal)?,
        Err(_) => Ok(missing),
    }
}

/// An entry without a file.
fn entry(subject: &Subject, due_at: Time, now: Time) -> RemoteFile {
    RemoteFile {
        kind: subject.kind,
        subject_id: subject.id,
        url: subject.named.url.clone(),
        host: subject.host.clone(),
        file: None,
        small_file: None,
        bytes: 0,
        failures: 0,
        due_at,
        fetched_at: now,
        used_at: now,
    }
}

/// Why a file is not there.
enum Fault {
    /// Its host is not asked before this time; nothing is known of the file.
    Spared(Time),
    /// The file was not to be had, or is none.
    Failed(String),
}

impl From<media::Error> for Fault {
    fn from(error: media::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

async fn fetch_picture(cx: &Cx, subject: &Subject) -> Result<RemoteFile> {
    let _alone = cx.remote_files.take(&format!("{} {}", subject.kind.as_str(), subject.id)).await;
    let known = subject.entry(cx).await?;
    if let Some(known) = known.as_ref().filter(|known| known.file.is_some() || known.due_at > cx.clock.now()) {
        return Ok(known.clone());
    }
    match load(cx, subject).await? {
        Ok((bytes, processed)) => store(cx, subject, &bytes, processed).await,
        Err(fault) => failed(cx, subject, known.map_or(0, |known| known.failures), fault).await,
    }
}

/// The bytes of a picture, and the files that the sandbox encoded from them.
async fn load(cx: &Cx, subject: &Subject) -> Result<Result<(Bytes, Processed), Fault>> {
    let _turn = cx.remote_hosts.take(&subject.host).await;
    let visit = match cx.media_hosts.enter(&subject.host, cx.clock.now()) {
        Ok(visit) => visit,
        Err(spared) => return Ok(Err(Fault::Spared(spared.until()))),
    };
    let purpose = purpose(subject.kind);
    let fetch = Fetch {
        target: subject.target.clone(),
        agent: &web_page::agent(cx),
        timeout: PICTURE_TIMEOUT,
        limit: usize::try_from(purpose.max_bytes()).unwrap_or(usize::MAX),
        beyond: Beyond::Refuse,
        // The bytes decide.
        kinds: &[],
        plain: PlainHttp::Any,
        etag: None,
    };
    let document = cx.outbound.fetch(fetch).await;
    visit.end(pass::ended(document.as_ref().err()), cx.clock.now());
    let bytes = match document {
        Ok(document) => document.body,
        Err(error) => return Ok(Err(Fault::Failed(error.to_string()))),
    };
    let owner = if subject.kind == RemoteFileKind::Attachment { LARGE_OWNER } else { SMALL_OWNER };
    match cx.sandbox.process(Some(owner), &bytes, purpose).await {
        Ok(processed) => Ok(Ok((bytes, processed))),
        Err(media::Error::Internal { cause }) => Err(Error::internal(cause)),
        Err(error) => Ok(Err(error.into())),
    }
}

/// Stores a picture and its smaller version, and the size and blurhash of an attachment.
async fn store(cx: &Cx, subject: &Subject, source: &Bytes, processed: Processed) -> Result<RemoteFile> {
    let described = (subject.kind == RemoteFileKind::Attachment).then(|| Described::of(&processed)).transpose()?;
    let Processed { mut original, preview, static_version, .. } = processed;
    if original.format == Format::Mp4 {
        // An attachment that is a picture stays one: an animation is kept as it came.
        let probe = media::probe(source).map_err(Error::internal)?;
        original = File { format: probe.format, width: probe.width, height: probe.height, bytes: source.to_vec() };
    }
    let small = preview.or(static_version);
    let keys = (new_key(FileKind::Remote, &original), small.as_ref().map(|small| new_key(FileKind::Remote, small)));
    let bytes = original.bytes.len() + small.as_ref().map_or(0, |small| small.bytes.len());
    let entry = copied(cx, subject, &keys.0, keys.1.as_ref(), bytes as u64);
    promise(cx, &entry).await?;
    put_all(cx, [(Some(keys.0), Some(original)), (keys.1, small)]).await?;
    finish(cx, &entry, described).await?;
    count(cx, &entry);
    Ok(entry)
}

/// Counts a stored copy.
fn count(cx: &Cx, entry: &RemoteFile) {
    let kind = entry.kind.as_str();
    metrics::counter!("rookery_remote_file_fetches_total", "kind" => kind, "result" => "stored").increment(1);
    super::trim::stored(cx, entry.bytes);
}

/// What a picture tells about its attachment.
struct Described {
    meta: serde_json::Value,
    blurhash: String,
}

impl Described {
    fn of(processed: &Processed) -> Result<Self> {
        let meta = serde_json::to_value(media::meta(processed, None)).map_err(Error::internal)?;
        Ok(Self { meta, blurhash: processed.blurhash.clone() })
    }
}

/// The entry of a copy.
fn copied(cx: &Cx, subject: &Subject, file: &Key, small: Option<&Key>, bytes: u64) -> RemoteFile {
    let now = cx.clock.now();
    RemoteFile {
        file: Some(file.to_string()),
        small_file: small.map(Key::to_string),
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        ..entry(subject, now, now)
    }
}

/// Queues the removal of files that are about to be written, in case their entry is not.
async fn promise(cx: &Cx, entry: &RemoteFile) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let purge = PurgeRemoteFiles { kind: entry.kind, subject: entry.subject_id, files: entry.files() };
    queue::enqueue_at(cx, &mut tx, &purge, cx.clock.now() + UNSET_TTL).await?;
    Ok(tx.commit().await?)
}

/// Stores an entry in place of the one before, whose files are removed.
async fn finish(cx: &Cx, entry: &RemoteFile, described: Option<Described>) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    if let Some(before) = remote_file::find(&mut tx, entry.kind, entry.subject_id).await? {
        super::trim::purge(cx, &mut tx, &before).await?;
    }
    remote_file::put(&mut tx, entry).await?;
    if let Some(Described { meta, blurhash }) = described
        && let Some(status) = store::media::complete(&mut tx, entry.subject_id.into(), meta, blurhash).await?
    {
        store::status::bump_all(&mut tx, &[status]).await?;
    }
    Ok(tx.commit().await?)
}

/// Stores that an attempt failed, the latest of `failures` and one more.
async fn failed(cx: &Cx, subject: &Subject, failures: i64, fault: Fault) -> Result<RemoteFile> {
    let now = cx.clock.now();
    let reason = match fault {
        Fault::Spared(until) => return Ok(entry(subject, until, now)),
        Fault::Failed(reason) => reason,
    };
    tracing::debug!(host = subject.host, reason, "a file of another server was not copied");
    metrics::counter!("rookery_remote_file_fetches_total", "kind" => subject.kind.as_str(), "result" => "failed")
        .increment(1);
    let doubled = FIRST_BACK_OFF * 2_i32.pow(u32::try_from(failures.clamp(0, 16)).unwrap_or_default());
    let entry = RemoteFile { failures: failures + 1, ..entry(subject, now + doubled.min(LONGEST_BACK_OFF), now) };
    finish(cx, &entry, None).await?;
    Ok(entry)
}

/// Copies a video or a sound that clients requested, if its container is one that is stored.
#[model::use_case]
#[job]
async fn copy_remote_file(cx: &Cx, job: CopyRemoteFile) -> Result<(), Failure> {
    let Some(subject) = Subject::find(cx, job.kind, job.subject, None).await? else { return Ok(()) };
    let known = subject.entry(cx).await?;
    let fresh = known.as_ref().is_some_and(|known| known.file.is_some() || known.due_at > cx.clock.now());
    if fresh || !subject.is_moving() || subject.mode == model::remote_file::RemoteMediaMode::Pass {
        return Ok(());
    }
    match copy_moving(cx, &subject).await? {
        Ok(entry) => {
            finish(cx, &entry, None).await?;
            count(cx, &entry);
        }
        Err(fault) => {
            failed(cx, &subject, known.map_or(0, |known| known.failures), fault).await?;
        }
    }
    Ok(())
}

async fn copy_moving(cx: &Cx, subject: &Subject) -> Result<Result<RemoteFile, Fault>> {
    let _turn = cx.remote_hosts.take(&subject.host).await;
    let visit = match cx.media_hosts.enter(&subject.host, cx.clock.now()) {
        Ok(visit) => visit,
        Err(spared) => return Ok(Err(Fault::Spared(spared.until()))),
    };
    let scratch = cx.storage.scratch().map_err(|error| not_stored(cx, &error))?;
    let path = scratch.path().join("file");
    let loaded = load_moving(cx, subject, &path).await;
    visit.end(context::hosts::Ended::Answered, cx.clock.now());
    let bytes = match loaded? {
        Ok(bytes) => bytes,
        Err(reason) => return Ok(Err(Fault::Failed(reason))),
    };
    let format = match converter::container(&path).await.map_err(Error::internal)? {
        Some(Container::Mp4) if subject.named.media == model::media::MediaKind::Video => Format::Mp4,
        Some(Container::Mp3) => Format::Mp3,
        _ => return Ok(Err(Fault::Failed("its container is passed on, but not stored".to_owned()))),
    };
    let key = media::storage::Storage::key(FileKind::Remote, format, unguessable());
    let entry = copied(cx, subject, &key, None, bytes);
    promise(cx, &entry).await?;
    cx.storage.adopt(&key, &path).await.map_err(|error| not_stored(cx, &error))?;
    Ok(Ok(entry))
}

/// Writes a file to `path` while it arrives. Returns its size in bytes, or why it was not to be had.
async fn load_moving(cx: &Cx, subject: &Subject, path: &std::path::Path) -> Result<Result<u64, String>> {
    let pass = Pass {
        target: subject.target.clone(),
        agent: &web_page::agent(cx),
        range: None,
        patience: PATIENCE,
        timeout: MOVING_TIMEOUT,
        limit: limit(cx, subject),
        kinds: pass::KINDS,
        plain: PlainHttp::Any,
    };
    let mut streaming = match cx.outbound.pass(pass).await {
        Ok(streaming) => streaming,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut file = tokio::fs::File::create(path).await.map_err(|error| not_stored(cx, &error))?;
    let mut bytes = 0;
    loop {
        match streaming.chunk().await {
            Ok(Some(chunk)) => {
                file.write_all(&chunk).await.map_err(|error| not_stored(cx, &error))?;
                bytes += chunk.len() as u64;
            }
            Ok(None) => break,
            Err(error) => return Ok(Err(error.to_string())),
        }
    }
    file.flush().await.map_err(|error| not_stored(cx, &error))?;
    match streaming.length {
        Some(length) if length != bytes => Ok(Err("it ended early".to_owned())),
        _ => Ok(Ok(bytes)),
    }
}

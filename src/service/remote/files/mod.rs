//! Files of other servers: clients load them from this server, which stores them, passes them on, or has a placeholder.
//!
//! Nothing is fetched before a client requests it. A stored picture was decoded in the sandbox and encoded again, and a
//! stored video or sound has a known container; a file that is passed on has a content type of the list in [`pass`]. Files of hosts that are
//! suspended, or whose media are rejected, are not there.
//!
//! Reached from `/media/remote/…`, `rookery media`, the admin API and jobs. The copies have a budget in bytes
//! ([`trim`]); how the files of a host are served is decided in [`modes`].
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

mod copy;
pub mod modes;
mod pass;
pub mod stock;
pub mod trim;

use chrono::TimeDelta;
use media::storage::Key;
use model::Time;
use model::instance::Severity;
use model::media::MediaKind;
use model::remote_file::{RemoteFileKind, RemoteMediaMode, RemotePart};
pub use outbound::Streaming;
use outbound::Target;
use store::remote_file::{self, Named, RemoteFile};

use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, CopyRemoteFile};

/// How often the last use of a copy is stored.
const USE_EVERY: TimeDelta = TimeDelta::hours(1);

/// How a request for a file is responded to.
#[derive(Debug)]
pub enum Found {
    /// A stored copy.
    Stored(Key),
    /// The response of its server.
    Passed(Box<Streaming>),
    /// It cannot be had now; a client may try again then.
    Missing(Time),
}

/// A file that may be fetched.
#[derive(Clone, Debug)]
struct Subject {
    kind: RemoteFileKind,
    id: i64,
    named: Named,
    target: Target,
    /// The host of the URL, with its port unless it is the usual one.
    host: String,
    mode: RemoteMediaMode,
}

impl Subject {
    /// The file of the row `id`, unless this server has nothing to do with it; with a `tag`, only under that tag.
    async fn find(cx: &Cx, kind: RemoteFileKind, id: i64, tag: Option<&str>) -> Result<Option<Self>> {
        let Some(named) = remote_file::find_named(&cx.db, kind, id).await? else { return Ok(None) };
        if tag.is_some_and(|tag| cx.urls.remote_tags.of(kind, id, &named.url) != tag) {
            return Ok(None);
        }
        let Ok(target) = Target::parse(&named.url) else { return Ok(None) };
        let host = target.authority();
        let policy = cx.domain_policy();
        let rule = policy.of(&host);
        if cx.config.is_local_domain(&host) || rule.severity == Severity::Suspend || rule.flags.reject_media {
            return Ok(None);
        }
        let mode = modes::of(cx, &host);
        Ok(Some(Self { kind, id, named, target, host, mode }))
    }

    /// True for a file that is loaded in parts, and takes long to load as a whole.
    fn is_moving(&self) -> bool {
        matches!(self.named.media, MediaKind::Video | MediaKind::Audio)
    }

    /// The stored entry of this very file.
    async fn entry(&self, cx: &Cx) -> Result<Option<RemoteFile>> {
        let entry = remote_file::find(&cx.db, self.kind, self.id).await?;
        Ok(entry.filter(|entry| entry.url == self.named.url))
    }
}

/// The file that the row `id` names, under the address with `tag`. `range`: the header `Range` of the request, which is
/// passed on.
///
/// # Errors
/// [`Error::NotFound`] when there is no such file, or another one now.
#[model::use_case]
pub async fn open(
    cx: &Cx,
    kind: RemoteFileKind,
    id: i64,
    tag: &str,
    part: RemotePart,
    range: Option<&str>,
) -> Result<Found> {
    let subject = Subject::find(cx, kind, id, Some(tag)).await?.ok_or(Error::NotFound)?;
    if subject.named.media == MediaKind::Unknown {
        return Err(Error::NotFound);
    }
    if subject.mode == RemoteMediaMode::Pass {
        return pass::on(cx, &subject, range).await;
    }
    let mut entry = subject.entry(cx).await?;
    if entry.as_ref().is_none_or(|entry| entry.file.is_none()) {
        let failed = entry.as_ref().is_some_and(|entry| entry.due_at > cx.clock.now());
        if subject.is_moving() {
            if !failed {
                copy_later(cx, &subject).await?;
            }
            return pass::on(cx, &subject, range).await;
        }
        if !failed {
            entry = Some(copy::picture(cx, &subject).await?);
        }
    }
    let entry = entry.ok_or(Error::NotFound)?;
    let Some(file) = entry.file else { return Ok(Found::Missing(entry.due_at)) };
    let now = cx.clock.now();
    if now - entry.used_at >= USE_EVERY {
        let mut tx = cx.db.begin().await?;
        remote_file::touch(&mut tx, kind, id, now).await?;
        tx.commit().await?;
    }
    let file = entry.small_file.filter(|_| part == RemotePart::Small).unwrap_or(file);
    Ok(Found::Stored(file.parse().map_err(Error::internal)?))
}

/// Forgets the copy of the row `id`, whose stored file `key` is lost, so that it is fetched again.
#[model::use_case]
pub async fn forget(cx: &Cx, kind: RemoteFileKind, id: i64, key: &Key) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let entry = remote_file::find(&mut tx, kind, id).await?;
    if let Some(entry) = entry.filter(|entry| entry.files().iter().any(|file| file == key.as_str())) {
        trim::remove(cx, &mut tx, &entry).await?;
    }
    Ok(tx.commit().await?)
}

async fn copy_later(cx: &Cx, subject: &Subject) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let job = CopyRemoteFile { kind: subject.kind, subject: subject.id, host: subject.host.clone() };
    queue::enqueue(cx, &mut tx, &job).await?;
    Ok(tx.commit().await?)
}

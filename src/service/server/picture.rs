//! Pictures of the server itself: its thumbnail, its icon and its logo.
//!
//! Each is a setting with the storage keys of its sizes. Reached from `rookery settings set`. Files are decoded in the
//! media sandbox. No file is orphaned: before the files are written, a job is queued that deletes the files without a
//! setting; another one is queued when a picture is replaced.
//!
//! Spec: docs/contract/rules.md#27-instance

use chrono::Duration;

use crate::audit::{self, Entry, Target};
use crate::media::{new_key, process, purge, put_all};
use context::Cx;
use context::error::{Error, Result};
use context::job;
use context::queue::{self, Failure, PurgeServerPictures};
use database::Tx;
use media::storage::FileKind;
use media::{Purpose, ServerImage};
use model::settings::ServerPicture;
use model::{Settings, Staff};

/// Largest file, in bytes.
pub const BYTES_MAX: u64 = Purpose::Server(ServerImage::Thumbnail).max_bytes();

/// How long a replaced picture is kept: pages and documents that name it are in caches.
const REPLACED_TTL: Duration = Duration::days(1);

/// The sizes of the picture that the setting `key` names.
///
/// # Errors
/// [`Error::Invalid`] when the setting is not a picture.
fn sizes(key: &str) -> Result<&'static [ServerImage]> {
    match key {
        "thumbnail" => Ok(&[ServerImage::Thumbnail, ServerImage::LargeThumbnail]),
        "icon" => Ok(&[ServerImage::SmallIcon, ServerImage::Icon, ServerImage::LargeIcon]),
        "logo" => Ok(&[ServerImage::Logo]),
        _ => Err(Error::invalid(format!("{key} is not a picture"))),
    }
}

/// The value of the setting `key`.
fn of<'a>(settings: &'a Settings, key: &str) -> Option<&'a ServerPicture> {
    match key {
        "thumbnail" => Some(&settings.thumbnail),
        "icon" => Some(&settings.icon),
        "logo" => Some(&settings.logo),
        _ => None,
    }
}

/// Makes the file `bytes` the picture `key`: `thumbnail`, `icon` or `logo`.
///
/// # Errors
/// [`Error::Invalid`] for another key, and for a file that is not a picture, too large or corrupt; nothing is changed
/// then.
#[model::use_case]
pub async fn set(cx: &Cx, staff: &Staff, key: &str, bytes: &[u8]) -> Result<()> {
    let mut made = Vec::new();
    for size in sizes(key)? {
        let processed = process(cx, None, key, bytes, Purpose::Server(*size)).await?;
        made.push((new_key(FileKind::Server, &processed.original), processed));
    }
    let named =
        made.iter().map(|(key, made)| (format!("{}x{}", made.original.width, made.original.height), key.to_string()));
    let blurhash = made.first().map(|(_, made)| made.blurhash.clone()).unwrap_or_default();
    let picture = ServerPicture { files: named.collect(), blurhash };
    let mut tx = cx.db.begin().await?;
    purge_later(cx, &mut tx, &picture).await?;
    tx.commit().await?;
    put_all(cx, made.into_iter().map(|(key, made)| (Some(key), Some(made.original)))).await?;
    replace(cx, staff, key, picture).await
}

/// Removes the picture `key`, so that the one that comes with the server is shown.
///
/// # Errors
/// [`Error::Invalid`] when the setting is not a picture.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, key: &str) -> Result<()> {
    sizes(key)?;
    replace(cx, staff, key, ServerPicture::default()).await
}

async fn replace(cx: &Cx, staff: &Staff, key: &str, picture: ServerPicture) -> Result<()> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let previous = store::settings::load(&mut tx).await?;
    if let Some(previous) = of(&previous, key).filter(|previous| !previous.files.is_empty()) {
        purge_later(cx, &mut tx, previous).await?;
    }
    let value = serde_json::to_value(picture).map_err(Error::internal)?;
    store::settings::set(&mut tx, key, &value, now).await?;
    audit::record(cx, &mut tx, staff, Entry::new("settings.update", Target::new("setting", 0, key))).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}

/// Queues the deletion of the files of `picture` that no setting names in a day.
async fn purge_later(cx: &Cx, tx: &mut Tx, picture: &ServerPicture) -> Result<()> {
    let files = picture.files.values().cloned().collect();
    queue::enqueue_at(cx, tx, &PurgeServerPictures { files }, cx.clock.now() + REPLACED_TTL).await?;
    Ok(())
}

#[model::use_case]
#[job]
async fn purge_server_pictures(cx: &Cx, job: PurgeServerPictures) -> Result<(), Failure> {
    let settings = store::settings::load(&cx.db).await.map_err(Error::from)?;
    let shown = [&settings.thumbnail, &settings.icon, &settings.logo];
    let is_shown = |file: &String| shown.iter().any(|picture| picture.files.values().any(|known| known == file));
    let unused: Vec<String> = job.files.into_iter().filter(|file| !is_shown(file)).collect();
    purge::remove(cx, &unused).await
}

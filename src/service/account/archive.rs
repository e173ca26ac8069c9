//! Archives of an account's own data: its statuses as ActivityPub documents, with the files, and its favourites and
//! bookmarks.
//!
//! Reached from the settings pages and from `rookery user archive`. A person requests one, at most one in [`EVERY`];
//! a job makes it, a page of statuses at a time, and writes straight to the disk (`entity::archive`). Only its owner
//! can download it, and it is deleted after [`KEPT`]. It contains no statuses by others, only their URIs.
//!
//! Spec: <https://docs.joinmastodon.org/user/moving/#export>

use std::path::Path;

use chrono::TimeDelta;

use crate::media::not_stored;
use ::media::storage::{Key, Object, Scratch, Storage};
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, Done, ExpireArchive, Failure, MakeArchive};
use database::Tx;
use model::{Account, AccountId, RowId, Time};
use store::job::Claim;

pub use store::archive::Archive;

/// How often a person may request an archive.
pub const EVERY: TimeDelta = TimeDelta::days(7);
/// How long an archive is kept.
pub const KEPT: TimeDelta = TimeDelta::days(7);

/// The archives of `account`, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, account: AccountId) -> Result<Vec<Archive>> {
    Ok(store::archive::list(&cx.db, account).await?)
}

/// When the account of these `archives` may request the next one; `None`: now.
#[must_use]
pub fn next_at(cx: &Cx, archives: &[Archive]) -> Option<Time> {
    let made = archives.iter().filter(|archive| !archive.failed).map(|archive| archive.created_at + EVERY);
    made.max().filter(|next| *next > cx.clock.now())
}

/// Requests an archive of `account`; a job makes it.
///
/// # Errors
/// [`Error::Invalid`] when the last one was requested less than [`EVERY`] ago.
#[model::use_case]
pub async fn request(cx: &Cx, account: AccountId) -> Result<Archive> {
    let total = store::archive::count_statuses(&cx.db, account).await?;
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account]).await?.pop().ok_or(Error::NotFound)?;
    if next_at(cx, &store::archive::list(&mut tx, account).await?).is_some() {
        return Err(Error::invalid("You can request an archive once every seven days"));
    }
    store::archive::delete_failed(&mut tx, account).await?;
    let archive = Archive {
        id: cx.ids.next(),
        account_id: account,
        total,
        done: 0,
        file: None,
        size_bytes: 0,
        failed: false,
        created_at: cx.clock.now(),
        finished_at: None,
    };
    store::archive::insert(&mut tx, &archive).await?;
    queue::enqueue(cx, &mut tx, &MakeArchive { archive: archive.id }).await?;
    tx.commit().await?;
    Ok(archive)
}

/// The file of an archive of `account`.
///
/// # Errors
/// [`Error::NotFound`] for an archive that is missing, someone else's, or not finished.
#[model::use_case]
pub async fn open(cx: &Cx, account: AccountId, id: RowId) -> Result<Object> {
    let archive = store::archive::find(&cx.db, id).await?.filter(|archive| archive.account_id == account);
    let key: Key = archive.and_then(|archive| archive.file?.parse().ok()).ok_or(Error::NotFound)?;
    cx.storage.get(&key).await.map_err(|error| match error {
        ::media::storage::Error::NotFound => Error::NotFound,
        other => Error::internal(other),
    })
}

/// Deletes an archive that has expired, or whose owner was deleted.
///
/// # Errors
/// When the database or the storage fails.
#[model::use_case]
pub async fn expire(cx: &Cx, job: &ExpireArchive) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::archive::delete(&mut tx, job.archive, &job.file).await?;
    tx.commit().await?;
    // A string that is not a storage key cannot be one of our files.
    let Ok(key) = job.file.parse::<Key>() else { return Ok(()) };
    cx.storage.delete(&key).await.map_err(Error::internal)
}

/// Deletes the archives of an account that is about to be deleted.
pub(super) async fn expire_all(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<()> {
    for archive in store::archive::list(&mut *tx, account).await? {
        if let Some(file) = archive.file {
            queue::enqueue(cx, tx, &ExpireArchive { archive: archive.id, file }).await?;
        }
    }
    Ok(())
}

/// The archive of `job` with its account, if it is still to be made.
#[model::use_case]
pub async fn find_unfinished(cx: &Cx, id: RowId) -> Result<Option<(Archive, Account)>> {
    let archive = store::archive::find(&cx.db, id).await?;
    let Some(archive) = archive.filter(|archive| archive.finished_at.is_none()) else { return Ok(None) };
    let account = store::account::find(&cx.db, archive.account_id).await?.ok_or(Error::NotFound)?;
    Ok(Some((archive, account)))
}

/// A folder for a file that is being written; deleted when the value is dropped.
pub fn scratch(cx: &Cx) -> Result<Scratch> {
    cx.storage.scratch().map_err(|error| not_stored(cx, &error))
}

/// Stores the written file at `path` and returns its key. The job that deletes the file is queued first, so that a
/// kill leaves no file behind.
#[model::use_case]
pub async fn store(cx: &Cx, archive: &Archive, path: &Path) -> Result<Key> {
    let mut random = [0; 16];
    crypto::fill_random(&mut random);
    let key = Storage::archive_key(random);
    let mut tx = cx.db.begin().await?;
    let expiry = ExpireArchive { archive: archive.id, file: key.to_string() };
    queue::enqueue_at(cx, &mut tx, &expiry, cx.clock.now() + KEPT).await?;
    tx.commit().await?;
    cx.storage.adopt(&key, path).await.map_err(|error| not_stored(cx, &error))?;
    Ok(key)
}

/// Completes an archive with the key and the size in bytes of its file; without a file it failed.
#[model::use_case]
pub async fn end(cx: &Cx, archive: &Archive, file: Option<(&str, i64)>, claim: Claim) -> Result<Done, Failure> {
    let mut tx = cx.db.begin().await?;
    store::archive::finish(&mut tx, archive.id, file, cx.clock.now()).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

//! Job: moves the files of a local account out of reach while it is suspended, and back when the suspension is lifted.
//!
//! The database keeps the keys, so a lifted suspension restores every address. A batch is moved under the lock of the
//! account, which a change of its standing takes as well: two passes cannot undo each other.

use context::error::Result;
use context::queue::{Failure, Next, PlaceFiles};
use context::{Cx, job};
use database::Tx;
use media::storage::Key;
use model::MediaId;

/// Attachments whose files are moved in one transaction, which blocks other writers.
const BATCH: i64 = 25;

#[model::use_case]
#[job]
async fn place_files(cx: &Cx, tx: &mut Tx, job: PlaceFiles) -> Result<Next<PlaceFiles>, Failure> {
    let found = store::account::lock(tx, &[job.account]).await?.pop();
    let Some(account) = found else { return Ok(Next::Nothing) };
    let withheld = account.is_suspended();
    let mut files = Vec::new();
    if job.after == MediaId::from(0) {
        let held = store::held_status::files_of(&mut *tx, account.id).await?;
        files.extend(held.into_iter().map(|held| Some(held.file)));
        files.extend([account.avatar, account.avatar_static, account.header, account.header_static]);
    }
    let batch = store::media::list_files_of(&mut *tx, account.id, job.after, BATCH).await?;
    let last = batch.last().map(|media| media.id);
    files.extend(batch.into_iter().flat_map(|media| [media.file, media.preview]));
    for file in files.into_iter().flatten() {
        // A string that is not a storage key cannot be one of our files.
        let Ok(key) = file.parse::<Key>() else { continue };
        cx.storage.place(&key, withheld).await.map_err(|error| Failure::Retry(error.to_string()))?;
    }
    Ok(last.map(|after| PlaceFiles { account: job.account, after }).into())
}

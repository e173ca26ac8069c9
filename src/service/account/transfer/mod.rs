//! Moves follows, blocks, mutes, lists, bookmarks, domain blocks and filters between servers, in files.
//!
//! Reached from the settings pages and from `rookery user export` and `rookery user import`. An export is written
//! immediately. An import stores the rows of its file, and a job applies them in batches ([`mod@import`]), each with
//! the use case that a client would call, so that an import has only the permissions of a client. A failed row has a
//! reason, and can be [downloaded](failures) and imported again. Rows with accounts and statuses that this server
//! does not know fail: nothing is fetched.
//!
//! The remaining data is in one document (`entity::account_document`).
//!
//! Files have the format of Mastodon's settings, in UTF-8: <https://docs.joinmastodon.org/user/moving/#export>.
//! Filters use a JSON format of this server.

mod apply;
mod entry;
mod export;
mod import;
mod parse;
mod remove;

pub use export::{PAGE, export, related};
pub use store::transfer::{FailureReason, Import};

use std::collections::HashSet;

use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, RunImport};
use entry::Entry;
use model::transfer::TransferKind;
use model::{AccountId, RowId};

/// Largest file, in bytes.
pub const FILE_MAX: usize = 4 << 20;
/// Most rows of a file, as in Mastodon.
pub const ROWS_MAX: usize = 20_000;
/// How many imports of an account are listed; older ones are deleted.
const KEPT: i64 = 10;
/// How many failure reasons of an import are shown; the file of its failed rows contains all of them.
const REASONS: i64 = 5;
/// Rows per statement that inserts them.
const INSERT_BATCH: usize = 1_000;

/// How existing entries are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They stay.
    Merge,
    /// Entries that the file does not contain are removed first.
    Overwrite,
}

/// Starts an import of `file` for `account`; a job does the rest. Repeated rows are left out.
///
/// # Errors
/// [`Error::TooLarge`] beyond [`FILE_MAX`]; [`Error::Invalid`] for a file that does not have this kind, is empty, or
/// has more than [`ROWS_MAX`] rows, and while another import of the account is running.
#[model::use_case]
pub async fn import(cx: &Cx, account: AccountId, kind: TransferKind, mode: Mode, file: &[u8]) -> Result<Import> {
    let entries = parse::parse(kind, file)?;
    let import = Import {
        id: cx.ids.next(),
        account_id: account,
        kind,
        overwrite: mode == Mode::Overwrite,
        total: 0,
        done: 0,
        failed: 0,
        created_at: cx.clock.now(),
        finished_at: None,
    };
    let rows = rows(cx, &entries)?;
    let import = Import { total: i64::try_from(rows.len()).unwrap_or(i64::MAX), ..import };
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account]).await?.pop().ok_or(Error::NotFound)?;
    if store::transfer::list(&mut tx, account).await?.iter().any(|other| other.finished_at.is_none()) {
        return Err(Error::invalid("Another import is still running: wait until it has ended"));
    }
    store::transfer::insert(&mut tx, &import).await?;
    for part in rows.chunks(INSERT_BATCH) {
        store::transfer::insert_rows(&mut tx, import.id, part.to_vec()).await?;
    }
    store::transfer::delete_old(&mut tx, account, KEPT).await?;
    let job = RunImport { import: import.id, removing: import.overwrite, after: 0 };
    queue::enqueue(cx, &mut tx, &job).await?;
    tx.commit().await?;
    Ok(import)
}

/// Entries as rows (position, list, key, entry), without repetitions.
fn rows(cx: &Cx, entries: &[Entry]) -> Result<Vec<(i64, String, String, String)>> {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for (position, entry) in (1..).zip(entries) {
        let (list, key) = (entry.list().to_owned(), entry.key(cx));
        if seen.insert((list.clone(), key.clone())) {
            rows.push((position, list, key, serde_json::to_string(entry).map_err(Error::internal)?));
        }
    }
    Ok(rows)
}

/// The imports of `account`, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, account: AccountId) -> Result<Vec<Import>> {
    Ok(store::transfer::list(&cx.db, account).await?)
}

/// The failure reasons of `imports`: the [most frequent](REASONS) ones of each. One statement, and none if no row
/// failed.
#[model::use_case]
pub async fn reasons(cx: &Cx, imports: &[Import]) -> Result<Vec<FailureReason>> {
    let failed: Vec<RowId> = imports.iter().filter(|import| import.failed > 0).map(|import| import.id).collect();
    if failed.is_empty() { Ok(Vec::new()) } else { Ok(store::transfer::list_reasons(&cx.db, &failed, REASONS).await?) }
}

/// One of the imports of `account`.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, account: AccountId, id: RowId) -> Result<Import> {
    let import = store::transfer::find(&cx.db, id).await?;
    import.filter(|import| import.account_id == account).ok_or(Error::NotFound)
}

/// The failed rows of an import, as a file of its kind with an additional column for the reason (of filters: an
/// additional member, `error`). It can be imported again.
///
/// # Errors
/// As [`find`].
#[model::use_case]
pub async fn failures(cx: &Cx, account: AccountId, id: RowId) -> Result<Vec<u8>> {
    let import = find(cx, account, id).await?;
    let rows = store::transfer::list_failed(&cx.db, import.id).await?;
    let failed = rows.into_iter().map(|row| Ok((entry::read(&row.entry)?, row.error)));
    entry::write(import.kind, failed.collect::<Result<Vec<_>>>()?)
}

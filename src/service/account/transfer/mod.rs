//! Taking follows, blocks, mutes, lists, bookmarks, domain blocks and filters from one server to another, in files.
//!
//! Reached from the settings pages and from `rookery user export` and `rookery user import`. An export is written at once; an
//! import stores the rows of its file, and a job does them in batches ([`mod@import`]), each through the use case that a client
//! would call, so that what is not permitted there is not permitted here. A row that fails says why, and can be
//! [downloaded](failures) to try again. Accounts and statuses that this server does not know fail: nothing is fetched.
//!
//! The remaining data is in one document (`entity::account_document`).
//!
//! Files are those of Mastodon's settings, in UTF-8: <https://docs.joinmastodon.org/user/moving/#export>. Filters are JSON of
//! this server's own.

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
/// How many reasons for failures are told of an import; the file of its failed rows has them all.
const REASONS: i64 = 5;
/// Rows per statement that inserts them.
const INSERT_BATCH: usize = 1_000;

/// What becomes of what is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It stays.
    Merge,
    /// What is not in the file is taken away first.
    Overwrite,
}

/// Begins an import of `file` for `account`; a job does the rest. A row that repeats another is left out.
///
/// # Errors
/// [`Error::TooLarge`] beyond [`FILE_MAX`]; [`Error::Invalid`] for a file that is not of this kind, is empty, or has more
/// than [`ROWS_MAX`] rows, and while another import of the account is running.
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

/// Entries as rows (position, list, key, entry), each thing once.
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

/// Why rows of `imports` failed: the [most frequent](REASONS) reasons of each, in one statement, and none where none failed.
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

/// The rows of an import that failed, as a file of its kind with a further column that says why (of filters: a further
/// member, `error`). It can be imported again.
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

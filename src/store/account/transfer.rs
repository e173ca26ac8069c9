//! Imports with their rows, and the queries of exports: follows, blocks, mutes, members of lists and bookmarks.
//!
//! Reached from `service::transfer`. A row is deleted when it is done and stays with its error when it failed. Pages
//! of exports are ordered by the ids of the relations; `CROSS JOIN` fixes this order on SQLite. Domain blocks and
//! filters are read by [`domain_block`](crate::domain_block) and [`filter`](crate::filter).

use crate::relation_sql::unexpired;
use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::transfer::TransferKind;
use model::{AccountId, Json, RowId, StatusId, Time, boxed};

#[derive(Clone, Debug, model::Row)]
#[row(table = "imports", alias = "i")]
pub struct Import {
    pub id: RowId,
    pub account_id: AccountId,
    #[row(rename = "type")]
    pub kind: TransferKind,
    pub overwrite: bool,
    pub total: i64,
    pub done: i64,
    pub failed: i64,
    pub created_at: Time,
    pub finished_at: Option<Time>,
}

/// A pending or failed row of an import.
#[derive(Clone, Debug, model::Row)]
pub struct ImportRow {
    /// From 1, in the order of the file.
    pub position: i64,
    /// JSON.
    pub entry: String,
    /// Why it failed; `None` while it is pending.
    pub error: Option<String>,
}

#[boxed]
pub async fn insert(tx: &mut Tx, import: &Import) -> Result<()> {
    tx.query(sql!(import_insert!())).bind_row(import).execute().await?;
    Ok(())
}

/// Inserts rows of an import, each as (position, list, key, entry).
#[boxed]
pub async fn insert_rows(tx: &mut Tx, import: RowId, rows: Vec<(i64, String, String, String)>) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO import_rows (import_id, position, list, key, entry)
         SELECT CAST($2 AS BIGINT), CAST(value ->> 0 AS BIGINT), value ->> 1, value ->> 2, value ->> 3
         FROM" rows("$1")
    ))
    .bind(Json(rows))
    .bind(import)
    .execute()
    .await?;
    Ok(())
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Import>> {
    db.query(sql!("SELECT " import_columns!() " FROM imports i WHERE i.id = $1")).bind(id).optional().await
}

/// The imports of `account`, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId) -> Result<Vec<Import>> {
    db.query(sql!("SELECT " import_columns!() " FROM imports i WHERE i.account_id = $1 ORDER BY i.id DESC"))
        .bind(account)
        .all()
        .await
}

/// Deletes the finished imports of `account`, except for the newest `keep`.
#[boxed]
pub async fn delete_old(tx: &mut Tx, account: AccountId, keep: i64) -> Result<()> {
    tx.query(sql!(
        "DELETE FROM imports
         WHERE account_id = $1 AND finished_at IS NOT NULL
           AND id NOT IN (SELECT i.id FROM imports i WHERE i.account_id = $1 ORDER BY i.id DESC LIMIT $2)"
    ))
    .bind(account)
    .bind(keep)
    .execute()
    .await?;
    Ok(())
}

/// Up to `limit` pending rows after the position `after`, in the order of the file.
#[boxed]
pub async fn list_waiting(db: Conn<'_>, import: RowId, after: i64, limit: i64) -> Result<Vec<ImportRow>> {
    db.query(sql!(
        "SELECT r.position, r.entry, r.error FROM import_rows r
         WHERE r.import_id = $1 AND r.position > $2 AND r.error IS NULL
         ORDER BY r.position
         LIMIT $3"
    ))
    .bind(import)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// The failed rows, in the order of the file.
#[boxed]
pub async fn list_failed(db: Conn<'_>, import: RowId) -> Result<Vec<ImportRow>> {
    db.query(sql!(
        "SELECT r.position, r.entry, r.error FROM import_rows r
         WHERE r.import_id = $1 AND r.error IS NOT NULL
         ORDER BY r.position"
    ))
    .bind(import)
    .all()
    .await
}

/// A reason why rows of an import failed.
#[derive(Clone, Debug, model::Row)]
pub struct FailureReason {
    pub import_id: RowId,
    pub error: String,
    /// How many rows failed with it.
    pub failed: i64,
}

/// The failure reasons of `imports`: at most `most` reasons of each, the most frequent first.
#[boxed]
pub async fn list_reasons(db: Conn<'_>, imports: &[RowId], most: i64) -> Result<Vec<FailureReason>> {
    db.query(sql!(
        "SELECT f.import_id, f.error, f.failed
         FROM (SELECT r.import_id, r.error, COUNT(*) AS failed,
                      ROW_NUMBER() OVER (PARTITION BY r.import_id ORDER BY COUNT(*) DESC, MIN(r.position)) AS place
               FROM import_rows r
               WHERE r.import_id" in("$1") "AND r.error IS NOT NULL
               GROUP BY r.import_id, r.error) f
         WHERE f.place <= $2
         ORDER BY f.import_id, f.place"
    ))
    .bind(Ids::of(imports.iter().copied()))
    .bind(most)
    .all()
    .await
}

/// The keys of `keys` that occur in rows of `list`.
#[boxed]
pub async fn list_named_among(db: Conn<'_>, import: RowId, list: &str, keys: &[String]) -> Result<Vec<String>> {
    db.query(sql!("SELECT r.key FROM import_rows r WHERE r.import_id = $1 AND r.list = $2 AND r.key" in("$3")))
        .bind(import)
        .bind(list.to_owned())
        .bind(Texts::of(keys.iter().cloned()))
        .scalars()
        .await
}

/// True when any row belongs to `list`.
#[boxed]
pub async fn names_list(db: Conn<'_>, import: RowId, list: &str) -> Result<bool> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT r.position FROM import_rows r WHERE r.import_id = $1 AND r.list = $2 LIMIT 1"))
        .bind(import)
        .bind(list.to_owned())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Deletes the rows at the positions `done`, stores the errors of failed rows, and counts both.
#[boxed]
pub async fn settle(tx: &mut Tx, import: RowId, done: &[i64], failed: Vec<(i64, String)>) -> Result<()> {
    tx.query(sql!("DELETE FROM import_rows WHERE import_id = $1 AND position" in("$2")))
        .bind(import)
        .bind(Ids::of(done.iter().copied()))
        .execute()
        .await?;
    tx.query(sql!("UPDATE imports SET done = done + $2, failed = failed + $3 WHERE id = $1"))
        .bind(import)
        .bind(i64::try_from(done.len()).unwrap_or(i64::MAX))
        .bind(i64::try_from(failed.len()).unwrap_or(i64::MAX))
        .execute()
        .await?;
    tx.query(sql!(
        "UPDATE import_rows
         SET error = (SELECT value ->> 1 FROM" rows("$2") "WHERE CAST(value ->> 0 AS BIGINT) = position)
         WHERE import_id = $1 AND position IN (SELECT CAST(value ->> 0 AS BIGINT) FROM" rows("$2") ")"
    ))
    .bind(import)
    .bind(Json(failed))
    .execute()
    .await?;
    Ok(())
}

/// Finishes an import; pending rows fail with `error`.
#[boxed]
pub async fn finish(tx: &mut Tx, import: RowId, error: &str, now: Time) -> Result<()> {
    let rest = tx
        .query(sql!("UPDATE import_rows SET error = $2 WHERE import_id = $1 AND error IS NULL"))
        .bind(import)
        .bind(error.to_owned())
        .execute()
        .await?;
    tx.query(sql!("UPDATE imports SET failed = failed + $2, finished_at = $3 WHERE id = $1"))
        .bind(import)
        .bind(i64::try_from(rest).unwrap_or(i64::MAX))
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Deletes up to `limit` rows of the imports of an account that is being removed, and the imports without rows;
/// returns the total number of rows.
#[boxed]
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    let rows = tx
        .query(sql!(
            "DELETE FROM import_rows
             WHERE (import_id, position) IN (
                 SELECT r.import_id, r.position FROM imports i CROSS JOIN import_rows r
                 WHERE i.account_id = $1 AND r.import_id = i.id LIMIT $2)"
        ))
        .bind(account)
        .bind(limit)
        .execute()
        .await?;
    let imports = tx
        .query(sql!(
            "DELETE FROM imports
             WHERE account_id = $1 AND NOT EXISTS (SELECT 1 FROM import_rows r WHERE r.import_id = imports.id)"
        ))
        .bind(account)
        .execute()
        .await?;
    Ok(rows + imports)
}

/// An account in a relation.
#[derive(Clone, Debug, model::Row)]
pub struct Related {
    /// The id of the relation: the key of the page.
    pub row_id: RowId,
    pub account_id: AccountId,
    pub username: String,
    pub domain: Option<String>,
}

/// A page of a relation of `$1`, after the id `$2`, at most `$3`.
macro_rules! related {
    ($table:literal, $columns:literal $(, $condition:expr)*) => {
        concat!(
            "SELECT x.id AS row_id, a.id AS account_id, a.username, a.domain",
            $columns,
            " FROM ",
            $table,
            " x CROSS JOIN accounts a
             WHERE x.account_id = $1 AND x.id > $2 AND a.id = x.target_account_id",
            $($condition,)*
            " ORDER BY x.id LIMIT $3"
        )
    };
}

/// A followed account, and the options of the follow.
#[derive(Clone, Debug, model::Row)]
pub struct Followed {
    #[row(flatten)]
    pub related: Related,
    pub show_reblogs: bool,
    pub notify: bool,
    pub languages: Option<Json<Vec<String>>>,
}

/// Up to `limit` follows of `account` with ids above `after`, oldest first.
#[boxed]
pub async fn list_follows(db: Conn<'_>, account: AccountId, after: RowId, limit: i64) -> Result<Vec<Followed>> {
    db.query(sql!(related!("follows", ", x.show_reblogs, x.notify, x.languages")))
        .bind(account)
        .bind(after)
        .bind(limit)
        .all()
        .await
}

/// Up to `limit` blocks of `account` with ids above `after`, oldest first.
#[boxed]
pub async fn list_blocks(db: Conn<'_>, account: AccountId, after: RowId, limit: i64) -> Result<Vec<Related>> {
    db.query(sql!(related!("blocks", ""))).bind(account).bind(after).bind(limit).all().await
}

/// Up to `limit` endorsements of `account` with ids above `after`, oldest first.
#[boxed]
pub async fn list_endorsements(db: Conn<'_>, account: AccountId, after: RowId, limit: i64) -> Result<Vec<Related>> {
    db.query(sql!(related!("endorsements", ""))).bind(account).bind(after).bind(limit).all().await
}

/// A muted account.
#[derive(Clone, Debug, model::Row)]
pub struct MutedAccount {
    #[row(flatten)]
    pub related: Related,
    pub hide_notifications: bool,
}

/// Up to `limit` mutes of `account` with ids above `after` that have not expired by `now`, oldest first.
#[boxed]
pub async fn list_mutes(
    db: Conn<'_>,
    account: AccountId,
    after: RowId,
    now: Time,
    limit: i64,
) -> Result<Vec<MutedAccount>> {
    db.query(sql!(related!("mutes", ", x.hide_notifications", " AND ", unexpired!("x", "$4"))))
        .bind(account)
        .bind(after)
        .bind(limit)
        .bind(now)
        .all()
        .await
}

/// The members of a list; the key of each is the account.
#[boxed]
pub async fn list_members(db: Conn<'_>, list: RowId) -> Result<Vec<Related>> {
    db.query(sql!(
        "SELECT m.account_id AS row_id, m.account_id, a.username, a.domain
         FROM list_accounts m CROSS JOIN accounts a
         WHERE m.list_id = $1 AND a.id = m.account_id
         ORDER BY m.account_id"
    ))
    .bind(list)
    .all()
    .await
}

/// A list membership.
#[derive(Clone, Debug, model::Row)]
pub struct Listed {
    pub title: String,
    pub username: String,
    pub domain: Option<String>,
}

/// The members of all lists of `owner`, list by list, the oldest first.
#[boxed]
pub async fn list_listed(db: Conn<'_>, owner: AccountId) -> Result<Vec<Listed>> {
    db.query(sql!(
        "SELECT l.title, a.username, a.domain
         FROM lists l CROSS JOIN list_accounts m CROSS JOIN accounts a
         WHERE l.account_id = $1 AND m.list_id = l.id AND a.id = m.account_id
         ORDER BY l.id, m.account_id"
    ))
    .bind(owner)
    .all()
    .await
}

/// A bookmarked status.
#[derive(Clone, Debug, model::Row)]
pub struct Bookmarked {
    pub row_id: RowId,
    pub status_id: StatusId,
    pub uri: String,
    pub local: bool,
}

/// Up to `limit` bookmarks of `account` with ids above `after`, oldest first.
#[boxed]
pub async fn list_bookmarks(db: Conn<'_>, account: AccountId, after: RowId, limit: i64) -> Result<Vec<Bookmarked>> {
    db.query(sql!(
        "SELECT b.id AS row_id, s.id AS status_id, s.uri, s.local
         FROM bookmarks b CROSS JOIN statuses s
         WHERE b.account_id = $1 AND b.id > $2 AND s.id = b.status_id
         ORDER BY b.id
         LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Up to `limit` domains that `account` blocks, with the ids of the blocks, above `after`, oldest first.
#[boxed]
pub async fn list_domains(db: Conn<'_>, account: AccountId, after: RowId, limit: i64) -> Result<Vec<(RowId, String)>> {
    db.query(sql!(
        "SELECT d.id, d.domain FROM account_domain_blocks d
         WHERE d.account_id = $1 AND d.id > $2
         ORDER BY d.id
         LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

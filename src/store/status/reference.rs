//! References of statuses to others, and their counters.
//!
//! Reached from `service::status` in its transactions, from timelines and from entities. Permission to refer to
//! statuses, and the visibility of references, are not checked here. The quote and its state are columns of the
//! status itself.

use database::sql::Ids;
use database::{Conn, Result, Tx, paged, sql};
use model::{AccountId, Cursor, InteractionPolicy, Json, QuoteState, RowId, StatusId, Time, boxed};

/// A reference of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, model::Row)]
pub struct ReferenceRow {
    /// Used by notifications.
    pub id: RowId,
    /// The status referred to.
    pub target_id: StatusId,
    /// The text contains it; otherwise it came from the request that published the status.
    pub in_text: bool,
}

/// The quote of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub target: StatusId,
    pub state: QuoteState,
}

impl Quote {
    /// True when it is shown and counted.
    #[must_use]
    pub fn is_accepted(self) -> bool {
        self.state == QuoteState::Accepted
    }
}

/// Locks the existing statuses among `ids` in the order of their ids until the transaction ends, against deletion and
/// changes of their counters. Accounts are locked before, as in every transaction that locks both. SQLite has one
/// writer.
#[boxed]
pub async fn lock_statuses(tx: &mut Tx, ids: &[StatusId]) -> Result<Vec<StatusId>> {
    tx.query(sql!(
        sqlite: "SELECT s.id FROM statuses s WHERE s.id" in("$1") "ORDER BY s.id";
        postgres: "SELECT s.id FROM statuses s WHERE s.id" in("$1") "ORDER BY s.id FOR NO KEY UPDATE"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .scalars()
    .await
}

/// Stores the references of `status` in this order. Existing ones keep their ids.
#[boxed]
pub async fn upsert(tx: &mut Tx, status: StatusId, references: &[ReferenceRow]) -> Result<()> {
    let rows: Vec<(RowId, StatusId, usize, u8)> = references
        .iter()
        .enumerate()
        .map(|(position, row)| (row.id, row.target_id, position, u8::from(row.in_text)))
        .collect();
    tx.query(sql!(
        "INSERT INTO status_references (id, target_id, position, in_text, status_id)
         SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT),
                CAST(value ->> 3 AS BIGINT) = 1, CAST($2 AS BIGINT)
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (target_id, status_id) DO UPDATE SET position = excluded.position, in_text = excluded.in_text"
    ))
    .bind(Json(rows))
    .bind(status)
    .execute()
    .await?;
    Ok(())
}

/// Writes to the row of `status` whether it has references, and its quote. The caller increments its version.
#[boxed]
pub async fn set_facts(tx: &mut Tx, status: StatusId, has_references: bool, quote: Option<Quote>) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET has_references = $2, quote_id = $3, quote_state = $4 WHERE id = $1"))
        .bind(status)
        .bind(has_references)
        .bind(quote.map(|quote| quote.target))
        .bind(quote.map(|quote| quote.state))
        .execute()
        .await?;
    Ok(())
}

/// Deletes the references of `status` to `targets`.
#[boxed]
pub async fn delete(tx: &mut Tx, status: StatusId, targets: &[StatusId]) -> Result<()> {
    tx.query(sql!("DELETE FROM status_references WHERE status_id = $1 AND target_id" in("$2")))
        .bind(status)
        .bind(Ids::of(targets.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The references of `status`, in order.
#[boxed]
pub async fn list(db: Conn<'_>, status: StatusId) -> Result<Vec<ReferenceRow>> {
    db.query(sql!(
        "SELECT r.id, r.target_id, r.in_text FROM status_references r WHERE r.status_id = $1 ORDER BY r.position"
    ))
    .bind(status)
    .all()
    .await
}

/// The targets of each of `statuses`, in order: (status, target).
#[boxed]
pub async fn list_targets(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<(StatusId, StatusId)>> {
    db.query(sql!(
        "SELECT r.status_id, r.target_id FROM status_references r WHERE r.status_id" in("$1")
        "ORDER BY r.status_id, r.position"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .all()
    .await
}

/// The references of `statuses` whose targets everyone may read, also on other servers, with rows after `after`, by status
/// and row: (status, row, URI of the target).
#[boxed]
pub async fn list_public(db: Conn<'_>, statuses: &[StatusId], after: RowId) -> Result<Vec<(StatusId, RowId, String)>> {
    db.query(sql!(
        "SELECT r.status_id, r.id, t.uri
         FROM status_references r JOIN statuses t ON t.id = r.target_id JOIN accounts a ON a.id = t.account_id
         WHERE r.id > $2 AND t.visibility IN ('public', 'unlisted', 'public_unlisted') AND NOT t.local_only
           AND a.suspended_at IS NULL AND r.status_id" in("$1") "ORDER BY r.status_id, r.id"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .bind(after)
    .all()
    .await
}

/// A page of the statuses that refer to `target`, newest first.
#[boxed]
pub async fn list_referring(db: Conn<'_>, target: StatusId, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT r.status_id FROM status_references r WHERE r.target_id = $1 AND r.status_id < $2 AND r.status_id > $3",
        by "r.status_id", limit "$4"
    );
    let query = db.query(sql).bind(target).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// A page of the statuses that quote `target`, newest first.
#[boxed]
pub async fn list_quoting(db: Conn<'_>, target: StatusId, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT s.id FROM statuses s
         WHERE s.quote_id = $1 AND s.quote_state = 'accepted' AND s.id < $2 AND s.id > $3",
        by "s.id", limit "$4"
    );
    let query = db.query(sql).bind(target).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// Records that `status` may no longer quote `target`.
#[boxed]
pub async fn insert_revocation(tx: &mut Tx, status: StatusId, target: StatusId, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO quote_revocations (status_id, target_id, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (status_id, target_id) DO NOTHING"
    ))
    .bind(status)
    .bind(target)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The statuses that `status` may no longer quote.
#[boxed]
pub async fn list_revoked(db: Conn<'_>, status: StatusId) -> Result<Vec<StatusId>> {
    db.query(sql!("SELECT r.target_id FROM quote_revocations r WHERE r.status_id = $1")).bind(status).scalars().await
}

/// Adds `by`, which may be negative, to the quote counter of `target`, which does not go below 0.
#[boxed]
pub async fn add_quotes(tx: &mut Tx, target: StatusId, by: i64) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses SET quotes_count = CASE WHEN quotes_count + $2 < 0 THEN 0 ELSE quotes_count + $2 END
         WHERE id = $1"
    ))
    .bind(target)
    .bind(by)
    .execute()
    .await?;
    Ok(())
}

/// Changes the state of the quote of `status`, and increments its version.
#[boxed]
pub async fn set_quote_state(tx: &mut Tx, status: StatusId, state: QuoteState) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET quote_state = $2, version = version + 1 WHERE id = $1"))
        .bind(status)
        .bind(state)
        .execute()
        .await?;
    Ok(())
}

/// Sets who may interact with `status`, and increments its version.
#[boxed]
pub async fn set_policy(tx: &mut Tx, status: StatusId, policy: InteractionPolicy) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET interaction_policy = $2, version = version + 1 WHERE id = $1"))
        .bind(status)
        .bind(policy)
        .execute()
        .await?;
    Ok(())
}

/// The local accounts whose statuses quote `target`, without duplicates.
#[boxed]
pub async fn list_local_quoting(db: Conn<'_>, target: StatusId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT s.account_id FROM statuses s
         WHERE s.quote_id = $1 AND s.quote_state = 'accepted' AND s.local"
    ))
    .bind(target)
    .scalars()
    .await
}

/// The local accounts whose statuses refer to `target`, without duplicates.
#[boxed]
pub async fn list_local_referring(db: Conn<'_>, target: StatusId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT s.account_id FROM status_references r JOIN statuses s ON s.id = r.status_id
         WHERE r.target_id = $1 AND s.local"
    ))
    .bind(target)
    .scalars()
    .await
}

/// Adds `by`, which may be negative, to the reference counters of `targets`, which do not go below 0.
#[boxed]
pub async fn add_counts(tx: &mut Tx, targets: &[StatusId], by: i64) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses SET referred_by_count = CASE WHEN referred_by_count + $2 < 0 THEN 0 ELSE referred_by_count + $2 END
         WHERE id" in("$1")
    ))
    .bind(Ids::of(targets.iter().copied()))
    .bind(by)
    .execute()
    .await?;
    Ok(())
}

/// Ends the quotes of `target`, which is about to be deleted, and gives the statuses that refer to it a new
/// version: their cached renderings contain it. Its rows are deleted with it.
#[boxed]
pub async fn forget_target(tx: &mut Tx, target: StatusId) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses SET quote_state = CASE WHEN quote_id = $1 THEN 'deleted' ELSE quote_state END,
                quote_id = CASE WHEN quote_id = $1 THEN NULL ELSE quote_id END, version = version + 1
         WHERE id IN (SELECT r.status_id FROM status_references r WHERE r.target_id = $1)"
    ))
    .bind(target)
    .execute()
    .await?;
    Ok(())
}

/// The remote statuses with one of these ActivityPub ids or page addresses, as (address, status); excludes reblogs.
#[boxed]
pub async fn list_by_addresses(db: Conn<'_>, addresses: &[String]) -> Result<Vec<(String, StatusId)>> {
    db.query(sql!(
        "SELECT s.uri, s.id FROM statuses s WHERE NOT s.local AND s.reblog_of_id IS NULL AND s.uri" in("$1")
        "UNION ALL
         SELECT s.url, s.id FROM statuses s
         WHERE NOT s.local AND s.url IS NOT NULL AND s.reblog_of_id IS NULL AND s.url" in("$1")
    ))
    .bind(database::sql::Texts::of(addresses.iter().cloned()))
    .all()
    .await
}

/// The authors of `statuses`, as (status, author), in no particular order.
#[boxed]
pub async fn list_authors(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<(StatusId, AccountId)>> {
    db.query(sql!("SELECT s.id, s.account_id FROM statuses s WHERE s.id" in("$1")))
        .bind(Ids::of(statuses.iter().copied()))
        .all()
        .await
}

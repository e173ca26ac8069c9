//! Relationships between accounts: complete relationships for a page of targets, and blocks, mutes, endorsements and
//! private notes.
//!
//! Reached from `service::relationship`, `service::follow` and `entity::relationship`. Follows are in
//! [`follow`](crate::follow). Changes of a block or a mute raise the relations versions of the affected accounts
//! ([`relation_set`]). The caller handles further effects (ended follows, feeds, notifications). Spec:
//! docs/contract/rules.md#9-accounts and docs/contract/rules.md#20-blocks-and-requests.

use crate::relation_set;
use crate::relation_sql::{blocks, blocks_domain, listed, page, suspended, unexpired};
use database::sql::Ids;
use database::{Conn, Result, Tx, paged, sql};
use model::relationship::{Listed, Muted};
use model::{AccountId, Cursor, Json, RowId, Time, boxed};

/// The relationship of a viewer to one target.
#[derive(Clone, Debug, model::Row)]
pub struct RelationshipRow {
    pub id: AccountId,
    pub suspended: bool,
    pub following: bool,
    pub requested: bool,
    /// The option of the follow or the follow request; false without either.
    pub show_reblogs: bool,
    pub notify: bool,
    pub languages: Option<Json<Vec<String>>>,
    pub followed_by: bool,
    pub requested_by: bool,
    pub blocking: bool,
    pub blocked_by: bool,
    pub muting: bool,
    pub hide_notifications: bool,
    /// When the mute ends; `None` without a mute, and for a mute that does not end.
    pub mute_expires_at: Option<Time>,
    pub domain_blocking: bool,
    pub endorsed: bool,
    pub note: String,
}

/// The relationships of `viewer` to the existing accounts in `targets`, in no particular order. Mutes that expired by
/// `now` do not count.
#[boxed]
pub async fn list(db: Conn<'_>, viewer: AccountId, targets: &[AccountId], now: Time) -> Result<Vec<RelationshipRow>> {
    db.query(sql!(
        "SELECT a.id, a.suspended_at IS NOT NULL AS suspended,
                f.id IS NOT NULL AS following, r.id IS NOT NULL AS requested,
                coalesce(f.show_reblogs, r.show_reblogs, FALSE) AS show_reblogs,
                coalesce(f.notify, r.notify, FALSE) AS notify,
                coalesce(f.languages, r.languages) AS languages,
                EXISTS (SELECT 1 FROM follows o WHERE o.account_id = a.id AND o.target_account_id = $2) AS followed_by,
                EXISTS (SELECT 1 FROM follow_requests o WHERE o.account_id = a.id AND o.target_account_id = $2) AS requested_by,
                " blocks!("$2", "a.id") " AS blocking, " blocks!("a.id", "$2") " AS blocked_by,
                m.id IS NOT NULL AS muting, coalesce(m.hide_notifications, FALSE) AS hide_notifications,
                m.expires_at AS mute_expires_at,
                " blocks_domain!("$2", "a.domain") " AS domain_blocking,
                EXISTS (SELECT 1 FROM endorsements e WHERE e.account_id = $2 AND e.target_account_id = a.id) AS endorsed,
                coalesce(n.comment, '') AS note
         FROM accounts a
         LEFT JOIN follows f ON f.account_id = $2 AND f.target_account_id = a.id
         LEFT JOIN follow_requests r ON r.account_id = $2 AND r.target_account_id = a.id
         LEFT JOIN mutes m ON m.account_id = $2 AND m.target_account_id = a.id AND " unexpired!("m", "$3") "
         LEFT JOIN account_notes n ON n.account_id = $2 AND n.target_account_id = a.id
         WHERE a.id" in("$1")
    ))
    .bind(Ids::of(targets.iter().copied()))
    .bind(viewer)
    .bind(now)
    .all()
    .await
}

/// True when `account` blocks `target`.
#[boxed]
pub async fn blocks(db: Conn<'_>, account: AccountId, target: AccountId) -> Result<bool> {
    Ok(find_block(db, account, target).await?.is_some())
}

/// The row of the block of `target` by `account`.
#[boxed]
pub async fn find_block(db: Conn<'_>, account: AccountId, target: AccountId) -> Result<Option<RowId>> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM blocks WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Stores the URI of the activity that made a block.
#[boxed]
pub async fn set_block_uri(tx: &mut Tx, account: AccountId, target: AccountId, uri: &str) -> Result<()> {
    tx.query(sql!("UPDATE blocks SET uri = $3 WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .bind(uri.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// The account that `account` blocks by the activity `uri`.
#[boxed]
pub async fn find_block_by_uri(db: Conn<'_>, account: AccountId, uri: &str) -> Result<Option<AccountId>> {
    let row: Option<(AccountId,)> = db
        .query(sql!("SELECT target_account_id FROM blocks WHERE account_id = $1 AND uri = $2"))
        .bind(account)
        .bind(uri.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(target,)| target))
}

/// A relation that consists only of a pair of accounts; each is a separate table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    Block,
    Endorsement,
}

/// Inserts a block or endorsement; false when it exists already.
#[boxed]
pub async fn insert(
    tx: &mut Tx,
    relation: Pair,
    id: RowId,
    account: AccountId,
    target: AccountId,
    now: Time,
) -> Result<bool> {
    macro_rules! into {
        ($table:literal) => {
            sql!(
                "INSERT INTO " $table " (id, account_id, target_account_id, created_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (account_id, target_account_id) DO NOTHING"
            )
        };
    }
    let sql = match relation {
        Pair::Block => into!("blocks"),
        Pair::Endorsement => into!("endorsements"),
    };
    let inserted = tx.query(sql).bind(id).bind(account).bind(target).bind(now).execute().await? > 0;
    if inserted && relation == Pair::Block {
        relation_set::raise(tx, &[account, target]).await?;
    }
    Ok(inserted)
}

/// A relation that ends when its row is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Block,
    Endorsement,
    Mute,
}

/// Deletes a relation of `account` to `target`; false when there was none.
#[boxed]
pub async fn delete(tx: &mut Tx, relation: Relation, account: AccountId, target: AccountId) -> Result<bool> {
    macro_rules! from {
        ($table:literal) => {
            sql!("DELETE FROM " $table " WHERE account_id = $1 AND target_account_id = $2")
        };
    }
    let sql = match relation {
        Relation::Block => from!("blocks"),
        Relation::Endorsement => from!("endorsements"),
        Relation::Mute => from!("mutes"),
    };
    let deleted = tx.query(sql).bind(account).bind(target).execute().await? > 0;
    if deleted {
        match relation {
            Relation::Block => relation_set::raise(tx, &[account, target]).await?,
            Relation::Mute => relation_set::raise(tx, &[account]).await?,
            Relation::Endorsement => {}
        }
    }
    Ok(deleted)
}

/// A page of the accounts that `account` blocks, newest block first. Suspended accounts are marked as hidden.
#[boxed]
pub async fn list_blocks(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let sql = listed!(cursor, "blocks", "account_id" => "target_account_id", hidden [suspended!()]);
    Ok(cursor.newest_first(page(db, sql, account, cursor).all().await?))
}

/// A page of the accounts that `account` endorses, by their ids. Suspended accounts are marked as hidden, and so are
/// accounts that block `viewer` or are blocked by it.
#[boxed]
pub async fn list_endorsements(
    db: Conn<'_>,
    account: AccountId,
    viewer: Option<AccountId>,
    cursor: &Cursor,
) -> Result<Vec<Listed>> {
    let sql = paged!(
        cursor,
        "SELECT e.target_account_id AS row_id, e.target_account_id AS account_id, a.version,
                (" suspended!() " OR " blocks!("$5", "a.id") " OR " blocks!("a.id", "$5") ") AS hidden
         FROM endorsements e
         JOIN accounts a ON a.id = e.target_account_id
         WHERE e.account_id = $1 AND e.target_account_id < $2 AND e.target_account_id > $3",
        by "e.target_account_id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit).bind(viewer);
    Ok(cursor.newest_first(query.all().await?))
}

/// An account that the viewer follows and that follows `target`.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct FamiliarFollower {
    pub target: AccountId,
    pub account: AccountId,
    pub version: i64,
}

/// Accounts that `viewer` follows and that follow each of `targets`, up to `most` per target, by id. None for a
/// target that hides its collections, and none that hide their own.
///
/// `CROSS JOIN`: SQLite starts with the viewer's follows, whose number is bounded, and not with a target's followers.
#[boxed]
pub async fn list_familiar_followers(
    db: Conn<'_>,
    viewer: AccountId,
    targets: &[AccountId],
    most: i64,
) -> Result<Vec<FamiliarFollower>> {
    db.query(sql!(
        "SELECT x.target, x.account, x.version
         FROM (SELECT t.id AS target, a.id AS account, a.version,
                      ROW_NUMBER() OVER (PARTITION BY t.id ORDER BY a.id) AS place
               FROM follows m
               CROSS JOIN follows f
               JOIN accounts a ON a.id = f.account_id
               JOIN accounts t ON t.id = f.target_account_id
               WHERE m.account_id = $1 AND f.account_id = m.target_account_id AND f.target_account_id" in("$2") "
                 AND t.hide_collections IS NOT TRUE AND a.hide_collections IS NOT TRUE AND a.suspended_at IS NULL) x
         WHERE x.place <= $3
         ORDER BY x.target, x.account"
    ))
    .bind(viewer)
    .bind(Ids::of(targets.iter().copied()))
    .bind(most)
    .all()
    .await
}

/// A new mute, or new options of an existing mute.
#[derive(Debug)]
pub struct NewMute {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub hide_notifications: bool,
    pub expires_at: Option<Time>,
    pub now: Time,
}

/// Inserts a mute, or changes the options of the existing mute (upsert).
#[boxed]
pub async fn set_mute(tx: &mut Tx, mute: NewMute) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account_id, target_account_id)
         DO UPDATE SET hide_notifications = excluded.hide_notifications, expires_at = excluded.expires_at"
    ))
    .bind(mute.id)
    .bind(mute.account_id)
    .bind(mute.target_account_id)
    .bind(mute.hide_notifications)
    .bind(mute.expires_at)
    .bind(mute.now)
    .execute()
    .await?;
    relation_set::raise(tx, &[mute.account_id]).await
}

/// Deletes a mute if it expired by `now`; false when there is none, or it has not expired.
#[boxed]
pub async fn delete_expired_mute(tx: &mut Tx, account: AccountId, target: AccountId, now: Time) -> Result<bool> {
    let done = tx
        .query(sql!("DELETE FROM mutes WHERE account_id = $1 AND target_account_id = $2 AND expires_at <= $3"))
        .bind(account)
        .bind(target)
        .bind(now)
        .execute()
        .await?;
    if done > 0 {
        relation_set::raise(tx, &[account]).await?;
    }
    Ok(done > 0)
}

/// A page of the accounts that `account` mutes, newest mute first. Suspended accounts are marked as hidden; mutes
/// that expired by `now` are excluded.
#[boxed]
pub async fn list_mutes(db: Conn<'_>, account: AccountId, cursor: &Cursor, now: Time) -> Result<Vec<Muted>> {
    let sql = listed!(
        cursor, "mutes", "account_id" => "target_account_id", hidden [suspended!()],
        columns [", x.expires_at"], where [" AND " unexpired!("x", "$5")]
    );
    Ok(cursor.newest_first(page(db, sql, account, cursor).bind(now).all().await?))
}

/// Removes `target` from every list of `account`.
#[boxed]
pub async fn delete_list_entries(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    tx.query(sql!(
        "DELETE FROM list_accounts
         WHERE account_id = $2 AND list_id IN (SELECT id FROM lists WHERE lists.account_id = $1)"
    ))
    .bind(account)
    .bind(target)
    .execute()
    .await?;
    Ok(())
}

/// Stores the private note of `account` about `target`; an empty text deletes it.
#[boxed]
pub async fn set_note(tx: &mut Tx, account: AccountId, target: AccountId, comment: &str) -> Result<()> {
    if comment.is_empty() {
        tx.query(sql!("DELETE FROM account_notes WHERE account_id = $1 AND target_account_id = $2"))
            .bind(account)
            .bind(target)
            .execute()
            .await?;
        return Ok(());
    }
    tx.query(sql!(
        "INSERT INTO account_notes (account_id, target_account_id, comment) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, target_account_id) DO UPDATE SET comment = excluded.comment"
    ))
    .bind(account)
    .bind(target)
    .bind(comment.to_owned())
    .execute()
    .await?;
    Ok(())
}

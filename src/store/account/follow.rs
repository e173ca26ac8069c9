//! Follows and follow requests.
//!
//! Reached from `service::follow`, which locks both accounts first (`account::lock`). Beginning or ending a follow
//! raises the follower's relations version ([`relation_set`]). The caller updates counters, feeds, notifications and
//! events. Spec: docs/contract/rules.md#9-accounts and docs/contract/rules.md#20-blocks-and-requests.

use crate::relation_set;
use crate::relation_sql::{blocks, blocks_domain, listed, mutes, page, suspended};
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::relationship::Listed;
use model::{AccountId, Cursor, Json, RowId, Time, boxed};

/// The options of a follow: the parameters of the `follow` action.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct Terms {
    /// Reblogs are shown on the home timeline.
    pub show_reblogs: bool,
    /// Each new status creates a notification.
    pub notify: bool,
    /// Only statuses in these languages are shown; `None`: all languages.
    pub languages: Option<Json<Vec<String>>>,
}

/// A new follow or follow request.
#[derive(Debug)]
pub struct NewFollow {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub terms: Terms,
    /// The activity, if it came from another server.
    pub uri: Option<String>,
    pub now: Time,
}

/// A follow, or a request for one: two tables with the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowTable {
    Follow,
    /// Follow requests.
    Request,
}

/// Inserts a follow or follow request; false when it exists already. The counters are not changed.
#[boxed]
pub async fn insert(tx: &mut Tx, table: FollowTable, new: NewFollow) -> Result<bool> {
    macro_rules! into {
        ($table:literal) => {
            sql!(
                "INSERT INTO " $table " (id, account_id, target_account_id, show_reblogs, notify, languages, created_at, uri)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                 ON CONFLICT (account_id, target_account_id) DO NOTHING"
            )
        };
    }
    let sql = match table {
        FollowTable::Follow => into!("follows"),
        FollowTable::Request => into!("follow_requests"),
    };
    let follower = new.account_id;
    let done = tx
        .query(sql)
        .bind(new.id)
        .bind(follower)
        .bind(new.target_account_id)
        .bind(new.terms.show_reblogs)
        .bind(new.terms.notify)
        .bind(new.terms.languages)
        .bind(new.now)
        .bind(new.uri)
        .execute()
        .await?;
    if done > 0 && table == FollowTable::Follow {
        relation_set::raise(tx, &[follower]).await?;
    }
    Ok(done > 0)
}

/// Changes the options of a follow or follow request.
#[boxed]
pub async fn update(
    tx: &mut Tx,
    table: FollowTable,
    account: AccountId,
    target: AccountId,
    terms: Terms,
) -> Result<()> {
    macro_rules! of {
        ($table:literal) => {
            sql!(
                "UPDATE " $table " SET show_reblogs = $3, notify = $4, languages = $5
                 WHERE account_id = $1 AND target_account_id = $2"
            )
        };
    }
    let sql = match table {
        FollowTable::Follow => of!("follows"),
        FollowTable::Request => of!("follow_requests"),
    };
    tx.query(sql)
        .bind(account)
        .bind(target)
        .bind(terms.show_reblogs)
        .bind(terms.notify)
        .bind(terms.languages)
        .execute()
        .await?;
    Ok(())
}

/// A follow or follow request that was deleted.
#[derive(Debug, model::Row)]
pub struct Ended {
    pub id: RowId,
    /// The activity of a follow that came from another server.
    pub uri: Option<String>,
    #[row(flatten)]
    pub terms: Terms,
}

/// Deletes a follow or follow request and returns it; `None` when it does not exist. The counters are not changed.
#[boxed]
pub async fn delete(tx: &mut Tx, table: FollowTable, account: AccountId, target: AccountId) -> Result<Option<Ended>> {
    macro_rules! from {
        ($table:literal) => {
            sql!(
                "DELETE FROM " $table " WHERE account_id = $1 AND target_account_id = $2
                 RETURNING id, uri, show_reblogs, notify, languages"
            )
        };
    }
    let sql = match table {
        FollowTable::Follow => from!("follows"),
        FollowTable::Request => from!("follow_requests"),
    };
    let ended = tx.query(sql).bind(account).bind(target).optional().await?;
    if ended.is_some() && table == FollowTable::Follow {
        relation_set::raise(tx, &[account]).await?;
    }
    Ok(ended)
}

/// Stores the URI of the activity that made a follow or follow request.
#[boxed]
pub async fn set_uri(tx: &mut Tx, account: AccountId, target: AccountId, uri: &str) -> Result<()> {
    for sql in [
        sql!("UPDATE follows SET uri = $3 WHERE account_id = $1 AND target_account_id = $2"),
        sql!("UPDATE follow_requests SET uri = $3 WHERE account_id = $1 AND target_account_id = $2"),
    ] {
        tx.query(sql).bind(account).bind(target).bind(uri.to_owned()).execute().await?;
    }
    Ok(())
}

/// True when `account` follows `target`.
#[boxed]
pub async fn exists(db: Conn<'_>, account: AccountId, target: AccountId) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM follows WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// A page of the follow requests to `target`, newest first, over the index `follow_requests_target`. Suspended accounts
/// are marked as hidden.
#[boxed]
pub async fn list_requests(db: Conn<'_>, target: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let sql = listed!(cursor, "follow_requests", "target_account_id" => "account_id", hidden [suspended!()]);
    Ok(cursor.newest_first(page(db, sql, target, cursor).all().await?))
}

/// Up to `limit` accounts whose follow requests are accepted when `target` is no longer locked, oldest request first:
/// neither limited nor suspended accounts.
#[boxed]
pub async fn list_acceptable(db: Conn<'_>, target: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT r.account_id
         FROM follow_requests r
         JOIN accounts a ON a.id = r.account_id
         WHERE r.target_account_id = $1 AND a.limited_at IS NULL AND a.suspended_at IS NULL
         ORDER BY r.id
         LIMIT $2"
    ))
    .bind(target)
    .bind(limit)
    .scalars()
    .await
}

/// SQL condition: account `a` must not be shown to viewer `$5` at the time `$6`. It is suspended, blocked or muted by the
/// viewer, blocks the viewer, or belongs to a domain that the viewer blocks. Without a viewer (NULL) only suspension
/// counts.
macro_rules! hidden {
    () => {
        concat!(
            "(",
            suspended!(),
            " OR ",
            blocks!("$5", "a.id"),
            " OR ",
            blocks!("a.id", "$5"),
            " OR ",
            mutes!("$5", "a.id", "$6"),
            " OR ",
            blocks_domain!("$5", "a.domain"),
            ")"
        )
    };
}

/// A page of the followers of `account`, newest follow first, each with whether it must be hidden from `viewer`
/// (`None`: an anonymous viewer). Over the index `follows_target`.
#[boxed]
pub async fn list_followers(
    db: Conn<'_>,
    account: AccountId,
    viewer: Option<AccountId>,
    cursor: &Cursor,
    now: Time,
) -> Result<Vec<Listed>> {
    let sql = listed!(cursor, "follows", "target_account_id" => "account_id", hidden [hidden!()]);
    Ok(cursor.newest_first(page(db, sql, account, cursor).bind(viewer).bind(now).all().await?))
}

/// A page of the accounts that `account` follows, as [`list_followers`]. Over the index `follows_account`.
#[boxed]
pub async fn list_following(
    db: Conn<'_>,
    account: AccountId,
    viewer: Option<AccountId>,
    cursor: &Cursor,
    now: Time,
) -> Result<Vec<Listed>> {
    let sql = listed!(cursor, "follows", "account_id" => "target_account_id", hidden [hidden!()]);
    Ok(cursor.newest_first(page(db, sql, account, cursor).bind(viewer).bind(now).all().await?))
}

/// The accounts of `among` that follow `target`, in no particular order.
#[boxed]
pub async fn list_followers_among(db: Conn<'_>, target: AccountId, among: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT f.account_id FROM follows f WHERE f.target_account_id = $1 AND f.account_id" in("$2")))
        .bind(target)
        .bind(Ids::of(among.iter().copied()))
        .scalars()
        .await
}

/// The follows of `followers` whose targets are among `targets`, as (follower, target), in no particular order.
#[boxed]
pub async fn list_pairs(
    db: Conn<'_>,
    followers: &[AccountId],
    targets: &[AccountId],
) -> Result<Vec<(AccountId, AccountId)>> {
    db.query(sql!(
        "SELECT f.account_id, f.target_account_id FROM follows f
         WHERE f.account_id" in("$1") "AND f.target_account_id" in("$2")
    ))
    .bind(Ids::of(followers.iter().copied()))
    .bind(Ids::of(targets.iter().copied()))
    .all()
    .await
}

/// The accounts of this server among `among` that do not follow `target`, in no particular order.
#[boxed]
pub async fn list_strangers_among(db: Conn<'_>, target: AccountId, among: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id FROM accounts a
         WHERE a.id" in("$2") "AND a.domain IS NULL
           AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.account_id = a.id AND f.target_account_id = $1)"
    ))
    .bind(target)
    .bind(Ids::of(among.iter().copied()))
    .scalars()
    .await
}

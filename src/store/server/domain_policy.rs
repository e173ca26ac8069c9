//! The policy about other servers: blocked and allowed domains, and the accounts that a change of it concerns.
//!
//! Reached from `context::Cx`, which keeps the policy in memory, and from `service::domain_decision`. The published
//! list of blocks is in [`instance`](crate::instance), the blocks of single people in
//! [`domain_block`](crate::domain_block).
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use crate::remote_media_mode;
use database::sql::{Ids, Texts};
use database::{Conn, Db, Result, Tx, paged, sql};
use model::domain_policy::{DomainPolicy, Flags, Rule};
use model::instance::Severity;
use model::row::Binder;
use model::{AccountId, Cursor, RowId, StatusId, Time, boxed};

/// A blocked domain.
#[derive(Clone, Debug, PartialEq, model::Row)]
pub struct Block {
    pub id: RowId,
    pub domain: String,
    pub severity: Severity,
    #[row(flatten)]
    pub flags: Flags,
    pub obfuscate: bool,
    pub hidden: bool,
    pub private_comment: Option<String>,
    pub public_comment: Option<String>,
    pub created_at: Time,
}

/// A domain that limited federation admits.
#[derive(Clone, Debug, PartialEq, model::Row)]
pub struct Allow {
    pub id: RowId,
    pub domain: String,
    pub created_at: Time,
}

/// The columns of [`Block`].
macro_rules! block_columns {
    () => {
        "b.id, b.domain, b.severity, b.reject_media, b.reject_reports, b.reject_favourite, b.reject_reply_exclude_followers,
         b.reject_hashtag, b.reject_straight_follow, b.reject_new_follow, b.reject_friend, b.reject_send_sensitive,
         b.block_trends, b.detect_invalid_subscription, b.obfuscate, b.hidden, b.private_comment, b.public_comment,
         b.created_at"
    };
}

/// All blocks, by domain.
#[boxed]
pub async fn list_blocks(db: Conn<'_>) -> Result<Vec<Block>> {
    db.query(sql!("SELECT " block_columns!() " FROM domain_blocks b ORDER BY b.domain")).all().await
}

/// A page of the blocks, newest first.
#[boxed]
pub async fn list_blocks_page(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<Block>> {
    let sql = paged!(
        cursor,
        "SELECT " block_columns!() " FROM domain_blocks b WHERE b.id < $1 AND b.id > $2",
        by "b.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// A page of the allows, newest first.
#[boxed]
pub async fn list_allows_page(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<Allow>> {
    let sql = paged!(
        cursor,
        "SELECT w.id, w.domain, w.created_at FROM domain_allows w WHERE w.id < $1 AND w.id > $2",
        by "w.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find_block(db: Conn<'_>, id: RowId) -> Result<Option<Block>> {
    db.query(sql!("SELECT " block_columns!() " FROM domain_blocks b WHERE b.id = $1")).bind(id).optional().await
}

/// The blocks of exactly these domains, in no order.
#[boxed]
pub async fn list_of_domains(db: Conn<'_>, domains: &[&str]) -> Result<Vec<Block>> {
    db.query(sql!("SELECT " block_columns!() " FROM domain_blocks b WHERE b.domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .all()
        .await
}

#[boxed]
pub async fn find_allow(db: Conn<'_>, id: RowId) -> Result<Option<Allow>> {
    db.query(sql!("SELECT w.id, w.domain, w.created_at FROM domain_allows w WHERE w.id = $1")).bind(id).optional().await
}

/// The allow of exactly this domain.
#[boxed]
pub async fn find_allow_of(db: Conn<'_>, domain: &str) -> Result<Option<Allow>> {
    db.query(sql!("SELECT w.id, w.domain, w.created_at FROM domain_allows w WHERE w.domain = $1"))
        .bind(domain.to_owned())
        .optional()
        .await
}

/// All allows, by domain.
#[boxed]
pub async fn list_allows(db: Conn<'_>) -> Result<Vec<Allow>> {
    db.query(sql!("SELECT w.id, w.domain, w.created_at FROM domain_allows w ORDER BY w.domain")).all().await
}

/// The whole policy.
#[boxed]
pub async fn load(db: &Db) -> Result<DomainPolicy> {
    let blocks = list_blocks(db).await?.into_iter().map(|block| {
        let rule = Rule { severity: block.severity, flags: block.flags, blocked_at: Some(block.created_at) };
        (block.domain, rule)
    });
    let allows = list_allows(db).await?.into_iter().map(|allow| allow.domain);
    let modes = remote_media_mode::list(db).await?.into_iter().map(|row| (row.domain, row.mode));
    Ok(DomainPolicy::new(blocks, allows).with_media_modes(modes))
}

/// The insert of a [`Block`], whose values [`bind_block`] binds.
macro_rules! insert_block {
    () => {
        "INSERT INTO domain_blocks
             (id, domain, severity, reject_media, reject_reports, reject_favourite, reject_reply_exclude_followers,
              reject_hashtag, reject_straight_follow, reject_new_follow, reject_friend, reject_send_sensitive,
              block_trends, detect_invalid_subscription, obfuscate, hidden, private_comment, public_comment, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"
    };
}

/// After an insert of blocks: what it replaces in the block of a domain that is blocked already.
macro_rules! replace_block {
    () => {
        " ON CONFLICT (domain) DO UPDATE
         SET severity = excluded.severity, reject_media = excluded.reject_media,
             reject_reports = excluded.reject_reports, reject_favourite = excluded.reject_favourite,
             reject_reply_exclude_followers = excluded.reject_reply_exclude_followers,
             reject_hashtag = excluded.reject_hashtag, reject_straight_follow = excluded.reject_straight_follow,
             reject_new_follow = excluded.reject_new_follow, reject_friend = excluded.reject_friend,
             reject_send_sensitive = excluded.reject_send_sensitive, block_trends = excluded.block_trends,
             detect_invalid_subscription = excluded.detect_invalid_subscription, obfuscate = excluded.obfuscate,
             hidden = excluded.hidden, private_comment = excluded.private_comment,
             public_comment = excluded.public_comment"
    };
}
pub(super) use replace_block;

fn bind_block<B: Binder>(binder: B, block: &Block) -> B {
    let flags = &block.flags;
    binder
        .value(block.id)
        .value(block.domain.clone())
        .value(block.severity)
        .value(flags.reject_media)
        .value(flags.reject_reports)
        .value(flags.reject_favourite)
        .value(flags.reject_reply_exclude_followers)
        .value(flags.reject_hashtag)
        .value(flags.reject_straight_follow)
        .value(flags.reject_new_follow)
        .value(flags.reject_friend)
        .value(flags.reject_send_sensitive)
        .value(flags.block_trends)
        .value(flags.detect_invalid_subscription)
        .value(block.obfuscate)
        .value(block.hidden)
        .value(block.private_comment.clone())
        .value(block.public_comment.clone())
        .value(block.created_at)
}

/// Inserts a block; false when its domain is blocked already.
#[boxed]
pub async fn insert_block(tx: &mut Tx, block: &Block) -> Result<bool> {
    let query = tx.query(sql!(insert_block!() " ON CONFLICT (domain) DO NOTHING"));
    Ok(bind_block(query, block).execute().await? > 0)
}

/// Inserts a block, or replaces the block of its domain, which keeps its id and time. Returns the stored id and time.
#[boxed]
pub async fn upsert_block(tx: &mut Tx, block: &Block) -> Result<(RowId, Time)> {
    let query = tx.query(sql!(insert_block!() replace_block!() " RETURNING id, created_at"));
    bind_block(query, block).one().await
}

/// Deletes the block of `domain`; returns when it was made, `None` when there is none.
#[boxed]
pub async fn delete_block(tx: &mut Tx, domain: &str) -> Result<Option<Time>> {
    let deleted: Option<(Time,)> = tx
        .query(sql!("DELETE FROM domain_blocks WHERE domain = $1 RETURNING created_at"))
        .bind(domain.to_owned())
        .optional()
        .await?;
    Ok(deleted.map(|(created_at,)| created_at))
}

/// Inserts an allow; false when the domain is allowed already.
#[boxed]
pub async fn insert_allow(tx: &mut Tx, allow: &Allow) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO domain_allows (id, domain, created_at) VALUES ($1, $2, $3) ON CONFLICT (domain) DO NOTHING"
        ))
        .bind(allow.id)
        .bind(allow.domain.clone())
        .bind(allow.created_at)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Deletes an allow; false when there is none.
#[boxed]
pub async fn delete_allow(tx: &mut Tx, domain: &str) -> Result<bool> {
    let deleted =
        tx.query(sql!("DELETE FROM domain_allows WHERE domain = $1")).bind(domain.to_owned()).execute().await?;
    Ok(deleted > 0)
}

/// The domains of remote accounts after `after`, in order, up to `limit`. Each is one look-up in the index of domains,
/// however many accounts it has.
#[boxed]
pub async fn list_hosts(db: Conn<'_>, after: &str, limit: i64) -> Result<Vec<String>> {
    db.query(sql!(
        "WITH RECURSIVE hosts (domain) AS (
             SELECT (SELECT MIN(a.domain) FROM accounts a WHERE a.domain > $1)
             UNION ALL
             SELECT (SELECT MIN(a.domain) FROM accounts a WHERE a.domain > h.domain)
             FROM hosts h WHERE h.domain IS NOT NULL)
         SELECT h.domain FROM hosts h WHERE h.domain IS NOT NULL LIMIT $2"
    ))
    .bind(after.to_owned())
    .bind(limit)
    .scalars()
    .await
}

/// The accounts of `host` with ids above `after`, by id, up to `limit`.
#[boxed]
pub async fn list_accounts(db: Conn<'_>, host: &str, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT a.id FROM accounts a WHERE a.domain = $1 AND a.id > $2 ORDER BY a.id LIMIT $3"))
        .bind(host.to_owned())
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// Some pairs of a local account and one of the remote accounts `remote` with a follow or follow request between them,
/// without duplicates. `limit` bounds the number of read rows, as in [`removal::list_related`](crate::removal::list_related).
#[boxed]
pub async fn list_follow_pairs(db: Conn<'_>, remote: &[AccountId], limit: i64) -> Result<Vec<(AccountId, AccountId)>> {
    let mut pairs: Vec<(AccountId, AccountId)> = db
        .query(sql!(
            "SELECT f.account_id AS own, f.target_account_id AS other FROM follows f WHERE f.target_account_id" in("$1") "
             UNION ALL SELECT f.target_account_id, f.account_id FROM follows f WHERE f.account_id" in("$1") "
             UNION ALL SELECT r.account_id, r.target_account_id FROM follow_requests r WHERE r.target_account_id" in("$1") "
             UNION ALL SELECT r.target_account_id, r.account_id FROM follow_requests r WHERE r.account_id" in("$1") "
             LIMIT $2"
        ))
        .bind(Ids::of(remote.iter().copied()))
        .bind(limit)
        .all()
        .await?;
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

/// Forgets the pictures of the accounts `ids` and up to `limit` attachments of their statuses, which are on other servers.
/// Returns how many rows changed.
#[boxed]
pub async fn clear_media(tx: &mut Tx, ids: &[AccountId], limit: i64) -> Result<u64> {
    let profiles = tx
        .query(sql!(
            "UPDATE accounts SET avatar_remote_url = NULL, header_remote_url = NULL, version = version + 1
             WHERE id" in("$1") "AND domain IS NOT NULL
               AND (avatar_remote_url IS NOT NULL OR header_remote_url IS NOT NULL)"
        ))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    let of: Vec<Option<StatusId>> = tx
        .query(sql!(
            "DELETE FROM media_attachments
             WHERE id IN (SELECT m.id FROM media_attachments m
                          WHERE m.account_id" in("$1") "AND m.remote_url IS NOT NULL ORDER BY m.id LIMIT $2)
             RETURNING status_id"
        ))
        .bind(Ids::of(ids.iter().copied()))
        .bind(limit)
        .scalars()
        .await?;
    let statuses: Vec<StatusId> = of.iter().copied().flatten().collect();
    tx.query(sql!("UPDATE statuses SET has_media = FALSE, version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(statuses.iter().copied()))
        .execute()
        .await?;
    Ok(profiles + of.len() as u64)
}

/// Sets or lifts the suspension of accounts.
#[boxed]
pub async fn set_suspended(tx: &mut Tx, ids: &[AccountId], suspended_at: Option<Time>) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET suspended_at = $2, version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .bind(suspended_at)
        .execute()
        .await?;
    Ok(())
}

/// Sets or lifts the limit of accounts.
#[boxed]
pub async fn set_limited(tx: &mut Tx, ids: &[AccountId], limited_at: Option<Time>) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET limited_at = $2, version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .bind(limited_at)
        .execute()
        .await?;
    Ok(())
}

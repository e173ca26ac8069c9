//! Many blocks and allows in one statement, and counts of the known accounts of their domains.
//!
//! Reached from `service::domain_list`, which passes at most some thousand rows at a time. Single ones are in
//! [`domain_policy`](crate::domain_policy).
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use serde_json::{Value, json};

use crate::domain_policy::{Allow, Block, replace_block};
use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::{Json, Time, boxed};

/// The values of `insert_blocks`: flags are `"1"` or `"0"`, which both engines compare in the same way.
fn block_row(block: &Block) -> Value {
    let flags = &block.flags;
    let bit = |set: bool| if set { "1" } else { "0" };
    json!([
        i64::from(block.id),
        block.domain,
        block.severity,
        bit(flags.reject_media),
        bit(flags.reject_reports),
        bit(flags.reject_favourite),
        bit(flags.reject_reply_exclude_followers),
        bit(flags.reject_hashtag),
        bit(flags.reject_straight_follow),
        bit(flags.reject_new_follow),
        bit(flags.reject_friend),
        bit(flags.reject_send_sensitive),
        bit(flags.block_trends),
        bit(flags.detect_invalid_subscription),
        bit(block.obfuscate),
        bit(block.hidden),
        block.private_comment,
        block.public_comment,
    ])
}

/// The insert of many blocks, without its list of rows.
macro_rules! insert_blocks {
    () => {
        "INSERT INTO domain_blocks
             (id, domain, severity, reject_media, reject_reports, reject_favourite, reject_reply_exclude_followers,
              reject_hashtag, reject_straight_follow, reject_new_follow, reject_friend, reject_send_sensitive,
              block_trends, detect_invalid_subscription, obfuscate, hidden, private_comment, public_comment, created_at)
         SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, value ->> 2, value ->> 3 = '1', value ->> 4 = '1',
                value ->> 5 = '1', value ->> 6 = '1', value ->> 7 = '1', value ->> 8 = '1', value ->> 9 = '1',
                value ->> 10 = '1', value ->> 11 = '1', value ->> 12 = '1', value ->> 13 = '1', value ->> 14 = '1',
                value ->> 15 = '1', value ->> 16, value ->> 17, $2
         FROM "
    };
}

/// Inserts blocks that were made at `now`, except those whose domain is blocked; returns how many.
#[boxed]
pub async fn insert_blocks(tx: &mut Tx, blocks: &[Block], now: Time) -> Result<u64> {
    let rows: Vec<Value> = blocks.iter().map(block_row).collect();
    tx.query(sql!(insert_blocks!() rows("$1") " WHERE TRUE ON CONFLICT (domain) DO NOTHING"))
        .bind(Json(rows))
        .bind(now)
        .execute()
        .await
}

/// Replaces the blocks of these domains, which keep their ids and times.
#[boxed]
pub async fn replace_blocks(tx: &mut Tx, blocks: &[Block], now: Time) -> Result<()> {
    let rows: Vec<Value> = blocks.iter().map(block_row).collect();
    tx.query(sql!(insert_blocks!() rows("$1") " WHERE TRUE" replace_block!()))
        .bind(Json(rows))
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Locks the blocks of these domains until the transaction ends.
#[boxed]
pub async fn lock_blocks(tx: &mut Tx, domains: &[&str]) -> Result<()> {
    let _: Vec<(String,)> = tx
        .query(sql!(
            sqlite: "SELECT b.domain FROM domain_blocks b WHERE b.domain" in("$1");
            postgres: "SELECT b.domain FROM domain_blocks b WHERE b.domain" in("$1") "ORDER BY b.domain FOR UPDATE"
        ))
        .bind(Texts::of(domains.iter().copied()))
        .all()
        .await?;
    Ok(())
}

/// Inserts allows, except those whose domain is allowed; returns how many.
#[boxed]
pub async fn insert_allows(tx: &mut Tx, allows: &[Allow], now: Time) -> Result<u64> {
    let rows: Vec<Value> = allows.iter().map(|allow| json!([i64::from(allow.id), allow.domain])).collect();
    tx.query(sql!(
        "INSERT INTO domain_allows (id, domain, created_at)
         SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, $2 FROM " rows("$1")
        " WHERE TRUE ON CONFLICT (domain) DO NOTHING"
    ))
    .bind(Json(rows))
    .bind(now)
    .execute()
    .await
}

/// The number of accounts of each of these hosts.
#[boxed]
pub async fn count_accounts(db: Conn<'_>, hosts: &[&str]) -> Result<Vec<(String, i64)>> {
    db.query(sql!("SELECT a.domain, COUNT(*) FROM accounts a WHERE a.domain" in("$1") "GROUP BY a.domain"))
        .bind(Texts::of(hosts.iter().copied()))
        .all()
        .await
}

/// The number of media attachments of the accounts of each of these hosts.
#[boxed]
pub async fn count_media(db: Conn<'_>, hosts: &[&str]) -> Result<Vec<(String, i64)>> {
    db.query(sql!(
        "SELECT a.domain, COUNT(*) FROM accounts a JOIN media_attachments m ON m.account_id = a.id
         WHERE a.domain" in("$1") "GROUP BY a.domain"
    ))
    .bind(Texts::of(hosts.iter().copied()))
    .all()
    .await
}

/// The follows between the accounts of a host and accounts here.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct FollowCount {
    pub domain: String,
    /// In both directions.
    pub follows: i64,
    /// How many accounts here have one.
    pub people: i64,
}

/// Both directions of the follows of the remote accounts of hosts: `domain`, `own`.
macro_rules! follows_of_hosts {
    () => {
        "SELECT a.domain, f.account_id AS own FROM accounts a JOIN follows f ON f.target_account_id = a.id
         WHERE a.domain"
    };
    (back) => {
        "UNION ALL
         SELECT a.domain, f.target_account_id FROM accounts a JOIN follows f ON f.account_id = a.id WHERE a.domain"
    };
}

/// The follows of each of these hosts that has any.
#[boxed]
pub async fn count_follows(db: Conn<'_>, hosts: &[&str]) -> Result<Vec<FollowCount>> {
    db.query(sql!(
        "SELECT t.domain, COUNT(*) AS follows, COUNT(DISTINCT t.own) AS people FROM ("
        follows_of_hosts!() in("$1") follows_of_hosts!(back) in("$1") ") t GROUP BY t.domain"
    ))
    .bind(Texts::of(hosts.iter().copied()))
    .all()
    .await
}

/// The number of accounts here that have a follow with an account of any of these hosts.
#[boxed]
pub async fn count_people(db: Conn<'_>, hosts: &[&str]) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(DISTINCT t.own) FROM ("
        follows_of_hosts!() in("$1") follows_of_hosts!(back) in("$1") ") t"
    ))
    .bind(Texts::of(hosts.iter().copied()))
    .scalar()
    .await
}

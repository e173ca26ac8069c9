//! Rows without use: threads, hashtags, applications, publishers of links, servers and hosts.
//!
//! Reached from `service::server::unused`. A walk reads the rows of a table in the order of its key, and deletes those
//! without use; the deletion checks again.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::{Time, boxed};

macro_rules! unused_conversation {
    () => {
        "NOT EXISTS (SELECT 1 FROM statuses s WHERE s.conversation_id = c.id)
         AND NOT EXISTS (SELECT 1 FROM account_conversations a WHERE a.conversation_id = c.id)
         AND NOT EXISTS (SELECT 1 FROM conversation_mutes m WHERE m.conversation_id = c.id)"
    };
}

/// The next `limit` threads with ids above `after` and below `before`, each with whether it has no status left.
#[boxed]
pub async fn list_conversations(db: Conn<'_>, after: i64, before: i64, limit: i64) -> Result<Vec<(i64, bool)>> {
    db.query(sql!(
        "SELECT c.id, " unused_conversation!() " AS unused
         FROM conversations c WHERE c.id > $1 AND c.id < $2 ORDER BY c.id LIMIT $3"
    ))
    .bind(after)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

/// Deletes the threads among `ids` that have no status left; returns how many.
#[boxed]
pub async fn delete_conversations(tx: &mut Tx, ids: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM conversations AS c WHERE c.id" in("$1") "AND " unused_conversation!()))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await
}

macro_rules! unused_tag {
    () => {
        "t.usable AND t.listable IS NULL AND t.trendable IS NULL AND t.reviewed_at IS NULL
         AND t.requested_review_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM status_tags s WHERE s.tag_id = t.id)
         AND NOT EXISTS (SELECT 1 FROM tag_follows f WHERE f.tag_id = t.id)
         AND NOT EXISTS (SELECT 1 FROM featured_tags f WHERE f.tag_id = t.id)
         AND NOT EXISTS (SELECT 1 FROM trends r WHERE r.kind = 'tag' AND r.subject_id = t.id)"
    };
}

/// As [`list_conversations`], for hashtags without use and without a decision.
#[boxed]
pub async fn list_tags(db: Conn<'_>, after: i64, before: i64, limit: i64) -> Result<Vec<(i64, bool)>> {
    db.query(sql!(
        "SELECT t.id, " unused_tag!() " AS unused FROM tags t WHERE t.id > $1 AND t.id < $2 ORDER BY t.id LIMIT $3"
    ))
    .bind(after)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

/// Deletes the hashtags among `ids` that are still without use; returns how many.
#[boxed]
pub async fn delete_tags(tx: &mut Tx, ids: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM tags AS t WHERE t.id" in("$1") "AND " unused_tag!()))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await
}

macro_rules! unused_application {
    () => {
        "NOT p.superapp
         AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.app_id = p.id)
         AND NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.app_id = p.id AND (t.account_id IS NOT NULL
             OR (t.revoked_at IS NULL AND coalesce(t.last_used_at, t.created_at) >= $1)))"
    };
}

/// As [`list_conversations`], for applications that no account ever signed in with, and whose own token was not used
/// since `used`.
#[boxed]
pub async fn list_applications(
    db: Conn<'_>,
    used: Time,
    after: i64,
    before: i64,
    limit: i64,
) -> Result<Vec<(i64, bool)>> {
    db.query(sql!(
        "SELECT p.id, " unused_application!() " AS unused
         FROM oauth_apps p WHERE p.id > $2 AND p.id < $3 ORDER BY p.id LIMIT $4"
    ))
    .bind(used)
    .bind(after)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

/// Deletes the applications among `ids` that are still without use; returns how many.
#[boxed]
pub async fn delete_applications(tx: &mut Tx, used: Time, ids: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_apps AS p WHERE p.id" in("$2") "AND " unused_application!()))
        .bind(used)
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await
}

macro_rules! unused_publisher {
    () => {
        "l.trendable IS NULL AND l.reviewed_at IS NULL AND (l.requested_review_at IS NULL OR l.requested_review_at < $1)"
    };
}

/// As [`list_conversations`], for publishers of links without a decision, whose last request for one was before
/// `requested`.
#[boxed]
pub async fn list_publishers(
    db: Conn<'_>,
    requested: Time,
    after: i64,
    before: i64,
    limit: i64,
) -> Result<Vec<(i64, bool)>> {
    db.query(sql!(
        "SELECT l.id, " unused_publisher!() " AS unused
         FROM link_publishers l WHERE l.id > $2 AND l.id < $3 ORDER BY l.id LIMIT $4"
    ))
    .bind(requested)
    .bind(after)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

/// Deletes the publishers among `ids` that are still without a decision; returns how many.
#[boxed]
pub async fn delete_publishers(tx: &mut Tx, requested: Time, ids: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM link_publishers AS l WHERE l.id" in("$2") "AND " unused_publisher!()))
        .bind(requested)
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await
}

macro_rules! unused_server {
    () => {
        "i.created_at < $1 AND (i.fetched_at IS NULL OR i.fetched_at < $1)
         AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.domain = i.domain)"
    };
}

/// The next `limit` servers after the domain `after`, each with whether it has no account here and was fetched before
/// `fetched`.
#[boxed]
pub async fn list_servers(db: Conn<'_>, fetched: Time, after: &str, limit: i64) -> Result<Vec<(String, bool)>> {
    db.query(sql!(
        "SELECT i.domain, " unused_server!() " AS unused
         FROM instances i WHERE i.domain > $2 ORDER BY i.domain LIMIT $3"
    ))
    .bind(fetched)
    .bind(after.to_owned())
    .bind(limit)
    .all()
    .await
}

/// Deletes the servers among `domains` that are still without accounts here; returns how many.
#[boxed]
pub async fn delete_servers(tx: &mut Tx, fetched: Time, domains: &[String]) -> Result<u64> {
    tx.query(sql!("DELETE FROM instances AS i WHERE i.domain" in("$2") "AND " unused_server!()))
        .bind(fetched)
        .bind(Texts::of(domains.iter().cloned()))
        .execute()
        .await
}

macro_rules! unused_host {
    () => {
        "h.paused_at IS NULL AND (h.failed_at IS NULL OR h.failed_at < $1)
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.host = h.host)"
    };
}

/// The next `limit` hosts after `after`, each with whether its last failure was before `failed`, and it is owed nothing.
#[boxed]
pub async fn list_hosts(db: Conn<'_>, failed: Time, after: &str, limit: i64) -> Result<Vec<(String, bool)>> {
    db.query(sql!(
        "SELECT h.host, " unused_host!() " AS unused
         FROM remote_hosts h WHERE h.host > $2 ORDER BY h.host LIMIT $3"
    ))
    .bind(failed)
    .bind(after.to_owned())
    .bind(limit)
    .all()
    .await
}

/// Deletes the hosts among `hosts` to which that still applies; returns how many.
#[boxed]
pub async fn delete_hosts(tx: &mut Tx, failed: Time, hosts: &[String]) -> Result<u64> {
    tx.query(sql!("DELETE FROM remote_hosts AS h WHERE h.host" in("$2") "AND " unused_host!()))
        .bind(failed)
        .bind(Texts::of(hosts.iter().cloned()))
        .execute()
        .await
}

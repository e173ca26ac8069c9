//! Data of the instance endpoints: rules, totals, weekly activity, known peers and domain blocks.
//!
//! The totals and weekly counts read whole tables or indexes, so callers cache them.

use database::{Conn, Result, Tx, sql};
use model::instance::{DomainBlock, Rule};
use model::{Json, RuleId, Time, boxed};

/// The distance between the first ids of two consecutive weeks: a week in milliseconds, shifted left by 16 bits as in
/// an id.
pub const WEEK_OF_IDS: i64 = (7 * 24 * 60 * 60 * 1000) << 16;

/// The rules, by priority.
#[boxed]
pub async fn rules(db: Conn<'_>) -> Result<Vec<Rule>> {
    db.query(sql!(
        "SELECT r.id, r.text, r.hint, r.translations FROM rules r WHERE r.deleted_at IS NULL ORDER BY r.priority, r.id"
    ))
    .all()
    .await
}

/// The number of local users who can use the server, and the sum of their statuses: confirmed, approved, neither
/// disabled nor suspended.
#[boxed]
pub async fn local_totals(db: Conn<'_>) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT COUNT(*) AS users, CAST(coalesce(SUM(a.statuses_count), 0) AS BIGINT) AS statuses
         FROM users u
         JOIN accounts a ON a.id = u.account_id
         WHERE u.confirmed_at IS NOT NULL AND u.approved AND NOT u.disabled AND a.suspended_at IS NULL"
    ))
    .one()
    .await
}

/// The number of local accounts active since the week `first`, counted in weeks since the epoch.
#[boxed]
pub async fn active_since(db: Conn<'_>, first: i64) -> Result<i64> {
    db.query(sql!("SELECT COUNT(DISTINCT account_id) AS people FROM user_activity WHERE week >= $1"))
        .bind(first)
        .scalar()
        .await
}

/// The number of known remote servers.
#[boxed]
pub async fn count_known(db: Conn<'_>) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) AS domains FROM instances")).scalar().await
}

/// True when a server is known.
#[boxed]
pub async fn is_known(db: Conn<'_>, domain: &str) -> Result<bool> {
    let row: Option<(String,)> = db
        .query(sql!("SELECT i.domain FROM instances i WHERE i.domain = $1"))
        .bind(domain.to_owned())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// The software of a server, in lower case, if its NodeInfo is known.
#[boxed]
pub async fn software(db: Conn<'_>, domain: &str) -> Result<Option<String>> {
    let row: Option<(Option<String>,)> = db
        .query(sql!("SELECT i.software FROM instances i WHERE i.domain = $1"))
        .bind(domain.to_owned())
        .optional()
        .await?;
    Ok(row.and_then(|(software,)| software))
}

/// Stores the software and the features of a server.
#[boxed]
pub async fn set_software(tx: &mut Tx, domain: &str, software: &str, features: Vec<String>) -> Result<()> {
    tx.query(sql!("UPDATE instances SET software = $2, features = $3 WHERE domain = $1"))
        .bind(domain.to_owned())
        .bind(software.to_owned())
        .bind(Json(features))
        .execute()
        .await?;
    Ok(())
}

/// Claims a server for fetching its NodeInfo, unless it was fetched after `before`.
#[boxed]
pub async fn claim_node_info(tx: &mut Tx, domain: &str, before: Time, now: Time) -> Result<bool> {
    let claimed = tx
        .query(sql!(
            "UPDATE instances SET fetched_at = $3 WHERE domain = $1 AND (fetched_at IS NULL OR fetched_at < $2)"
        ))
        .bind(domain.to_owned())
        .bind(before)
        .bind(now)
        .execute()
        .await?;
    Ok(claimed > 0)
}

/// Most peers that are listed, those that were known first: strangers can have any number of subdomains.
const PEERS_MAX: i64 = 100_000;

/// The domains of known servers without a domain block, by name.
#[boxed]
pub async fn peers(db: Conn<'_>) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT p.domain FROM (
             SELECT i.domain FROM instances i
             WHERE NOT EXISTS (SELECT 1 FROM domain_blocks b WHERE b.domain = i.domain)
             ORDER BY i.created_at, i.domain LIMIT $1) p
         ORDER BY p.domain"
    ))
    .bind(PEERS_MAX)
    .scalars()
    .await
}

/// The domains of up to `limit` known servers without a domain block that begin with `prefix`, by name.
#[boxed]
pub async fn search_peers(db: Conn<'_>, prefix: &str, limit: i64) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT i.domain FROM instances i
         WHERE i.domain >= $1 AND i.domain < $2 AND NOT EXISTS (SELECT 1 FROM domain_blocks b WHERE b.domain = i.domain)
         ORDER BY i.domain LIMIT $3"
    ))
    .bind(prefix.to_owned())
    .bind(format!("{prefix}\u{10FFFF}"))
    .bind(limit)
    .scalars()
    .await
}

/// The domain blocks that are not hidden, by severity (noop, silence, suspend), then by domain.
#[boxed]
pub async fn domain_blocks(db: Conn<'_>) -> Result<Vec<DomainBlock>> {
    db.query(sql!(
        "SELECT b.domain, b.severity, b.obfuscate, b.public_comment
         FROM domain_blocks b
         WHERE NOT b.hidden
         ORDER BY CASE b.severity WHEN 'noop' THEN 0 WHEN 'silence' THEN 1 ELSE 2 END, b.domain"
    ))
    .all()
    .await
}

/// The number of local statuses of each week since the week `first`, as (week, count). Ids contain their time, so the
/// week is computed from the id; the condition on `listed` makes the rows two ranges of the index `statuses_local`.
#[boxed]
pub async fn statuses_by_week(db: Conn<'_>, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT s.id / $2 AS week, COUNT(*) AS statuses FROM statuses s
         WHERE s.local AND s.listed IN (TRUE, FALSE) AND s.id >= $1
         GROUP BY s.id / $2"
    ))
    .bind(first * WEEK_OF_IDS)
    .bind(WEEK_OF_IDS)
    .all()
    .await
}

/// The number of active local accounts of each week since the week `first`, as (week, count).
#[boxed]
pub async fn logins_by_week(db: Conn<'_>, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!("SELECT a.week, COUNT(*) AS people FROM user_activity a WHERE a.week >= $1 GROUP BY a.week"))
        .bind(first)
        .all()
        .await
}

/// The number of local accounts created in each week since the week `first`, as (week, count), from their ids.
#[boxed]
pub async fn registrations_by_week(db: Conn<'_>, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT u.account_id / $2 AS week, COUNT(*) AS people
         FROM users u WHERE u.account_id >= $1 GROUP BY u.account_id / $2"
    ))
    .bind(first * WEEK_OF_IDS)
    .bind(WEEK_OF_IDS)
    .all()
    .await
}

/// Inserts a rule after the others.
#[boxed]
pub async fn insert_rule(tx: &mut Tx, id: RuleId, text: &str, hint: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO rules (id, priority, text, hint, created_at)
         VALUES ($1, (SELECT coalesce(MAX(r.priority), 0) + 1 FROM rules r WHERE r.deleted_at IS NULL), $2, $3, $4)"
    ))
    .bind(id)
    .bind(text.to_owned())
    .bind(hint.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Replaces the translations of a rule: an object with `text` and `hint` for each language.
#[boxed]
pub async fn set_rule_translations(tx: &mut Tx, id: RuleId, translations: serde_json::Value) -> Result<()> {
    tx.query(sql!("UPDATE rules SET translations = $2 WHERE id = $1"))
        .bind(id)
        .bind(Json(translations))
        .execute()
        .await?;
    Ok(())
}

/// Marks a rule as deleted; false when there is no such rule. The row is kept for references to it.
#[boxed]
pub async fn delete_rule(tx: &mut Tx, id: RuleId, now: Time) -> Result<bool> {
    let deleted = tx
        .query(sql!("UPDATE rules SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL"))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(deleted > 0)
}

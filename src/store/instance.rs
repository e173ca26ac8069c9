//! What the server counts and tells about itself.

use super::{Executor, Result, Tx};
use crate::model::instance::{DomainBlock, Rule};
use crate::model::{RuleId, Time};
use crate::sql;

/// Milliseconds of a week, shifted as in an id: how far apart the first ids of two weeks are.
pub const WEEK_OF_IDS: i64 = (7 * 24 * 60 * 60 * 1000) << 16;

/// The rules, in the order in which people read them.
///
/// # Errors
/// When the database does.
pub async fn rules(db: impl Executor) -> Result<Vec<Rule>> {
    db.query(sql!("SELECT r.id, r.text, r.hint FROM rules r WHERE r.deleted_at IS NULL ORDER BY r.priority, r.id"))
        .all()
        .await
}

/// How many people may use the server, and how many statuses they wrote.
///
/// # Errors
/// When the database does.
pub async fn local_totals(db: impl Executor) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT COUNT(*) AS users, CAST(coalesce(SUM(a.statuses_count), 0) AS BIGINT) AS statuses
         FROM users u
         JOIN accounts a ON a.id = u.account_id
         WHERE u.confirmed_at IS NOT NULL AND u.approved AND NOT u.disabled AND a.suspended_at IS NULL"
    ))
    .one()
    .await
}

/// How many people used the server since the week `first`.
///
/// # Errors
/// When the database does.
pub async fn active_since(db: impl Executor, first: i64) -> Result<i64> {
    db.query(sql!("SELECT COUNT(DISTINCT account_id) AS people FROM user_activity WHERE week >= $1"))
        .bind(first)
        .scalar()
        .await
}

/// How many other servers this one met.
///
/// # Errors
/// When the database does.
pub async fn count_known(db: impl Executor) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) AS domains FROM instances")).scalar().await
}

/// The servers that this one met and that no moderator decided anything about.
///
/// # Errors
/// When the database does.
pub async fn peers(db: impl Executor) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT i.domain FROM instances i
         WHERE NOT EXISTS (SELECT 1 FROM domain_blocks b WHERE b.domain = i.domain)
         ORDER BY i.domain"
    ))
    .scalars()
    .await
}

/// The blocked domains that may be shown: noop, silence, suspend, then by name.
///
/// # Errors
/// When the database does.
pub async fn domain_blocks(db: impl Executor) -> Result<Vec<DomainBlock>> {
    db.query(sql!(
        "SELECT b.domain, b.severity, b.obfuscate, b.public_comment
         FROM domain_blocks b
         WHERE NOT b.hidden
         ORDER BY CASE b.severity WHEN 'noop' THEN 0 WHEN 'silence' THEN 1 ELSE 2 END, b.domain"
    ))
    .all()
    .await
}

/// Statuses written here in each week since `first`, by the number of the week; an id tells its time.
///
/// # Errors
/// When the database does.
pub async fn statuses_by_week(db: impl Executor, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT s.id / $2 AS week, COUNT(*) AS statuses FROM statuses s WHERE s.local AND s.id >= $1 GROUP BY s.id / $2"
    ))
    .bind(first * WEEK_OF_IDS)
    .bind(WEEK_OF_IDS)
    .all()
    .await
}

/// People who used the server in each week since `first`.
///
/// # Errors
/// When the database does.
pub async fn logins_by_week(db: impl Executor, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!("SELECT a.week, COUNT(*) AS people FROM user_activity a WHERE a.week >= $1 GROUP BY a.week"))
        .bind(first)
        .all()
        .await
}

/// People who signed up in each week since `first`.
///
/// # Errors
/// When the database does.
pub async fn registrations_by_week(db: impl Executor, first: i64) -> Result<Vec<(i64, i64)>> {
    db.query(sql!(
        "SELECT u.account_id / $2 AS week, COUNT(*) AS people
         FROM users u WHERE u.account_id >= $1 GROUP BY u.account_id / $2"
    ))
    .bind(first * WEEK_OF_IDS)
    .bind(WEEK_OF_IDS)
    .all()
    .await
}

/// Adds a rule below the others.
///
/// # Errors
/// When the database does.
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

/// Takes a rule away; reports that name it keep it. False when there is none.
///
/// # Errors
/// When the database does.
pub async fn delete_rule(tx: &mut Tx, id: RuleId, now: Time) -> Result<bool> {
    let deleted = tx
        .query(sql!("UPDATE rules SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL"))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(deleted > 0)
}

//! Clean-up of expired rows, run every hour by the job `context::queue::Clean`.
//!
//! Sessions ([`session`](crate::session)), one-time links ([`link`](crate::one_time_link)), authorization codes
//! ([`code`](crate::oauth_code)) and key-value items ([`plugin_kv`](crate::plugin_kv)) have their clean-up beside their other
//! statements.

use database::{Result, Tx, sql};
use model::{Time, boxed};

/// Deletes the idempotency keys that were stored before `time`; returns how many.
#[boxed]
pub async fn delete_idempotency_keys(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM idempotency_keys WHERE created_at < $1")).bind(time).execute().await
}

/// Deletes up to `limit` dead letters with ids below `before`, oldest first; returns how many.
#[boxed]
pub async fn delete_dead_jobs(tx: &mut Tx, before: i64, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM jobs WHERE id IN
         (SELECT j.id FROM jobs j WHERE j.state = 'dead' AND j.id < $1 ORDER BY j.id LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}

/// Deletes the weeks of activity before `week`, counted from the epoch; returns how many rows.
#[boxed]
pub async fn delete_weeks(tx: &mut Tx, week: i64) -> Result<u64> {
    tx.query(sql!("DELETE FROM user_activity WHERE week < $1")).bind(week).execute().await
}

/// Deletes the counts of sign-ups before `day`, counted from the epoch; returns how many rows.
#[boxed]
pub async fn delete_sign_up_days(tx: &mut Tx, day: i64) -> Result<u64> {
    tx.query(sql!("DELETE FROM sign_up_days WHERE day < $1")).bind(day).execute().await
}

//! Jobs of lanes in which other servers cause work: each domain has a bounded share of them.
//!
//! Design: docs/architecture.md, "Who may make us spend what".

use database::sql::Texts;
use database::{Result, Tx, sql};
use model::job::Lane;
use model::{Time, boxed};

use super::job::JobRow;

/// A job claimed from a lane that domains share.
#[derive(Clone, Debug, model::Row)]
pub struct SharedRow {
    #[row(flatten)]
    pub job: JobRow,
    /// The registrable domain that caused it; `None` for this server.
    pub share: Option<String>,
}

/// As [`claim`](super::job::claim), without jobs that one of the domains `full` caused, and without jobs while another one
/// of the same kind and key is running.
#[boxed]
pub async fn claim(
    tx: &mut Tx,
    lane: Lane,
    now: Time,
    lease_until: Time,
    limit: i64,
    full: &[String],
) -> Result<Vec<SharedRow>> {
    macro_rules! shared {
        ($not_full:literal) => {
            concat!(
                "FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 AND (share IS NULL OR share ",
                $not_full,
                ") AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.kind = jobs.kind AND r.key = jobs.key
                                                          AND r.key IS NOT NULL AND r.state = 'running')
                 ORDER BY run_at, id LIMIT $4"
            )
        };
    }
    tx.query(sql!(
        sqlite: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                 WHERE id IN (SELECT id " shared!("NOT IN (SELECT value FROM json_each($5))") ")
                 RETURNING id, attempts, kind, payload, share";
        postgres: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                   WHERE id = ANY(ARRAY(SELECT id " shared!("<> ALL($5)") " FOR UPDATE SKIP LOCKED))
                   RETURNING id, attempts, kind, payload, share"
    ))
    .bind(lane)
    .bind(now)
    .bind(lease_until)
    .bind(limit)
    .bind(Texts::of(full.iter().cloned()))
    .all()
    .await
}

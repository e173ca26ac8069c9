//! The followers that servers compare with one another.

use database::{Conn, Result, sql};
use model::{AccountId, RowId, boxed};

/// A follower.
#[derive(Clone, Debug, model::Row)]
pub struct FollowerRow {
    pub follow_id: RowId,
    pub account_id: AccountId,
    pub uri: String,
}

/// Up to `limit` followers of `account` after the follow `after`, oldest first: accounts of this server (`local`) or of
/// others.
#[boxed]
pub async fn list_followers(
    db: Conn<'_>,
    account: AccountId,
    local: bool,
    after: RowId,
    limit: i64,
) -> Result<Vec<FollowerRow>> {
    db.query(sql!(
        "SELECT f.id AS follow_id, a.id AS account_id, a.uri FROM follows f JOIN accounts a ON a.id = f.account_id
         WHERE f.target_account_id = $1 AND (a.domain IS NULL) = $2 AND f.id > $3 ORDER BY f.id LIMIT $4"
    ))
    .bind(account)
    .bind(local)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// The URIs of up to `limit` followers of `account` that begin with `prefix`, oldest follow first.
#[boxed]
pub async fn list_uris(db: Conn<'_>, account: AccountId, prefix: &str, limit: i64) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT a.uri FROM follows f JOIN accounts a ON a.id = f.account_id
         WHERE f.target_account_id = $1 AND a.domain IS NOT NULL
           AND SUBSTR(a.uri, 1, LENGTH(CAST($2 AS TEXT))) = CAST($2 AS TEXT)
         ORDER BY f.id LIMIT $3"
    ))
    .bind(account)
    .bind(prefix.to_owned())
    .bind(limit)
    .scalars()
    .await
}

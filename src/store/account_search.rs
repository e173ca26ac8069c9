//! Account search by prefix: of the user name, of the display name, or of the domain of a handle.
//!
//! Reached from `service::account`. Range scans of two indexes, and the viewer's own follows, give a bounded number of
//! candidates, which are then ranked: the cost does not grow with the number of accounts. Names compare by bytes
//! (`COLLATE "C"` on PostgreSQL), so both engines give the same answer. There is no full-text search, and nobody is
//! looked up on other servers. Spec: contract rules, section 16.

use super::{Executor, Result};
use crate::account_is_known;
use crate::sql;
use model::AccountId;
use model::account::AccountSearch;

/// How many of the viewer's followers are searched, newest first, when only followers are asked for.
const FOLLOWERS: i64 = 5000;

/// How many candidates an index gives, for a page of the first few results and at most.
const FEW: i64 = 40;
const MANY: i64 = 80;

/// The candidates that pass the filter. `$3`: the viewer; `$4`, `$5`: only whom the viewer follows, only who follows
/// the viewer.
macro_rules! ranked {
    () => {
        "SELECT a.id
         FROM candidates c
         JOIN accounts a ON a.id = c.id
         LEFT JOIN follows f ON f.account_id = $3 AND f.target_account_id = a.id
         WHERE a.suspended_at IS NULL AND (NOT $4 OR f.id IS NOT NULL)
           AND (NOT $5 OR EXISTS (SELECT 1 FROM follows o WHERE o.account_id = a.id AND o.target_account_id = $3))
           AND "
    };
}
/// The ranking: the exact user name first, local before remote; then whom the viewer follows; then by followers. `$1`:
/// the name; `$6`, `$7`: limit and offset, since the API pages searches by offset.
macro_rules! best_first {
    () => {
        "ORDER BY CASE WHEN lower(a.username) <> $1 THEN 2 WHEN a.domain IS NOT NULL THEN 1 ELSE 0 END,
                  CASE WHEN f.id IS NULL THEN 1 ELSE 0 END, a.followers_count DESC, a.id
         LIMIT $6 OFFSET $7"
    };
}

/// Accounts whose user name or display name begins with `prefix`, which is in lower case.
///
/// Four sources of candidates: [`FEW`] to [`MANY`] by each of the two indexes, and, since those may miss them, everyone whom the viewer
/// follows and, if only followers are asked for, the newest followers (`$8`). `UNION` removes duplicates.
pub async fn by_prefix(
    db: impl Executor,
    viewer: AccountId,
    prefix: &str,
    wanted: AccountSearch,
) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "WITH candidates (id) AS (
            SELECT id FROM (SELECT a.id FROM accounts a WHERE lower(a.username) >= $1 AND lower(a.username) < $2
                            ORDER BY lower(a.username), coalesce(lower(a.domain), '') LIMIT $9) named
            UNION
            SELECT id FROM (SELECT a.id FROM accounts a WHERE a.search_name >= $1 AND a.search_name < $2
                            ORDER BY a.search_name LIMIT $9) shown
            UNION
            SELECT a.id FROM follows f JOIN accounts a ON a.id = f.target_account_id
            WHERE f.account_id = $3 AND ((lower(a.username) >= $1 AND lower(a.username) < $2)
                                         OR (a.search_name >= $1 AND a.search_name < $2))
            UNION
            SELECT a.id FROM (SELECT o.account_id FROM follows o WHERE o.target_account_id = $3 ORDER BY o.id DESC LIMIT $8) o
            JOIN accounts a ON a.id = o.account_id
            WHERE (lower(a.username) >= $1 AND lower(a.username) < $2) OR (a.search_name >= $1 AND a.search_name < $2)
         ) " ranked!() account_is_known!() best_first!()
    ))
    .bind(prefix.to_owned())
    .bind(after(prefix))
    .bind(viewer)
    .bind(wanted.following)
    .bind(wanted.follower)
    .bind(wanted.limit)
    .bind(wanted.offset)
    .bind(if wanted.follower { FOLLOWERS } else { 0 })
    .bind((wanted.offset.saturating_add(wanted.limit)).clamp(FEW, MANY))
    .scalars()
    .await
}

/// Accounts with this user name whose domain begins with `domain`; `None`: of this server. Both are in lower case. One
/// range of the index `accounts_username`, where the domain of a local account is ''.
pub async fn by_handle(
    db: impl Executor,
    viewer: AccountId,
    username: &str,
    domain: Option<&str>,
    wanted: AccountSearch,
) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "WITH candidates (id) AS (
            SELECT id FROM (SELECT a.id FROM accounts a
                            WHERE lower(a.username) = $1 AND coalesce(lower(a.domain), '') >= $2 AND coalesce(lower(a.domain), '') < $8
                            ORDER BY coalesce(lower(a.domain), '') LIMIT 80) named
         ) " ranked!() account_is_known!() best_first!()
    ))
    .bind(username.to_owned())
    .bind(domain.unwrap_or_default().to_owned())
    .bind(viewer)
    .bind(wanted.following)
    .bind(wanted.follower)
    .bind(wanted.limit)
    .bind(wanted.offset)
    .bind(domain.map_or_else(|| "\u{1}".to_owned(), after))
    .scalars()
    .await
}

/// The upper bound of the range of texts that begin with `prefix`.
fn after(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

//! Account search by prefix: of the user name, of any word of the display name, or of the domain of a handle.
//!
//! Reached from `service::account`. Names are read in the order of their rank, the most followed accounts first
//! ([`account_names`]), which together with the viewer's follows gives a bounded number of candidates, which are then
//! ranked: the cost does not grow with the number of accounts. Names compare by bytes (`COLLATE "C"` on PostgreSQL),
//! so both engines return the same result. There is no full-text search, and no request to other servers. Spec:
//! docs/contract/rules.md#16-search.

use crate::{account_is_known, account_names};
use database::sql::Ids;
use database::{Conn, Result, sql};
use model::account::AccountSearch;
use model::{AccountId, boxed};

/// How many of the viewer's followers are searched, newest first, when the search is restricted to followers.
const FOLLOWERS: i64 = 5000;

/// How many candidates are read per rank: for a page of the first few results, and at most.
const FEW: i64 = 40;
const MANY: i64 = 80;

/// Condition: account `a` has a name that begins with the prefix. `$1`, `$2`: its range.
macro_rules! is_named {
    () => {
        "EXISTS (SELECT 1 FROM account_names n WHERE n.account_id = a.id AND n.name >= $1 AND n.name < $2)"
    };
}

/// The candidates that pass the filter. `$3`: the viewer; `$4`, `$5`: only accounts that the viewer follows, only
/// followers of the viewer.
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
/// The ranking: the exact user name first, local before remote; then accounts that the viewer follows; then by
/// followers. `$1`: the name; `$6`, `$7`: limit and offset, since the API pages searches by offset.
macro_rules! best_first {
    () => {
        "ORDER BY CASE WHEN lower(a.username) <> $1 THEN 2 WHEN a.domain IS NOT NULL THEN 1 ELSE 0 END,
                  CASE WHEN f.id IS NULL THEN 1 ELSE 0 END, a.followers_count DESC, a.id
         LIMIT $6 OFFSET $7"
    };
}

/// The candidates in addition to the most followed accounts.
macro_rules! others {
    () => {
        concat!(
            "UNION
             SELECT id FROM (SELECT a.id FROM accounts a WHERE lower(a.username) = $1
                             ORDER BY lower(a.username), coalesce(lower(a.domain), '') LIMIT $9) exact
             UNION
             SELECT a.id FROM follows f JOIN accounts a ON a.id = f.target_account_id WHERE f.account_id = $3 AND ",
            is_named!(),
            " UNION
             SELECT a.id
             FROM (SELECT o.account_id FROM follows o WHERE o.target_account_id = $3 ORDER BY o.id DESC LIMIT $8) o
             JOIN accounts a ON a.id = o.account_id
             WHERE ",
            is_named!()
        )
    };
}

/// Accounts with a name that begins with `prefix`, which is in lower case.
///
/// Four sources of candidates: the [`FEW`] to [`MANY`] most followed accounts, as many with exactly this user name,
/// and, since these may miss them, the accounts that the viewer follows and, if the search is restricted to
/// followers, the newest followers (`$8`). `UNION` removes duplicates.
#[boxed]
pub async fn by_prefix(db: Conn<'_>, viewer: AccountId, prefix: &str, wanted: AccountSearch) -> Result<Vec<AccountId>> {
    let ranks: Vec<i64> = (0..=account_names::HIGHEST).rev().collect();
    db.query(sql!(
        sqlite: concat!("WITH candidates (id) AS (
            SELECT id FROM (SELECT n.account_id AS id FROM json_each($10) r CROSS JOIN account_names n
                            WHERE n.rank = r.value AND n.name >= $1 AND n.name < $2 LIMIT $9) named ", others!(), ") ",
            ranked!(), account_is_known!(), best_first!());
        postgres: concat!("WITH candidates (id) AS (
            SELECT id FROM (SELECT n.id FROM unnest($10::bigint[]) r (value)
                            CROSS JOIN LATERAL (SELECT n.account_id AS id FROM account_names n
                                                WHERE n.rank = r.value AND n.name >= $1 AND n.name < $2
                                                ORDER BY n.name LIMIT $9) n
                            ORDER BY r.value DESC LIMIT $9) named ", others!(), ") ",
            ranked!(), account_is_known!(), best_first!())
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
    .bind(Ids::of(ranks))
    .scalars()
    .await
}

/// Accounts with this user name whose domain begins with `domain`; `None`: local accounts. Both are in lower case.
/// One range of the index `accounts_username`, where the domain of a local account is ''.
#[boxed]
pub async fn by_handle(
    db: Conn<'_>,
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

/// The upper bound of the range of strings that begin with `prefix`.
fn after(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

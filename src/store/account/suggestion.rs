//! Suggestions of accounts to follow: candidates from several sources, and dismissed suggestions.
//!
//! Reached from `service::suggestion`, which mixes the sources and caches them for a while. Each source reads a
//! bounded number of rows by an index, regardless of the number of accounts and follows. One condition
//! (`may_be_suggested`) decides which accounts may be suggested to a viewer; cached suggestions are filtered by it
//! again for each page.
//!
//! Spec: docs/contract/rules.md#23-discovery.

use crate::account_is_known;
use crate::relation_sql::is_wanted;
use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::{AccountId, StatusId, Time, boxed};

/// How many of an account's newest follows are examined for their follows; and how many follows of each.
const FRIENDS: i64 = 100;
const OF_EACH: i64 = 50;
/// How many of the newest follows, and of the newest statuses, determine popularity.
const NEWEST_FOLLOWS: i64 = 20_000;
const NEWEST_STATUSES: i64 = 10_000;
/// Fewest follows, or reblogs and favourites, of a popular account.
const POPULAR: i64 = 5;

/// SQL condition: account `a` may be suggested to any account.
macro_rules! is_suggestible {
    () => {
        "a.discoverable AND a.suspended_at IS NULL AND a.limited_at IS NULL AND a.moved_to_account_id IS NULL
         AND NOT a.memorial AND +a.id > 0"
    };
}

/// SQL condition: account `a` may be suggested to `$1` at the time `$2`.
macro_rules! may_be_suggested {
    () => {
        concat!(
            is_suggestible!(),
            " AND a.id <> $1 AND ",
            account_is_known!(),
            " AND ",
            is_wanted!("$1", "$2"),
            " AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.account_id = $1 AND f.target_account_id = a.id)
              AND NOT EXISTS (SELECT 1 FROM follow_requests r WHERE r.account_id = $1 AND r.target_account_id = a.id)
              AND NOT EXISTS (SELECT 1 FROM suggestion_dismissals x WHERE x.account_id = $1 AND x.target_account_id = a.id)"
        )
    };
}

/// The accounts of `ids` that may be suggested to `viewer`, with their versions, in no particular order.
#[boxed]
pub async fn filter(db: Conn<'_>, viewer: AccountId, ids: &[AccountId], now: Time) -> Result<Vec<(AccountId, i64)>> {
    db.query(sql!("SELECT a.id, a.version FROM accounts a WHERE a.id" in("$3") "AND " may_be_suggested!()))
        .bind(viewer)
        .bind(now)
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The accounts with `handles` (as in [`account::list_by_handles`](super::list_by_handles)) that may be suggested to
/// any account, in no particular order.
#[boxed]
pub async fn list_named(db: Conn<'_>, handles: &[String]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        sqlite: "SELECT a.id FROM json_each($1) h
                 JOIN accounts a ON lower(a.username) = substr(h.value, 1, instr(h.value || '@', '@') - 1)
                                AND coalesce(lower(a.domain), '') = substr(h.value, instr(h.value || '@', '@') + 1)
                 WHERE " is_suggestible!();
        postgres: "SELECT a.id FROM unnest($1::text[]) AS h(value)
                   JOIN accounts a ON lower(a.username) = split_part(h.value, '@', 1)
                                  AND coalesce(lower(a.domain), '') = split_part(h.value, '@', 2)
                   WHERE " is_suggestible!()
    ))
    .bind(Texts::of(handles.iter().cloned()))
    .scalars()
    .await
}

/// Up to `limit` accounts followed by accounts that `viewer` follows: most common follows first, accounts with fewer
/// followers before others. Does not reveal follows of accounts that hide them.
///
/// At most [`FRIENDS`] × [`OF_EACH`] follows are read: a range of the index `follows_account` for each friend.
#[boxed]
pub async fn list_friends_of_friends(db: Conn<'_>, viewer: AccountId, now: Time, limit: i64) -> Result<Vec<AccountId>> {
    macro_rules! list_friends_of_friends_sql {
        ($theirs:literal) => {
            concat!(
                "SELECT a.id
                 FROM (SELECT y.target_account_id AS id, COUNT(*) AS friends
                       FROM (SELECT m.target_account_id AS friend FROM follows m
                             WHERE m.account_id = $1 ORDER BY m.id DESC LIMIT $3) mine
                       CROSS JOIN accounts o
                       CROSS JOIN ",
                $theirs,
                " AND o.id = mine.friend AND o.hide_collections IS NOT TRUE
                       GROUP BY y.target_account_id) known
                 CROSS JOIN accounts a
                 WHERE a.id = known.id AND ",
                may_be_suggested!(),
                " ORDER BY known.friends DESC, a.followers_count, a.id LIMIT $5"
            )
        };
    }
    db.query(sql!(
        sqlite: list_friends_of_friends_sql!(
            "follows y
             WHERE y.id IN (SELECT z.id FROM follows z WHERE z.account_id = mine.friend ORDER BY z.id DESC LIMIT $4)"
        );
        postgres: list_friends_of_friends_sql!(
            "LATERAL (SELECT z.target_account_id FROM follows z
                      WHERE z.account_id = mine.friend ORDER BY z.id DESC LIMIT $4) y
             WHERE TRUE"
        )
    ))
    .bind(viewer)
    .bind(now)
    .bind(FRIENDS)
    .bind(OF_EACH)
    .bind(limit)
    .scalars()
    .await
}

/// Up to `limit` unlocked accounts with the most recent followers.
#[boxed]
pub async fn list_most_followed(db: Conn<'_>, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id
         FROM (SELECT newest.id, COUNT(*) AS follows
               FROM (SELECT f.target_account_id AS id FROM follows f WHERE f.id > 0 ORDER BY f.id DESC LIMIT $1) newest
               GROUP BY newest.id
               HAVING COUNT(*) >= $2) popular
         CROSS JOIN accounts a
         WHERE a.id = popular.id AND NOT a.locked AND " is_suggestible!() "
         ORDER BY popular.follows DESC, a.id LIMIT $3"
    ))
    .bind(NEWEST_FOLLOWS)
    .bind(POPULAR)
    .bind(limit)
    .scalars()
    .await
}

/// Up to `limit` unlocked accounts whose public statuses since `since` have the most reblogs and favourites.
#[boxed]
pub async fn list_most_interactions(db: Conn<'_>, since: StatusId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id
         FROM (SELECT newest.account_id AS id, SUM(newest.uses) AS uses
               FROM (SELECT s.account_id,
                            CASE WHEN s.visibility IN ('public', 'public_unlisted')
                                 THEN s.reblogs_count + s.favourites_count ELSE 0 END AS uses
                     FROM statuses s WHERE s.id >= $1 ORDER BY s.id DESC LIMIT $2) newest
               GROUP BY newest.account_id
               HAVING SUM(newest.uses) >= $3) popular
         CROSS JOIN accounts a
         WHERE a.id = popular.id AND NOT a.locked AND " is_suggestible!() "
         ORDER BY popular.uses DESC, a.id LIMIT $4"
    ))
    .bind(since)
    .bind(NEWEST_STATUSES)
    .bind(POPULAR)
    .bind(limit)
    .scalars()
    .await
}

/// Stores that `account` dismissed the suggestion of `target`; a repetition, or a missing account, is not an error.
#[boxed]
pub async fn dismiss(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO suggestion_dismissals (account_id, target_account_id)
         SELECT $1, a.id FROM accounts a WHERE a.id = $2
         ON CONFLICT (account_id, target_account_id) DO NOTHING"
    ))
    .bind(account)
    .bind(target)
    .execute()
    .await?;
    Ok(())
}

/// Deletes up to `limit` each of the dismissals by `account` and of `account`; returns how many.
pub(crate) async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    let mut count = 0;
    for part in [
        sql!(
            "DELETE FROM suggestion_dismissals
             WHERE account_id = $1 AND target_account_id IN (
                 SELECT x.target_account_id FROM suggestion_dismissals x WHERE x.account_id = $1 LIMIT $2)"
        ),
        sql!(
            "DELETE FROM suggestion_dismissals
             WHERE target_account_id = $1 AND account_id IN (
                 SELECT x.account_id FROM suggestion_dismissals x WHERE x.target_account_id = $1 LIMIT $2)"
        ),
    ] {
        count += tx.query(part).bind(account).bind(limit).execute().await?;
    }
    Ok(count)
}

//! Home feeds: materialised timelines, filled by jobs (fan-out on write) and read as one index range.
//!
//! Reached from `jobs::feed`, the clean-up of feeds, and publishing. The rows are those of `feed_entries` with kind 0,
//! owned by the account. Which statuses enter a feed follows the contract rules, section 12. Pages are read in
//! [`timeline`](super::timeline); whether an entry may still be shown is decided then, by `service::visibility`. Feeds
//! as plugins use them are in [`plugin_feed`](super::plugin_feed).

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::sql;
use model::{AccountId, StatusId, Time};

/// SQL condition: no block or mute keeps a status out of the feed of `o.owner`. Takes, as SQL, the status, its author,
/// the author of the original (of a status that is no reblog: its author again), and the current time.
///
/// Checked are mutes and blocks of both authors by the owner, a block of the owner by the original's author, a block of
/// the original's author's domain, and blocks and mutes of the accounts that the status mentions. Expired mutes do not
/// count.
macro_rules! not_blocked {
    ($status:literal, $author:literal, $original_author:literal, $now:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = o.owner AND m.target_account_id IN (",
            $author,
            ", ",
            $original_author,
            ")
                         AND (m.expires_at IS NULL OR m.expires_at > ",
            $now,
            "))
             AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = o.owner AND b.target_account_id IN (",
            $author,
            ", ",
            $original_author,
            "))
             AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = ",
            $original_author,
            " AND b.target_account_id = o.owner)
             AND NOT EXISTS (SELECT 1 FROM account_domain_blocks d JOIN accounts a ON a.domain = d.domain
                             WHERE d.account_id = o.owner AND a.id = ",
            $original_author,
            ")
             AND NOT EXISTS (SELECT 1 FROM mentions x JOIN blocks b ON b.target_account_id = x.account_id
                             WHERE x.status_id = ",
            $status,
            " AND b.account_id = o.owner)
             AND NOT EXISTS (SELECT 1 FROM mentions x JOIN mutes m ON m.target_account_id = x.account_id
                             WHERE x.status_id = ",
            $status,
            " AND m.account_id = o.owner AND (m.expires_at IS NULL OR m.expires_at > ",
            $now,
            "))"
        )
    };
}
pub(super) use not_blocked;

/// SQL condition: the status is a reblog, and its original or another reblog of that is among the newest 40 entries of
/// the feed. Takes, as SQL, the status, the original, and the feed's kind and owner.
///
/// The subquery reads the newest 40 entries from the end of the primary key; the original is compared outside of it,
/// because `feed_entries` has no index by original.
macro_rules! recently_shown {
    ($status:literal, $original:literal, $kind:literal, $owner:literal) => {
        concat!(
            "(CAST(",
            $status,
            " AS BIGINT) <> ",
            $original,
            " AND EXISTS (
                SELECT 1 FROM (SELECT e.original_id FROM feed_entries e WHERE e.kind = ",
            $kind,
            " AND e.owner_id = ",
            $owner,
            " ORDER BY e.status_id DESC LIMIT 40) recent
                WHERE recent.original_id = ",
            $original,
            "))"
        )
    };
}
pub(super) use recently_shown;

/// SQL condition: the status of a [`NewHomeEntry`] may enter the home feed of `o.owner`. Parameters as in [`bind`].
macro_rules! admitted {
    () => {
        concat!(not_blocked!("$1", "$2", "$5", "$7"), " AND NOT ", recently_shown!("$1", "$8", "0", "o.owner"))
    };
}

/// A new status to be fanned out to home feeds.
#[derive(Clone, Debug)]
pub struct NewHomeEntry {
    /// The status, or the reblog.
    pub status: StatusId,
    /// Its author.
    pub author: AccountId,
    /// The original of a reblog, else the status itself.
    pub original: StatusId,
    /// The author of `original`.
    pub original_author: AccountId,
    /// The account it replies to, unless that is its author.
    pub in_reply_to: Option<AccountId>,
    /// The language of `original`.
    pub language: Option<String>,
    /// Only accounts that it mentions may see it (direct and limited visibility).
    pub restricted: bool,
    /// The current time, for mutes that expire.
    pub now: Time,
}

/// Fans a status out to the home feeds of its author's local followers, in one statement; returns the number of entries
/// written.
///
/// A follower gets it if their feed is maintained (`feed_state` is `live`), unless the follow hides reblogs or the
/// language, they neither are nor follow the account that it replies to, they are not mentioned in a restricted status,
/// or they have the author on an exclusive list. The index `follows_fanout` finds the followers. The texts differ in
/// the test of a JSON list of languages.
pub async fn fan_out_to_followers(tx: &mut Tx, entry: &NewHomeEntry) -> Result<u64> {
    macro_rules! followers {
        ($language:literal) => {
            concat!(
                "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
                 SELECT 0, o.owner, CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($8 AS BIGINT)
                 FROM (SELECT f.account_id AS owner FROM follows f JOIN users u ON u.account_id = f.account_id
                       WHERE f.target_account_id = $2 AND u.feed_state = 'live'
                         AND (CAST($1 AS BIGINT) = $8 OR f.show_reblogs)
                         AND (f.languages IS NULL OR $3 = '' OR ", $language, ")
                         AND (NOT $4 OR EXISTS (SELECT 1 FROM mentions x WHERE x.status_id = $1 AND x.account_id = f.account_id))
                         AND ($6 = CAST(0 AS BIGINT) OR $6 = f.account_id
                              OR EXISTS (SELECT 1 FROM follows t WHERE t.account_id = f.account_id AND t.target_account_id = $6))
                         AND NOT EXISTS (SELECT 1 FROM list_accounts la JOIN lists l ON l.id = la.list_id
                                         WHERE la.account_id = $2 AND l.account_id = f.account_id AND l.exclusive)) o
                 WHERE "
            )
        };
    }
    macro_rules! sqlite {
        () => {
            followers!("EXISTS (SELECT 1 FROM json_each(f.languages) l WHERE l.value = $3)")
        };
    }
    macro_rules! postgres {
        () => {
            followers!("jsonb_exists(f.languages, $3)")
        };
    }
    let sql = sql!(
        sqlite: sqlite!() admitted!() " ON CONFLICT DO NOTHING";
        postgres: postgres!() admitted!() " ON CONFLICT DO NOTHING"
    );
    bind(tx, sql, entry).await
}

/// Fans a status out to the home feeds of local followers of its hashtags, in one statement; returns the number of
/// entries written. `DISTINCT`, for followers of several of them. Only for statuses of listed visibility: nothing here
/// looks at it.
pub async fn fan_out_to_tag_followers(tx: &mut Tx, entry: &NewHomeEntry) -> Result<u64> {
    // `bind` binds the parameters of both fan-outs alike. The conditions on `$3`, `$4` and `$6` are always true: they
    // are here because PostgreSQL must find every parameter in the text to know its type.
    let sql = sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, o.owner, CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($8 AS BIGINT)
         FROM (SELECT DISTINCT tf.account_id AS owner FROM status_tags st
               JOIN tag_follows tf ON tf.tag_id = st.tag_id
               JOIN users u ON u.account_id = tf.account_id
               WHERE st.status_id = $1 AND u.feed_state = 'live' AND ($3 = '' OR $3 <> '') AND (NOT $4 OR $4)
                 AND ($6 = CAST(0 AS BIGINT) OR $6 <> 0)) o
         WHERE " admitted!() " ON CONFLICT DO NOTHING"
    );
    bind(tx, sql, entry).await
}

/// Runs a fan-out. `$1`: status; `$2`: author; `$3`: language, or ''; `$4`: restricted; `$5`: original author; `$6`:
/// account replied to, or 0; `$7`: now; `$8`: original.
async fn bind(tx: &mut Tx, sql: super::sql::Sql, entry: &NewHomeEntry) -> Result<u64> {
    tx.query(sql)
        .bind(entry.status)
        .bind(entry.author)
        .bind(entry.language.clone().unwrap_or_default())
        .bind(entry.restricted)
        .bind(entry.original_author)
        .bind(entry.in_reply_to.map_or(0, i64::from))
        .bind(entry.now)
        .bind(entry.original)
        .execute()
        .await
}

/// Inserts one entry: an author's own status, in the transaction that publishes it, so that they see it at once.
pub async fn insert(
    tx: &mut Tx,
    owner: AccountId,
    status: StatusId,
    author: AccountId,
    original: StatusId,
) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id) VALUES (0, $1, $2, $3, $4)
         ON CONFLICT DO NOTHING"
    ))
    .bind(owner)
    .bind(status)
    .bind(author)
    .bind(original)
    .execute()
    .await?;
    Ok(())
}

/// SQL condition for filling a feed afterwards: status `s` of a followed account (follow `f`) belongs in the home feed
/// of `$1`.
///
/// Looser than the fan-out: the languages of the follow, accounts that are mentioned or reblogged, and repeated reblogs
/// are not looked at, and an expired mute counts until it is deleted. Restricted statuses are left out altogether.
macro_rules! belongs {
    () => {
        "s.visibility IN ('public', 'public_unlisted', 'login', 'unlisted', 'private')
         AND (s.reblog_of_id IS NULL OR f.show_reblogs)
         AND (s.in_reply_to_id IS NULL OR s.in_reply_to_account_id = s.account_id OR s.in_reply_to_account_id = $1
              OR EXISTS (SELECT 1 FROM follows t WHERE t.account_id = $1 AND t.target_account_id = s.in_reply_to_account_id))
         AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = $1 AND b.target_account_id = s.account_id)
         AND NOT EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = $1 AND m.target_account_id = s.account_id)
         AND NOT EXISTS (SELECT 1 FROM list_accounts la JOIN lists l ON l.id = la.list_id
                         WHERE la.account_id = s.account_id AND l.account_id = $1 AND l.exclusive)"
    };
}

/// Backfills the home feed of `owner` with the newest `limit` statuses of `target`, whom they follow; does nothing when
/// the follow is gone. The index `statuses_account` finds the statuses.
pub async fn backfill(tx: &mut Tx, owner: AccountId, target: AccountId, limit: i64) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, $1, s.id, s.account_id, coalesce(s.reblog_of_id, s.id)
         FROM follows f
         JOIN statuses s ON s.account_id = f.target_account_id
         WHERE f.account_id = $1 AND f.target_account_id = $2 AND " belongs!() "
         ORDER BY s.id DESC LIMIT $3
         ON CONFLICT DO NOTHING"
    ))
    .bind(owner)
    .bind(target)
    .bind(limit)
    .execute()
    .await?;
    Ok(())
}

/// Rebuilds the home feed of `owner` after it was dropped, and marks it `live`: at most `limit` statuses of followed
/// accounts since `since`, and as many of their own. Statuses of followed hashtags are not rebuilt.
pub async fn rebuild(tx: &mut Tx, owner: AccountId, since: StatusId, limit: i64) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, $1, s.id, s.account_id, coalesce(s.reblog_of_id, s.id)
         FROM follows f
         JOIN statuses s ON s.account_id = f.target_account_id
         WHERE f.account_id = $1 AND s.id > $2 AND " belongs!() "
         ORDER BY s.id DESC LIMIT $3
         ON CONFLICT DO NOTHING"
    ))
    .bind(owner)
    .bind(since)
    .bind(limit)
    .execute()
    .await?;
    tx.query(sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, $1, s.id, s.account_id, coalesce(s.reblog_of_id, s.id)
         FROM statuses s WHERE s.account_id = $1 AND s.id > $2
         ORDER BY s.id DESC LIMIT $3
         ON CONFLICT DO NOTHING"
    ))
    .bind(owner)
    .bind(since)
    .bind(limit)
    .execute()
    .await?;
    set_state(tx, owner, "live").await
}

/// Sets whether the home feed of `owner` is maintained (`live`), or was dropped until they return (`dropped`).
pub async fn set_state(tx: &mut Tx, owner: AccountId, state: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET feed_state = $2 WHERE account_id = $1"))
        .bind(owner)
        .bind(state.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// Removes the statuses and reblogs by `target` from the home feed of `owner`; with `reblogs`, also reblogs of them by
/// others. Reads the whole feed, which is bounded: only its primary key narrows the rows.
pub async fn delete_author(tx: &mut Tx, owner: AccountId, target: AccountId, reblogs: bool) -> Result<()> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE kind = 0 AND owner_id = $1
           AND (author_id = $2 OR ($3 AND EXISTS (SELECT 1 FROM statuses s WHERE s.id = feed_entries.original_id AND s.account_id = $2)))"
    ))
    .bind(owner)
    .bind(target)
    .bind(reblogs)
    .execute()
    .await?;
    Ok(())
}

/// Whether `owner` follows `target`, and whether `owner` blocks or mutes them. An expired mute counts until it is
/// deleted.
pub async fn find_relation(db: impl Executor, owner: AccountId, target: AccountId) -> Result<(bool, bool)> {
    db.query(sql!(
        "SELECT EXISTS (SELECT 1 FROM follows f WHERE f.account_id = $1 AND f.target_account_id = $2),
                EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = $1 AND b.target_account_id = $2)
             OR EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = $1 AND m.target_account_id = $2)"
    ))
    .bind(owner)
    .bind(target)
    .one()
    .await
}

/// Up to `limit` local accounts with ids above `after` whose home feed is maintained, by id: a batch of the clean-up.
pub async fn list_owners(db: impl Executor, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT u.account_id FROM users u WHERE u.account_id > $1 AND u.feed_state = 'live' ORDER BY u.account_id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// Deletes all but the newest `keep` entries of the feed of each of `owners`, in one statement; returns how many.
/// `kind` is 0 for home feeds. The window function counts for each owner, which `LIMIT` cannot; it reads the primary
/// key alone.
pub async fn trim<T: Into<i64> + Copy>(tx: &mut Tx, kind: i64, owners: &[T], keep: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE kind = $3 AND (owner_id, status_id) IN (
            SELECT x.owner_id, x.status_id
            FROM (SELECT e.owner_id, e.status_id, ROW_NUMBER() OVER (PARTITION BY e.owner_id ORDER BY e.status_id DESC) AS place
                  FROM feed_entries e WHERE e.kind = $3 AND e.owner_id" in("$1") ") x
            WHERE x.place > $2)"
    ))
    .bind(Ids::of(owners.iter().copied()))
    .bind(keep)
    .bind(kind)
    .execute()
    .await
}

/// Drops the home feeds of accounts that were not active since `since`, until [`rebuild`]; returns how many.
pub async fn drop_unused(tx: &mut Tx, since: Time) -> Result<u64> {
    let dropped = tx
        .query(sql!(
            "UPDATE users SET feed_state = 'dropped'
             WHERE feed_state = 'live' AND coalesce(last_active_at, created_at) < $1"
        ))
        .bind(since)
        .execute()
        .await?;
    if dropped > 0 {
        tx.query(sql!(
            "DELETE FROM feed_entries WHERE kind = 0 AND owner_id IN (SELECT u.account_id FROM users u WHERE u.feed_state = 'dropped')"
        ))
        .execute()
        .await?;
    }
    Ok(dropped)
}

/// The local followers of `author` who asked to be notified of each new status.
pub async fn list_notified_followers(db: impl Executor, author: AccountId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.account_id FROM follows f JOIN users u ON u.account_id = f.account_id
         WHERE f.target_account_id = $1 AND f.notify"
    ))
    .bind(author)
    .scalars()
    .await
}

//! Home feeds: rows written by jobs, read as one range of an index.
//!
//! One statement serves all followers of an author; who gets a status follows the contract's rules, section 12.

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::model::{AccountId, StatusId, Time};
use crate::sql;

/// What keeps a status out of the feed of the account `o.owner`: its id, author, the original's author (or the author),
/// now and the original, as SQL.
macro_rules! unwanted {
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
pub(super) use unwanted;

/// True for a reblog (its id, the original) whose original, or a reblog of it, is among the newest 40 of the feed (its kind,
/// its owner).
macro_rules! repeated {
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
pub(super) use repeated;

/// What keeps the status of a [`Spread`] out of the home feed of `o.owner`.
macro_rules! kept_out {
    () => {
        concat!(unwanted!("$1", "$2", "$5", "$7"), " AND NOT ", repeated!("$1", "$8", "0", "o.owner"))
    };
}

/// A status on its way to feeds.
#[derive(Clone, Debug)]
pub struct Spread {
    /// The status, or the reblog.
    pub status: StatusId,
    /// Its author.
    pub author: AccountId,
    /// The original of a reblog, else the status.
    pub original: StatusId,
    /// The author of that.
    pub original_author: AccountId,
    /// Whom it answers, when that is someone else.
    pub in_reply_to: Option<AccountId>,
    /// Its language.
    pub language: Option<String>,
    /// Only for whoever it mentions.
    pub restricted: bool,
    /// Now, for mutes that end.
    pub now: Time,
}

/// Writes a status to the feeds of its author's local followers, all in one statement. Gives how many got it.
///
/// # Errors
/// When the database does.
pub async fn spread_to_followers(tx: &mut Tx, spread: &Spread) -> Result<u64> {
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
        sqlite: sqlite!() kept_out!() " ON CONFLICT DO NOTHING";
        postgres: postgres!() kept_out!() " ON CONFLICT DO NOTHING"
    );
    bind(tx, sql, spread).await
}

/// Writes a public status to the feeds of whoever follows one of its hashtags. Gives how many got it.
///
/// # Errors
/// When the database does.
pub async fn spread_to_tag_followers(tx: &mut Tx, spread: &Spread) -> Result<u64> {
    let sql = sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, o.owner, CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($8 AS BIGINT)
         FROM (SELECT DISTINCT tf.account_id AS owner FROM status_tags st
               JOIN tag_follows tf ON tf.tag_id = st.tag_id
               JOIN users u ON u.account_id = tf.account_id
               WHERE st.status_id = $1 AND u.feed_state = 'live' AND ($3 = '' OR $3 <> '') AND (NOT $4 OR $4)
                 AND ($6 = CAST(0 AS BIGINT) OR $6 <> 0)) o
         WHERE " kept_out!() " ON CONFLICT DO NOTHING"
    );
    bind(tx, sql, spread).await
}

async fn bind(tx: &mut Tx, sql: super::sql::Sql, spread: &Spread) -> Result<u64> {
    tx.query(sql)
        .bind(spread.status)
        .bind(spread.author)
        .bind(spread.language.clone().unwrap_or_default())
        .bind(spread.restricted)
        .bind(spread.original_author)
        .bind(spread.in_reply_to.map_or(0, i64::from))
        .bind(spread.now)
        .bind(spread.original)
        .execute()
        .await
}

/// Writes one entry: an author's own status, so that they see it at once.
///
/// # Errors
/// When the database does.
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

/// Which statuses `s` of a followed account (follow `f`, owner `$1`) belong in a feed that is filled afterwards.
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

/// Fills the newest `limit` statuses of `target` into the feed of `owner`, who follows them.
///
/// # Errors
/// When the database does.
pub async fn merge(tx: &mut Tx, owner: AccountId, target: AccountId, limit: i64) -> Result<()> {
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

/// Builds the feed of `owner` anew from everything since `since` that belongs there, at most `limit` entries.
///
/// # Errors
/// When the database does.
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

/// Says whether the feed of `owner` is kept: `live`, or `dropped` until they return.
///
/// # Errors
/// When the database does.
pub async fn set_state(tx: &mut Tx, owner: AccountId, state: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET feed_state = $2 WHERE account_id = $1"))
        .bind(owner)
        .bind(state.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// Takes the statuses of `target` out of the feed of `owner`; with `reblogs`, also what others reblogged of theirs.
///
/// # Errors
/// When the database does.
pub async fn unmerge(tx: &mut Tx, owner: AccountId, target: AccountId, reblogs: bool) -> Result<()> {
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

/// True when `owner` follows `target`, and when they block or mute them.
///
/// # Errors
/// When the database does.
pub async fn tie(db: impl Executor, owner: AccountId, target: AccountId) -> Result<(bool, bool)> {
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

/// Local accounts with a kept feed, after `after`, at most `limit`: the walk of the clean-up.
///
/// # Errors
/// When the database does.
pub async fn list_owners(db: impl Executor, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT u.account_id FROM users u WHERE u.account_id > $1 AND u.feed_state = 'live' ORDER BY u.account_id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// Cuts the feed of each of `owners` to its newest `keep` entries. `kind` is 0 for home feeds.
///
/// # Errors
/// When the database does.
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

/// Drops the feeds of whoever was not here since `since`; they are built again on return.
///
/// # Errors
/// When the database does.
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

/// The local followers of `author` who want a notification of each of their statuses.
///
/// # Errors
/// When the database does.
pub async fn list_notified(db: impl Executor, author: AccountId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.account_id FROM follows f JOIN users u ON u.account_id = f.account_id
         WHERE f.target_account_id = $1 AND f.notify"
    ))
    .bind(author)
    .scalars()
    .await
}

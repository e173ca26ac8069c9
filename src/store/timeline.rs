//! The ids that a page of a timeline is cut from. Who may see them is decided afterwards, for the whole page at once.
//!
//! Each statement is one range of one index; none depends on the size of the tables.

use super::sql::{Ids, Texts};
use super::{Executor, Result};
use crate::model::status::Visibility;
use crate::model::{AccountId, Cursor, RowId, StatusId, TagId};
use crate::{paged, sql};

/// The entries of `account`'s home feed.
///
/// # Errors
/// When the database does.
pub async fn home(db: impl Executor, account: AccountId, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT h.status_id FROM feed_entries h
         WHERE h.kind = 0 AND h.owner_id = $1 AND h.status_id < $2 AND h.status_id > $3",
        by "h.status_id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// The entries of a feed of a plugin's own: `name` as it declares it, and which of that name.
///
/// # Errors
/// When the database does.
pub async fn plugin_feed(
    db: impl Executor,
    plugin: i64,
    name: &str,
    key: i64,
    cursor: &Cursor,
) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT h.status_id FROM feed_entries h
         WHERE h.kind = (SELECT f.kind FROM plugin_feeds f WHERE f.plugin_id = $1 AND f.name = $2)
           AND h.owner_id = $3 AND h.status_id < $4 AND h.status_id > $5",
        by "h.status_id", limit "$6"
    );
    let query = db.query(sql).bind(plugin).bind(name.to_owned()).bind(key);
    let query = query.bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// Which statuses of the public timelines are wanted.
#[derive(Clone, Debug, Default)]
pub struct PublicFilter {
    /// Only this server's.
    pub local: bool,
    /// Only other servers'.
    pub remote: bool,
    /// Only those with media.
    pub only_media: bool,
    /// Only these languages, and those without one; empty: all.
    pub languages: Vec<String>,
}

/// Statuses that stand on the public timelines.
///
/// # Errors
/// When the database does.
pub async fn public(db: impl Executor, filter: &PublicFilter, cursor: &Cursor) -> Result<Vec<StatusId>> {
    macro_rules! listed {
        ($which:literal) => {
            paged!(
                cursor,
                "SELECT s.id FROM statuses s
                 WHERE s.listed AND s.id < $1 AND s.id > $2 AND (NOT $3 OR s.has_media)
                   AND (NOT $4 OR s.language IS NULL OR s.language" in("$5") ")" $which,
                by "s.id", limit "$6"
            )
        };
    }
    let sql = match (filter.local, filter.remote) {
        (true, false) => listed!("AND s.local"),
        (false, true) => listed!("AND NOT s.local"),
        // Only these and only those: neither, as if nothing was asked for (contract rules, section 12).
        (false, false) | (true, true) => listed!(""),
    };
    let query = db
        .query(sql)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(filter.only_media)
        .bind(!filter.languages.is_empty())
        .bind(Texts::of(filter.languages.iter().cloned()))
        .bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// Which statuses of a hashtag are wanted.
#[derive(Clone, Debug, Default)]
pub struct TagFilter {
    /// Only this server's.
    pub local: bool,
    /// Only other servers'.
    pub remote: bool,
    /// Only those with media.
    pub only_media: bool,
    /// Only those that have every one of these hashtags as well.
    pub all: Vec<TagId>,
    /// Only those that have none of these.
    pub none: Vec<TagId>,
}

/// Statuses with a hashtag, replies included.
///
/// # Errors
/// When the database does.
pub async fn tag(db: impl Executor, tag: TagId, filter: &TagFilter, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT st.status_id
         FROM status_tags st
         JOIN statuses s ON s.id = st.status_id
         WHERE st.tag_id = $1 AND st.status_id < $2 AND st.status_id > $3
           AND s.visibility IN ('public', 'public_unlisted', 'login') AND s.reblog_of_id IS NULL
           AND (NOT $4 OR s.local) AND (NOT $5 OR NOT s.local) AND (NOT $6 OR s.has_media)
           AND (SELECT COUNT(*) FROM status_tags x WHERE x.status_id = st.status_id AND x.tag_id" in("$7") ") = $8
           AND NOT EXISTS (SELECT 1 FROM status_tags x WHERE x.status_id = st.status_id AND x.tag_id" in("$9") ")",
        by "st.status_id", limit "$10"
    );
    let only_one = filter.local != filter.remote;
    let query = db
        .query(sql)
        .bind(tag)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(filter.local && only_one)
        .bind(filter.remote && only_one)
        .bind(filter.only_media)
        .bind(Ids::of(filter.all.iter().copied()))
        .bind(i64::try_from(filter.all.len()).unwrap_or(i64::MAX))
        .bind(Ids::of(filter.none.iter().copied()))
        .bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// Which of an account's statuses are wanted.
#[derive(Clone, Debug, Default)]
pub struct ProfileFilter {
    /// Only those with media.
    pub only_media: bool,
    /// No replies to others.
    pub exclude_replies: bool,
    /// No reblogs.
    pub exclude_reblogs: bool,
    /// Only those with this hashtag.
    pub tagged: Option<TagId>,
}

/// Statuses of `account` that `audience` or a mention opens to `viewer`.
///
/// # Errors
/// When the database does.
pub async fn profile(
    db: impl Executor,
    account: AccountId,
    viewer: Option<AccountId>,
    audience: &[Visibility],
    filter: &ProfileFilter,
    cursor: &Cursor,
) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT s.id FROM statuses s
         WHERE s.account_id = $1 AND s.id < $2 AND s.id > $3
           AND (s.visibility" in("$4") "OR EXISTS (SELECT 1 FROM mentions m WHERE m.status_id = s.id AND m.account_id = $5))
           AND (NOT $6 OR s.has_media)
           AND (NOT $7 OR s.in_reply_to_id IS NULL OR s.in_reply_to_account_id = s.account_id)
           AND (NOT $8 OR s.reblog_of_id IS NULL)
           AND (NOT $9 OR EXISTS (SELECT 1 FROM status_tags t WHERE t.status_id = s.id AND t.tag_id = $10))",
        by "s.id", limit "$11"
    );
    let query = db
        .query(sql)
        .bind(account)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(Texts::of(audience.iter().map(|visibility| visibility.as_str())))
        .bind(viewer.map_or(0, i64::from))
        .bind(filter.only_media)
        .bind(filter.exclude_replies)
        .bind(filter.exclude_reblogs)
        .bind(filter.tagged.is_some())
        .bind(filter.tagged.map_or(0, i64::from))
        .bind(cursor.limit);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// The pinned statuses of `account`, newest pin first, as (pin, status).
///
/// # Errors
/// When the database does.
pub async fn pinned(db: impl Executor, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT p.id, p.status_id FROM status_pins p WHERE p.account_id = $1 AND p.id < $2 AND p.id > $3",
        by "p.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// What `account` marked as a favourite, as (favourite, status).
///
/// # Errors
/// When the database does.
pub async fn favourites(db: impl Executor, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT f.id, f.status_id FROM favourites f WHERE f.account_id = $1 AND f.id < $2 AND f.id > $3",
        by "f.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// What `account` bookmarked, as (bookmark, status).
///
/// # Errors
/// When the database does.
pub async fn bookmarks(db: impl Executor, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT b.id, b.status_id FROM bookmarks b WHERE b.account_id = $1 AND b.id < $2 AND b.id > $3",
        by "b.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// What `id` answers, directly and on: the oldest first, at most `limit`.
///
/// # Errors
/// When the database does.
pub async fn ancestors(db: impl Executor, id: StatusId, limit: i64) -> Result<Vec<StatusId>> {
    db.query(sql!(
        "WITH RECURSIVE up (id, parent, depth) AS (
            SELECT s.id, s.in_reply_to_id, CAST(0 AS BIGINT) FROM statuses s WHERE s.id = $1
            UNION ALL
            SELECT p.id, p.in_reply_to_id, u.depth + 1 FROM up u JOIN statuses p ON p.id = u.parent WHERE u.depth < $2
         )
         SELECT up.id FROM up WHERE up.depth > 0 ORDER BY up.depth DESC"
    ))
    .bind(id)
    .bind(limit)
    .scalars()
    .await
}

/// An answer and what it answers.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Reply {
    /// The answer.
    pub id: StatusId,
    /// What it answers.
    pub parent: StatusId,
    /// Its author.
    pub account_id: AccountId,
}

/// What answers `id`, directly and on, at most `depth` deep and `limit` in number, the oldest first.
///
/// # Errors
/// When the database does.
pub async fn descendants(db: impl Executor, id: StatusId, depth: i64, limit: i64) -> Result<Vec<Reply>> {
    db.query(sql!(
        "WITH RECURSIVE down (id, parent, account_id, depth) AS (
            SELECT s.id, s.in_reply_to_id, s.account_id, CAST(1 AS BIGINT) FROM statuses s WHERE s.in_reply_to_id = $1
            UNION ALL
            SELECT c.id, c.in_reply_to_id, c.account_id, d.depth + 1
            FROM down d JOIN statuses c ON c.in_reply_to_id = d.id WHERE d.depth < $2
         )
         SELECT down.id, down.parent, down.account_id FROM down ORDER BY down.id LIMIT $3"
    ))
    .bind(id)
    .bind(depth)
    .bind(limit)
    .all()
    .await
}

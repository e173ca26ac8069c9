//! Timelines and threads: pages of status ids, by keyset pagination.
//!
//! Reached from `service::timeline`. The home timeline is a feed, read by [`feed`](crate::feed). Visibility is not
//! checked here: `service::visibility` does it afterwards for the whole page, so that a page may be shorter than its
//! limit (docs/contract/rules.md#4-pagination and docs/contract/rules.md#12-timelines). Each paged statement scans
//! one index in the order of the page and stops at the limit; rows that its filter excludes are read too.

use database::sql::{Ids, Texts};
use database::{Conn, Result, paged, sql};
use model::status::Visibility;
use model::{AccountId, Cursor, RowId, StatusId, TagId, boxed};

/// A filter of the public timelines.
#[derive(Clone, Debug, Default)]
pub struct PublicFilter {
    /// Only statuses of this server.
    pub local: bool,
    /// Only statuses of other servers.
    pub remote: bool,
    /// Only statuses with media.
    pub only_media: bool,
    /// Only statuses in one of these languages, or without a language; empty: all.
    pub languages: Vec<String>,
}

/// A page of the public timeline, newest first.
#[boxed]
pub async fn public(db: Conn<'_>, filter: &PublicFilter, cursor: &Cursor) -> Result<Vec<StatusId>> {
    // Separate texts for local and remote: with a bound flag the planner could not use a partial index. `= TRUE` lets
    // SQLite use `statuses_local`, which begins with that column.
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
        (true, false) => listed!("AND s.listed = TRUE AND s.local"),
        (false, true) => listed!("AND NOT s.local"),
        // Both together mean neither (docs/contract/rules.md#12-timelines).
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

/// A filter of a hashtag's timeline.
#[derive(Clone, Debug, Default)]
pub struct TagFilter {
    /// Only statuses of this server.
    pub local: bool,
    /// Only statuses of other servers.
    pub remote: bool,
    /// Only statuses with media.
    pub only_media: bool,
    /// Only statuses that also have all of these hashtags.
    pub all: Vec<TagId>,
    /// Only statuses that have none of these hashtags.
    pub none: Vec<TagId>,
}

/// A page of the statuses with a hashtag, newest first: replies included, reblogs not.
///
/// The primary key of `status_tags` leads. A status has all further hashtags when the number of its hashtags in `$7`
/// equals the length of `$7`.
#[boxed]
pub async fn tag(db: Conn<'_>, tag: TagId, filter: &TagFilter, cursor: &Cursor) -> Result<Vec<StatusId>> {
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

/// A page of the public statuses with a card, newest first, by discoverable authors; only those of this server with
/// `local`, only those of other servers with `remote`. The index `status_cards_card` leads.
#[boxed]
pub async fn link(db: Conn<'_>, card: RowId, local: bool, remote: bool, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT x.status_id
         FROM status_cards x
         JOIN statuses s ON s.id = x.status_id
         JOIN accounts a ON a.id = s.account_id
         WHERE x.card_id = $1 AND x.status_id < $2 AND x.status_id > $3
           AND s.visibility = 'public' AND coalesce(a.discoverable, FALSE)
           AND a.limited_at IS NULL AND a.suspended_at IS NULL
           AND (NOT $5 OR s.local) AND (NOT $6 OR NOT s.local)",
        by "x.status_id", limit "$4"
    );
    let query = db.query(sql).bind(card).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    let query = query.bind(local).bind(remote);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// A filter of an account's statuses.
#[derive(Clone, Debug, Default)]
pub struct ProfileFilter {
    /// Only statuses with media.
    pub only_media: bool,
    /// No replies to other accounts.
    pub exclude_replies: bool,
    /// No reblogs.
    pub exclude_reblogs: bool,
    /// No direct statuses.
    pub exclude_direct: bool,
    /// No statuses that stay on this server.
    pub exclude_local_only: bool,
    /// Only statuses with this hashtag.
    pub tagged: Option<TagId>,
}

/// A page of the statuses of `account`, newest first, whose visibility is one of `audience` or that mention `viewer`.
/// The index `statuses_account` leads.
#[boxed]
pub async fn profile(
    db: Conn<'_>,
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
           AND (NOT $9 OR EXISTS (SELECT 1 FROM status_tags t WHERE t.status_id = s.id AND t.tag_id = $10))
           AND (NOT $12 OR s.visibility <> 'direct')
           AND (NOT $13 OR NOT s.local_only)",
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
        .bind(cursor.limit)
        .bind(filter.exclude_direct)
        .bind(filter.exclude_local_only);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// A page of the pinned statuses of `account`, newest pin first, as (pin id, status).
#[boxed]
pub async fn pinned(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT p.id, p.status_id FROM status_pins p WHERE p.account_id = $1 AND p.id < $2 AND p.id > $3",
        by "p.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// A page of the favourites of `account`, newest first, as (favourite id, status).
#[boxed]
pub async fn favourites(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT f.id, f.status_id FROM favourites f WHERE f.account_id = $1 AND f.id < $2 AND f.id > $3",
        by "f.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// A page of the bookmarks of `account`, newest first, as (bookmark id, status).
#[boxed]
pub async fn bookmarks(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, StatusId)>> {
    let sql = paged!(
        cursor,
        "SELECT b.id, b.status_id FROM bookmarks b WHERE b.account_id = $1 AND b.id < $2 AND b.id > $3",
        by "b.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The ancestors of `id`: its parent, its parent's parent and so on, at most `limit` of them, the topmost first.
#[boxed]
pub async fn ancestors(db: Conn<'_>, id: StatusId, limit: i64) -> Result<Vec<StatusId>> {
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

/// The number of public and unlisted statuses in the conversation of `id`, at most `most`: a range of the index
/// `statuses_conversation`.
#[boxed]
pub async fn count_thread(db: Conn<'_>, id: StatusId, most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(*)
         FROM (SELECT s.id FROM statuses s
               WHERE s.conversation_id = (SELECT o.conversation_id FROM statuses o WHERE o.id = $1)
                 AND s.visibility IN ('public', 'unlisted', 'public_unlisted') AND s.reblog_of_id IS NULL
               LIMIT $2) known"
    ))
    .bind(id)
    .bind(most)
    .scalar()
    .await
}

/// A reply and its parent.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Reply {
    pub id: StatusId,
    /// The status it replies to.
    pub parent: StatusId,
    pub account_id: AccountId,
}

/// The descendants of `id`: its replies, their replies and so on, at most `depth` levels and `limit` statuses, the
/// nearest levels first and per parent the oldest first; in the order of their ids.
///
/// The recursion proceeds by level, and ends with the last required row: on SQLite by its own `LIMIT`, on PostgreSQL,
/// which produces its rows on demand, by the limit of the surrounding query. For each parent at most `limit` replies
/// are read, a range of the index `statuses_replies`. So neither a long thread nor a status with a hundred thousand
/// replies is read completely.
#[boxed]
pub async fn descendants(db: Conn<'_>, id: StatusId, depth: i64, limit: i64) -> Result<Vec<Reply>> {
    macro_rules! down {
        ($direct:literal, $further:literal) => {
            concat!(
                "WITH RECURSIVE down (id, parent, account_id, depth) AS (
                    SELECT s.id, s.in_reply_to_id, s.account_id, CAST(1 AS BIGINT) FROM ",
                $direct,
                " UNION ALL
                 SELECT c.id, c.in_reply_to_id, c.account_id, d.depth + 1 FROM down d CROSS JOIN ",
                $further
            )
        };
    }
    db.query(sql!(
        sqlite: down!(
            "statuses s
             WHERE s.id IN (SELECT r.id FROM statuses r WHERE r.in_reply_to_id = $1 ORDER BY r.id LIMIT $3)",
            "statuses c
             WHERE d.depth < $2
               AND c.id IN (SELECT r.id FROM statuses r WHERE r.in_reply_to_id = d.id ORDER BY r.id LIMIT $3)
             LIMIT $3"
        ) ") SELECT n.id, n.parent, n.account_id FROM down n ORDER BY n.id";
        postgres: down!(
            "(SELECT r.id, r.in_reply_to_id, r.account_id FROM statuses r
              WHERE r.in_reply_to_id = $1 ORDER BY r.id LIMIT $3) s",
            "LATERAL (SELECT r.id, r.in_reply_to_id, r.account_id FROM statuses r
                      WHERE r.in_reply_to_id = d.id ORDER BY r.id LIMIT $3) c
             WHERE d.depth < $2"
        ) ") SELECT n.id, n.parent, n.account_id
           FROM (SELECT down.id, down.parent, down.account_id FROM down LIMIT $3) n ORDER BY n.id"
    ))
    .bind(id)
    .bind(depth)
    .bind(limit)
    .all()
    .await
}

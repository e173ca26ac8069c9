//! Statuses: inserting them, reading them with what a page needs to render them and to decide their visibility, and
//! their counters.
//!
//! Everything is read for a whole page at once, one statement per kind of row. Does not decide who may see a status:
//! `service::visibility` does, from [`Head`]. What else belongs to writing one is in [`publish`](super::publish),
//! timelines are in [`timeline`](super::timeline).

use super::relation_sql::{blocks, blocks_domain, mutes};
use super::sql::Ids;
use super::{Db, Executor, Result, Tx};
use crate::sql;
use model::status::Visibility;
use model::{AccountId, ConversationId, Status, StatusId, status_columns, status_insert};

/// The facts that decide whether and how a viewer sees a status, without its content; see [`heads`].
#[derive(Clone, Debug)]
pub struct Head {
    /// The status.
    pub id: StatusId,
    /// Key of its cached rendering.
    pub version: i64,
    /// Its author.
    pub account_id: AccountId,
    /// Key of the author's cached rendering.
    pub account_version: i64,
    /// Who may see it.
    pub visibility: Visibility,
    /// The original, when this is a reblog.
    pub reblog_of_id: Option<StatusId>,
    /// Its conversation (thread).
    pub conversation_id: Option<ConversationId>,
    /// The author is suspended.
    pub author_suspended: bool,
    /// The author is limited.
    pub author_limited: bool,
    /// The viewer follows the author.
    pub following: bool,
    /// The viewer is mentioned, or in the audience of a limited status. Only looked up for private, limited and direct
    /// statuses, and false for all others.
    pub mentioned: bool,
    /// The author blocks the viewer.
    pub blocked_by: bool,
    /// The viewer blocks the author.
    pub blocking: bool,
    /// The viewer mutes the author; an expired mute does not count.
    pub muting: bool,
    /// The viewer blocks the author's domain.
    pub domain_blocking: bool,
    /// The viewer favourited it.
    pub favourited: bool,
    /// The viewer reblogged it.
    pub reblogged: bool,
    /// The viewer bookmarked it.
    pub bookmarked: bool,
    /// The viewer muted the thread.
    pub muted: bool,
    /// The viewer pinned it to their profile.
    pub pinned: bool,
}

/// A [`Head`] as it is read: the boolean facts are bits of one number, because every column of every row costs a copy.
#[derive(Debug, model::Row)]
struct HeadRow {
    id: StatusId,
    version: i64,
    account_id: AccountId,
    account_version: i64,
    visibility: Visibility,
    reblog_of_id: Option<StatusId>,
    conversation_id: Option<ConversationId>,
    facts: i64,
}

impl From<HeadRow> for Head {
    fn from(row: HeadRow) -> Self {
        let fact = |bit: i64| row.facts & bit != 0;
        Self {
            id: row.id,
            version: row.version,
            account_id: row.account_id,
            account_version: row.account_version,
            visibility: row.visibility,
            reblog_of_id: row.reblog_of_id,
            conversation_id: row.conversation_id,
            author_suspended: fact(1),
            author_limited: fact(2),
            following: fact(4),
            mentioned: fact(8),
            blocked_by: fact(16),
            blocking: fact(32),
            muting: fact(64),
            domain_blocking: fact(128),
            favourited: fact(256),
            reblogged: fact(512),
            bookmarked: fact(1024),
            muted: fact(2048),
            pinned: fact(4096),
        }
    }
}

/// Heads of the statuses that exist among `ids` and of the originals of reblogs among them, in no particular order.
///
/// The CTE `wanted` adds the originals, so that one statement is enough; `UNION` removes the duplicate when a page has
/// both a reblog and its original. Each `EXISTS` looks up one row by a unique index of the pair in question, and the
/// cheap test before some of them (visibility, author) saves the look-up where it could not find anything.
pub async fn heads(db: &Db, viewer: Option<AccountId>, ids: &[StatusId], now: model::Time) -> Result<Vec<Head>> {
    macro_rules! authors {
        () => {
            "CASE WHEN a.suspended_at IS NULL THEN 0 ELSE 1 END + CASE WHEN a.limited_at IS NULL THEN 0 ELSE 2 END"
        };
    }
    let ids = Ids::of(ids.iter().copied());
    let rows: Vec<HeadRow> = match viewer {
        None => {
            db.query(sql!(
                "WITH wanted (id) AS (
                    SELECT id FROM statuses WHERE id" in("$1")
                   "UNION
                    SELECT reblog_of_id FROM statuses WHERE id" in("$1") "AND reblog_of_id IS NOT NULL
                 )
                 SELECT s.id, s.version, s.account_id, a.version AS account_version, s.visibility, s.reblog_of_id,
                        s.conversation_id, CAST(" authors!() " AS BIGINT) AS facts
                 FROM wanted w
                 JOIN statuses s ON s.id = w.id
                 JOIN accounts a ON a.id = s.account_id"
            ))
            .bind(ids)
            .all()
            .await?
        }
        Some(viewer) => {
            db.query(sql!(
                "WITH wanted (id) AS (
                    SELECT id FROM statuses WHERE id" in("$1")
                   "UNION
                    SELECT reblog_of_id FROM statuses WHERE id" in("$1") "AND reblog_of_id IS NOT NULL
                 )
                 SELECT s.id, s.version, s.account_id, a.version AS account_version, s.visibility, s.reblog_of_id,
                        s.conversation_id,
                        CAST(" authors!() "
                        + CASE WHEN EXISTS (SELECT 1 FROM follows f
                                            WHERE f.account_id = $2 AND f.target_account_id = s.account_id) THEN 4 ELSE 0 END
                        + CASE WHEN s.visibility IN ('private', 'limited', 'direct')
                                AND EXISTS (SELECT 1 FROM mentions m WHERE m.status_id = s.id AND m.account_id = $2) THEN 8 ELSE 0 END
                        + CASE WHEN " blocks!("s.account_id", "$2") " THEN 16 ELSE 0 END
                        + CASE WHEN " blocks!("$2", "s.account_id") " THEN 32 ELSE 0 END
                        + CASE WHEN " mutes!("$2", "s.account_id", "$3") " THEN 64 ELSE 0 END
                        + CASE WHEN " blocks_domain!("$2", "a.domain") " THEN 128 ELSE 0 END
                        + CASE WHEN EXISTS (SELECT 1 FROM favourites f
                                            WHERE f.account_id = $2 AND f.status_id = s.id) THEN 256 ELSE 0 END
                        + CASE WHEN EXISTS (SELECT 1 FROM statuses r
                                            WHERE r.account_id = $2 AND r.reblog_of_id = s.id) THEN 512 ELSE 0 END
                        + CASE WHEN EXISTS (SELECT 1 FROM bookmarks b
                                            WHERE b.account_id = $2 AND b.status_id = s.id) THEN 1024 ELSE 0 END
                        + CASE WHEN EXISTS (SELECT 1 FROM conversation_mutes c
                                            WHERE c.account_id = $2 AND c.conversation_id = s.conversation_id) THEN 2048 ELSE 0 END
                        + CASE WHEN s.account_id = $2
                                AND EXISTS (SELECT 1 FROM status_pins p
                                            WHERE p.account_id = $2 AND p.status_id = s.id) THEN 4096 ELSE 0 END
                        AS BIGINT) AS facts
                 FROM wanted w
                 JOIN statuses s ON s.id = w.id
                 JOIN accounts a ON a.id = s.account_id"
            ))
            .bind(ids)
            .bind(viewer)
            .bind(now)
            .all()
            .await?
        }
    };
    Ok(rows.into_iter().map(Head::from).collect())
}

/// Inserts a status; false when the author reblogged the same original before, also in a concurrent transaction: the
/// conflict target is the partial unique index `statuses_reblog`.
pub async fn insert(tx: &mut Tx, new: &Status) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            status_insert!()
            " ON CONFLICT (account_id, reblog_of_id) WHERE reblog_of_id IS NOT NULL DO NOTHING"
        ))
        .bind_row(new)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// The status, if there is one, without any check of visibility.
pub async fn find(db: impl Executor, id: StatusId) -> Result<Option<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.id = $1")).bind(id).optional().await
}

/// The statuses that exist among `ids`, in no particular order, without any check of visibility.
pub async fn list(db: impl Executor, ids: &[StatusId]) -> Result<Vec<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// A mention with what its rendering shows.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "named by the StatusMention entity")]
pub struct MentionRow {
    pub status_id: StatusId,
    pub account_id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub url: Option<String>,
}

/// The mentions in `ids`, oldest first, without silent ones.
pub async fn mentions(db: impl Executor, ids: &[StatusId]) -> Result<Vec<MentionRow>> {
    db.query(sql!(
        "SELECT m.status_id, m.account_id, a.username, a.domain, a.url
         FROM mentions m
         JOIN accounts a ON a.id = m.account_id
         WHERE m.status_id" in("$1") "AND NOT m.silent
         ORDER BY m.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The hashtags of `ids` by their normalised names, ordered by status and by the age of the hashtag.
pub async fn tags(db: impl Executor, ids: &[StatusId]) -> Result<Vec<(StatusId, String)>> {
    db.query(sql!(
        "SELECT st.status_id, t.name
         FROM status_tags st
         JOIN tags t ON t.id = st.tag_id
         WHERE st.status_id" in("$1")
        "ORDER BY st.status_id, t.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The application that a local status was written with, and the author's preferences, which decide whether it is
/// shown.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "named by the StatusApplication entity")]
pub struct ApplicationRow {
    pub status_id: StatusId,
    pub name: String,
    pub website: Option<String>,
    pub preferences: model::Json<model::Preferences>,
}

/// The applications of the statuses among `ids` that were written with one.
pub async fn applications(db: impl Executor, ids: &[StatusId]) -> Result<Vec<ApplicationRow>> {
    db.query(sql!(
        "SELECT s.id AS status_id, o.name, o.website, u.preferences
         FROM statuses s
         JOIN oauth_apps o ON o.id = s.app_id
         JOIN users u ON u.account_id = s.account_id
         WHERE s.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// Adds to the counters of a status and counts its version up. An amount may be negative; no counter goes below 0.
///
/// `CASE`, because the engines have no function in common that gives the greater of two values.
pub async fn add_counts(tx: &mut Tx, id: StatusId, replies: i64, reblogs: i64, favourites: i64) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses
         SET replies_count = CASE WHEN replies_count + $2 < 0 THEN 0 ELSE replies_count + $2 END,
             reblogs_count = CASE WHEN reblogs_count + $3 < 0 THEN 0 ELSE reblogs_count + $3 END,
             favourites_count = CASE WHEN favourites_count + $4 < 0 THEN 0 ELSE favourites_count + $4 END,
             version = version + 1
         WHERE id = $1"
    ))
    .bind(id)
    .bind(replies)
    .bind(reblogs)
    .bind(favourites)
    .execute()
    .await?;
    Ok(())
}

/// Counts the versions of statuses up, which invalidates their cached renderings: something outside their rows changed
/// that is shown with them.
pub async fn bump_all(tx: &mut Tx, ids: &[StatusId]) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The id of the remote status with this ActivityPub `uri`. That of a local one has its id in it.
pub async fn find_by_uri(db: impl Executor, uri: &str) -> Result<Option<StatusId>> {
    let row: Option<(StatusId,)> = db
        .query(sql!("SELECT s.id FROM statuses s WHERE s.uri = $1 AND NOT s.local"))
        .bind(uri.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

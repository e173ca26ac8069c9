//! Statuses: inserting them, reading them with the data that a page needs for rendering and visibility, and their
//! counters.
//!
//! Everything is read for a whole page together, one statement per kind of row. Visibility is decided not here but in
//! `service::visibility`, from [`Head`]. Mentions, edits, reblogs and idempotency keys have separate modules,
//! timelines are in [`timeline`](super::timeline).

pub mod card;
pub mod favourite;
pub mod idempotency_key;
pub mod interaction;
pub mod interaction_request;
pub mod media;
pub mod mention;
pub mod poll;
pub mod reblog;
pub mod reference;
pub mod saved_draft;
pub mod scheduled_status;
pub mod status_cleanup;
pub mod status_edit;
pub mod status_search;
pub mod translation_use;

use database::sql::Ids;
use database::{Conn, Engine, Result, Tx, sql};
use model::status::Visibility;
use model::{
    AccountId, Approval, ConversationId, InteractionPolicy, QuoteState, Status, StatusId, Time, boxed, status_columns,
    status_insert,
};

/// The attributes of a status and its author that decide its visibility, and its counters, without its content; see
/// [`heads`].
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Head {
    pub id: StatusId,
    /// Key of its cached rendering.
    pub version: i64,
    pub account_id: AccountId,
    /// Key of the author's cached rendering.
    pub account_version: i64,
    /// Who may see it.
    pub visibility: Visibility,
    /// It stays on this server.
    pub local_only: bool,
    /// The original, when this is a reblog.
    pub reblog_of_id: Option<StatusId>,
    /// It has a poll.
    pub has_poll: bool,
    /// It refers to other statuses, or did before they were deleted.
    pub has_references: bool,
    /// The status of its quote.
    pub quote_id: Option<StatusId>,
    /// `None`: it quotes nothing.
    pub quote_state: Option<QuoteState>,
    /// Who may interact with it.
    pub interaction_policy: InteractionPolicy,
    /// Why its author alone sees it.
    pub approval: Option<Approval>,
    /// The author of the status that it replies to, while that one is to approve it.
    pub approver_id: Option<AccountId>,
    pub conversation_id: Option<ConversationId>,
    /// The author is suspended.
    pub author_suspended: bool,
    /// The author is limited.
    pub author_limited: bool,
    /// Moderators mark all media of the author as sensitive.
    pub author_sensitized: bool,
    /// The number of replies, which changes without the version.
    pub replies_count: i64,
    /// The number of reblogs, as above.
    pub reblogs_count: i64,
    /// The number of favourites, as above.
    pub favourites_count: i64,
    /// The number of statuses that refer to it, as above.
    pub referred_by_count: i64,
    /// The number of statuses that quote it, as above.
    pub quotes_count: i64,
}

impl Head {
    /// The status that it quotes, as its author allowed.
    #[must_use]
    pub fn quoted(&self) -> Option<StatusId> {
        self.quote_id.filter(|_| self.quote_state == Some(QuoteState::Accepted))
    }
}

/// Heads of the statuses that exist among `ids` and of the originals of reblogs among them, ordered by id, without
/// duplicates.
///
/// `UNION ALL` with deduplication in code, because a temporary B-tree for `UNION` costs more than the rest of the
/// statement. On SQLite, `CROSS JOIN` forces look-ups by primary key in this order, and costs less than `IN`. On
/// PostgreSQL, `coalesce` prevents the planner from scanning the index of all reblogs when it estimates them to be
/// few.
#[boxed]
pub async fn heads(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<Head>> {
    macro_rules! head {
        () => {
            "SELECT s.id, s.version, s.account_id, a.version AS account_version, s.visibility, s.local_only,
                    s.reblog_of_id, s.has_poll, s.has_references, s.quote_id, s.quote_state,
                    s.interaction_policy, s.approval,
                    CASE WHEN s.approval = 'pending' THEN s.in_reply_to_account_id END AS approver_id, s.conversation_id, a.suspended_at IS NOT NULL AS author_suspended,
                    a.limited_at IS NOT NULL AS author_limited, a.sensitized_at IS NOT NULL AS author_sensitized, s.replies_count, s.reblogs_count,
                    s.favourites_count, s.referred_by_count, s.quotes_count FROM "
        };
    }
    macro_rules! heads_sql {
        ($page:literal, $is:literal, $original:literal) => {
            concat!(
                head!(),
                $page,
                "statuses s CROSS JOIN accounts a WHERE s.id ",
                $is,
                " AND a.id = s.account_id
                 UNION ALL ",
                head!(),
                $page,
                "statuses r CROSS JOIN statuses s CROSS JOIN accounts a
                 WHERE r.id ",
                $is,
                " AND a.id = s.account_id AND s.id = ",
                $original
            )
        };
    }
    let mut heads: Vec<Head> = db
        .query(sql!(
            sqlite: heads_sql!("json_each($1) e CROSS JOIN ", "= e.value", "r.reblog_of_id");
            postgres: heads_sql!("", "= ANY($1)", "coalesce(r.reblog_of_id, 0)")
        ))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await?;
    heads.sort_unstable_by_key(|head| head.id);
    heads.dedup_by_key(|head| head.id);
    Ok(heads)
}

/// Inserts a status; false when the author already reblogged the same original, also in a concurrent transaction: the
/// conflict target is the partial unique index `statuses_reblog`.
#[boxed]
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

/// The status, without any check of visibility.
#[boxed]
pub async fn find(db: Conn<'_>, id: StatusId) -> Result<Option<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.id = $1")).bind(id).optional().await
}

/// Marks a status as sensitive, or not.
#[boxed]
pub async fn set_sensitive(tx: &mut Tx, id: StatusId, sensitive: bool) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET sensitive = $2, version = version + 1 WHERE id = $1"))
        .bind(id)
        .bind(sensitive)
        .execute()
        .await?;
    Ok(())
}

/// As [`find`], locked against changes and deletion until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: StatusId) -> Result<Option<Status>> {
    tx.query(sql!(
        sqlite: "SELECT " status_columns!() " FROM statuses s WHERE s.id = $1";
        postgres: "SELECT " status_columns!() " FROM statuses s WHERE s.id = $1 FOR NO KEY UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// The statuses that exist among `ids`, in no particular order, without any check of visibility.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// A mention with the data for its rendering.
#[derive(Debug, model::Row)]
pub struct MentionRow {
    pub status_id: StatusId,
    pub account_id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub url: Option<String>,
}

/// The mentions in `ids`, oldest first, without silent ones.
#[boxed]
pub async fn mentions(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<MentionRow>> {
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
#[boxed]
pub async fn tags(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<(StatusId, String)>> {
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

/// The application of a local status, and the author's preferences, which decide whether it is shown.
#[derive(Debug, model::Row)]
pub struct ApplicationRow {
    pub status_id: StatusId,
    pub name: String,
    pub website: Option<String>,
    pub preferences: model::Json<model::Preferences>,
}

/// The applications of the statuses among `ids` that have one.
#[boxed]
pub async fn applications(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<ApplicationRow>> {
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

/// Adds to the counters of a status. An amount may be negative; no counter goes below 0. The version is not changed:
/// cached renderings do not contain counters.
///
/// `CASE`, because the engines have no common function for the greater of two values.
#[boxed]
pub async fn add_counts(tx: &mut Tx, id: StatusId, replies: i64, reblogs: i64, favourites: i64) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses
         SET replies_count = CASE WHEN replies_count + $2 < 0 THEN 0 ELSE replies_count + $2 END,
             reblogs_count = CASE WHEN reblogs_count + $3 < 0 THEN 0 ELSE reblogs_count + $3 END,
             favourites_count = CASE WHEN favourites_count + $4 < 0 THEN 0 ELSE favourites_count + $4 END
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

/// The version of a status since its publication: neither edited nor incremented by [`bump_all`].
pub const UNCHANGED: i64 = 0;

/// Increments the versions of statuses, which invalidates their cached renderings: data outside their rows that is
/// rendered with them has changed.
#[boxed]
pub async fn bump_all(tx: &mut Tx, ids: &[StatusId]) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The id of the remote status with this ActivityPub `uri`. The `uri` of a local status contains its id.
#[boxed]
pub async fn find_by_uri(db: Conn<'_>, uri: &str) -> Result<Option<StatusId>> {
    let row: Option<(StatusId,)> = db
        .query(sql!("SELECT s.id FROM statuses s WHERE s.uri = $1 AND NOT s.local"))
        .bind(uri.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Inserts a conversation (thread). It has no `owner_account_id`: it belongs to the author of its first status.
#[boxed]
pub async fn insert_conversation(tx: &mut Tx, id: ConversationId, now: Time) -> Result<()> {
    tx.query(sql!("INSERT INTO conversations (id, created_at) VALUES ($1, $2)")).bind(id).bind(now).execute().await?;
    Ok(())
}

/// The account that closed a thread: nobody else may reply any more.
#[boxed]
pub async fn find_closer(db: Conn<'_>, conversation: ConversationId) -> Result<Option<AccountId>> {
    let row: Option<(Option<AccountId>,)> = db
        .query(sql!("SELECT c.closed_by_id FROM conversations c WHERE c.id = $1"))
        .bind(conversation)
        .optional()
        .await?;
    Ok(row.and_then(|(closer,)| closer))
}

/// Closes a thread for everyone but `closer`, or opens it again (`None`).
#[boxed]
pub async fn set_closer(tx: &mut Tx, conversation: ConversationId, closer: Option<AccountId>) -> Result<()> {
    tx.query(sql!("UPDATE conversations SET closed_by_id = $2 WHERE id = $1"))
        .bind(conversation)
        .bind(closer)
        .execute()
        .await?;
    Ok(())
}

/// The first status of a thread, as far as it is known here.
#[boxed]
pub async fn find_root(db: Conn<'_>, conversation: ConversationId) -> Result<Option<Status>> {
    db.query(sql!(
        "SELECT " status_columns!() " FROM statuses s
         WHERE s.conversation_id = $1 AND s.in_reply_to_id IS NULL AND s.reblog_of_id IS NULL ORDER BY s.id LIMIT 1"
    ))
    .bind(conversation)
    .optional()
    .await
}

/// Changes why the author of a status alone sees it, and increments its version.
#[boxed]
pub async fn set_approval(tx: &mut Tx, id: StatusId, approval: Option<Approval>) -> Result<()> {
    tx.query(sql!("UPDATE statuses SET approval = $2, version = version + 1 WHERE id = $1"))
        .bind(id)
        .bind(approval)
        .execute()
        .await?;
    Ok(())
}

/// Locks the rows whose counters the deletion of a status changes until the transaction ends, so that two deletions
/// of one status count once: accounts before statuses, each in the order of their ids, which prevents deadlocks
/// between deletions. Values that were read before may be out of date. Does nothing on SQLite, which has one writer.
#[boxed]
pub async fn lock_for_deletion(tx: &mut Tx, id: StatusId) -> Result<()> {
    if tx.engine() == Engine::Sqlite {
        return Ok(());
    }
    let _: Vec<i64> = tx
        .query(sql!(
            sqlite: "SELECT s.account_id FROM statuses s WHERE s.id = $1";
            postgres: "SELECT a.id FROM accounts a
                       WHERE a.id IN (SELECT s.account_id FROM statuses s WHERE s.id = $1
                                      UNION ALL SELECT s.account_id FROM statuses s WHERE s.reblog_of_id = $1)
                       ORDER BY a.id FOR NO KEY UPDATE OF a"
        ))
        .bind(id)
        .scalars()
        .await?;
    let _: Vec<i64> = tx
        .query(sql!(
            sqlite: "SELECT s.id FROM statuses s WHERE s.id = $1";
            postgres: "SELECT s.id FROM statuses s
                       WHERE s.id IN (SELECT $1 UNION ALL SELECT t.in_reply_to_id FROM statuses t WHERE t.id = $1
                                      UNION ALL SELECT t.reblog_of_id FROM statuses t WHERE t.id = $1
                                      UNION ALL SELECT r.target_id FROM status_references r WHERE r.status_id = $1
                                      UNION ALL SELECT r.status_id FROM status_references r WHERE r.target_id = $1)
                       ORDER BY s.id FOR UPDATE OF s"
        ))
        .bind(id)
        .scalars()
        .await?;
    Ok(())
}

/// Deletes a status, from which the caller detached its media; false when it does not exist. Foreign keys delete its
/// reblogs, mentions, favourites and notifications; its feed entries are skipped when they are read.
#[boxed]
pub async fn delete(tx: &mut Tx, id: StatusId) -> Result<bool> {
    // The foreign key would also clear the parent of replies, but not increment their version: their cached
    // renderings contain the parent.
    tx.query(sql!("UPDATE statuses SET in_reply_to_id = NULL, version = version + 1 WHERE in_reply_to_id = $1"))
        .bind(id)
        .execute()
        .await?;
    crate::reference::forget_target(tx, id).await?;
    Ok(tx.query(sql!("DELETE FROM statuses WHERE id = $1")).bind(id).execute().await? > 0)
}

/// How many statuses of `author` anyone may read, without reblogs; counted up to `most`.
#[boxed]
pub async fn count_anonymous(db: Conn<'_>, author: AccountId, most: i64) -> Result<i64> {
    let found: Vec<StatusId> = db
        .query(sql!(
            "SELECT s.id FROM statuses s
             WHERE s.account_id = $1 AND s.reblog_of_id IS NULL
                   AND s.visibility IN ('public', 'public_unlisted', 'login', 'unlisted')
             ORDER BY s.id DESC
             LIMIT $2"
        ))
        .bind(author)
        .bind(most)
        .scalars()
        .await?;
    Ok(i64::try_from(found.len()).unwrap_or(i64::MAX))
}

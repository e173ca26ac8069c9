//! Old statuses and accounts of other servers, and what keeps them here.
//!
//! Reached from `service::remote::retention`. Candidates are read in the order of their ids, which contain times, a
//! bounded number in each statement.
//!
//! Spec: docs/contract/rules.md#28-defaults-of-settings

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::retention::AccountKeepReason;
use model::{AccountId, Json, StatusId, Time, boxed};

/// A status or reblog, with everything that may keep it.
#[derive(Clone, Debug, model::Row)]
pub struct OldStatus {
    pub id: StatusId,
    pub account_id: AccountId,
    pub local: bool,
    pub is_reblog: bool,
    /// Reblogs of it are here.
    pub has_reblogs: bool,
    /// It reblogs or refers to a status of this server.
    pub own: bool,
    pub pinned: bool,
    /// Direct or limited, and an account of this server is addressed.
    pub direct: bool,
    pub voted: bool,
    pub answered: bool,
    pub favourited: bool,
    pub boosted: bool,
    pub bookmarked: bool,
    pub quoted: bool,
    pub mentioned: bool,
    pub followed: bool,
}

/// The columns of [`OldStatus`]. SQLite does not reorder a `CROSS JOIN`: each begins at the status.
macro_rules! old_statuses {
    () => {
        "SELECT s.id, s.account_id, s.local, s.reblog_of_id IS NOT NULL AS is_reblog,
                EXISTS (SELECT 1 FROM statuses b WHERE b.reblog_of_id = s.id) AS has_reblogs,
                EXISTS (SELECT 1 FROM statuses o WHERE o.id = s.reblog_of_id AND o.local)
                OR (s.has_references
                    AND EXISTS (SELECT 1 FROM status_references r CROSS JOIN statuses o
                                WHERE r.status_id = s.id AND o.id = r.target_id AND o.local)) AS own,
                EXISTS (SELECT 1 FROM status_pins p WHERE p.status_id = s.id) AS pinned,
                s.visibility IN ('direct', 'limited')
                AND EXISTS (SELECT 1 FROM mentions m CROSS JOIN accounts a
                            WHERE m.status_id = s.id AND a.id = m.account_id AND a.domain IS NULL) AS direct,
                s.has_poll
                AND EXISTS (SELECT 1 FROM polls p CROSS JOIN poll_votes v CROSS JOIN accounts a
                            WHERE p.status_id = s.id AND v.poll_id = p.id AND a.id = v.account_id
                              AND a.domain IS NULL) AS voted,
                EXISTS (SELECT 1 FROM statuses l
                        WHERE l.conversation_id = s.conversation_id AND l.local AND l.reblog_of_id IS NULL)
                OR EXISTS (SELECT 1 FROM statuses l WHERE l.in_reply_to_id = s.id AND l.local) AS answered,
                EXISTS (SELECT 1 FROM favourites f CROSS JOIN accounts a
                        WHERE f.status_id = s.id AND a.id = f.account_id AND a.domain IS NULL) AS favourited,
                EXISTS (SELECT 1 FROM statuses l WHERE l.reblog_of_id = s.id AND l.local) AS boosted,
                EXISTS (SELECT 1 FROM bookmarks b WHERE b.status_id = s.id) AS bookmarked,
                EXISTS (SELECT 1 FROM status_references r CROSS JOIN statuses l
                        WHERE r.target_id = s.id AND l.id = r.status_id AND l.local) AS quoted,
                EXISTS (SELECT 1 FROM mentions m CROSS JOIN accounts a
                        WHERE m.status_id = s.id AND a.id = m.account_id AND a.domain IS NULL) AS mentioned,
                EXISTS (SELECT 1 FROM follows f CROSS JOIN accounts a
                        WHERE f.target_account_id = s.account_id AND a.id = f.account_id AND a.domain IS NULL) AS followed
         FROM statuses s"
    };
}

/// The next `limit` statuses and reblogs with ids above `after` and below `before`, oldest first; those of this server
/// are among them, so that the number of read rows is bounded.
#[boxed]
pub async fn list_next(db: Conn<'_>, after: StatusId, before: StatusId, limit: i64) -> Result<Vec<OldStatus>> {
    db.query(sql!(old_statuses!() " WHERE s.id > $1 AND s.id < $2 ORDER BY s.id LIMIT $3"))
        .bind(after)
        .bind(before)
        .bind(limit)
        .all()
        .await
}

/// The statuses `ids` that still exist, as they are now, by id.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<OldStatus>> {
    db.query(sql!(old_statuses!() " WHERE s.id" in("$1") "ORDER BY s.id"))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The statuses that reports about `authors` and strikes against them name: one list for each.
#[boxed]
pub async fn list_reported(db: Conn<'_>, authors: &[AccountId]) -> Result<Vec<Json<Vec<StatusId>>>> {
    db.query(sql!(
        "SELECT r.status_ids FROM reports r WHERE r.status_ids IS NOT NULL AND r.target_account_id" in("$1")
        "UNION ALL
         SELECT w.status_ids FROM account_warnings w WHERE w.status_ids IS NOT NULL AND w.target_account_id" in("$1")
    ))
    .bind(Ids::of(authors.iter().copied()))
    .scalars()
    .await
}

/// Up to `limit` reblogs of `original`, with their authors, oldest first.
#[boxed]
pub async fn list_reblogs(db: Conn<'_>, original: StatusId, limit: i64) -> Result<Vec<(StatusId, AccountId)>> {
    db.query(sql!("SELECT s.id, s.account_id FROM statuses s WHERE s.reblog_of_id = $1 ORDER BY s.id LIMIT $2"))
        .bind(original)
        .bind(limit)
        .all()
        .await
}

/// The number of reblogs of `originals` from the id `from` on.
#[boxed]
pub async fn count_reblogs(db: Conn<'_>, originals: &[StatusId], from: StatusId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM statuses s WHERE s.reblog_of_id" in("$1") "AND s.id >= $2"))
        .bind(Ids::of(originals.iter().copied()))
        .bind(from)
        .scalar()
        .await
}

/// The number of attachments of these statuses.
#[boxed]
pub async fn count_media(db: Conn<'_>, ids: &[StatusId]) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM media_attachments m WHERE m.status_id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .scalar()
        .await
}

/// Deletes the attachments of a remote status, which have no files here; returns how many.
#[boxed]
pub async fn delete_media(tx: &mut Tx, status: StatusId) -> Result<u64> {
    tx.query(sql!("DELETE FROM media_attachments WHERE status_id = $1 AND file IS NULL AND preview IS NULL"))
        .bind(status)
        .execute()
        .await
}

/// An account with the reason that keeps it; `None`: nothing does, as far as the tables of the server show.
#[derive(Clone, Debug, model::Row)]
pub struct OldAccount {
    pub id: AccountId,
    pub local: bool,
    pub kept_by: Option<AccountKeepReason>,
}

/// The columns of [`OldAccount`]; `$1`: the time since which a fetch keeps an account.
macro_rules! old_accounts {
    () => {
        "SELECT a.id, a.domain IS NULL AS local,
                CASE WHEN coalesce(a.fetched_at, a.created_at) >= $1
                          OR EXISTS (SELECT 1 FROM inbound_activities i WHERE i.account_id = a.id)
                     THEN 'recent'
                     WHEN EXISTS (SELECT 1 FROM statuses s WHERE s.account_id = a.id)
                     THEN 'statuses'
                     WHEN EXISTS (SELECT 1 FROM favourites f WHERE f.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM bookmarks b WHERE b.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM poll_votes v WHERE v.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM mentions m WHERE m.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM account_conversations c WHERE c.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM announcement_reactions r WHERE r.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM media_attachments m WHERE m.account_id = a.id)
                     THEN 'marks'
                     WHEN EXISTS (SELECT 1 FROM follows f WHERE f.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM follows f WHERE f.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM follow_requests r WHERE r.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM follow_requests r WHERE r.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM blocks b WHERE b.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM mutes m WHERE m.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM account_notes n WHERE n.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM list_accounts l WHERE l.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM endorsements e WHERE e.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM endorsements e WHERE e.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM suggestion_dismissals d WHERE d.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM notification_permissions p WHERE p.from_account_id = a.id)
                     THEN 'related'
                     WHEN EXISTS (SELECT 1 FROM notifications n WHERE n.from_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM notification_requests r WHERE r.from_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM notices n WHERE n.from_account_id = a.id)
                     THEN 'notified'
                     WHEN a.suspended_at IS NOT NULL OR a.limited_at IS NOT NULL OR a.sensitized_at IS NOT NULL
                          OR a.trendable IS NOT NULL OR a.reviewed_at IS NOT NULL OR a.requested_review_at IS NOT NULL
                          OR EXISTS (SELECT 1 FROM account_warnings w WHERE w.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM reports r WHERE r.target_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM reports r WHERE r.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM held_statuses h WHERE h.account_id = a.id)
                     THEN 'moderated'
                     WHEN a.moved_to_account_id IS NOT NULL
                          OR EXISTS (SELECT 1 FROM accounts m WHERE m.moved_to_account_id = a.id)
                          OR EXISTS (SELECT 1 FROM account_moves m WHERE m.account_id = a.id)
                          OR EXISTS (SELECT 1 FROM account_moves m WHERE m.target_account_id = a.id)
                     THEN 'moved'
                     WHEN EXISTS (SELECT 1 FROM relays y WHERE y.actor_uri = a.uri)
                          OR EXISTS (SELECT 1 FROM preview_cards c WHERE c.creator_account_id = a.id)
                     THEN 'used'
                END AS kept_by
         FROM accounts a"
    };
}

/// The next `limit` accounts with ids above `after` and below `before`, in order; those of this server are among them.
/// `fetched`: an account that was fetched since stays.
#[boxed]
pub async fn list_next_accounts(
    db: Conn<'_>,
    fetched: Time,
    after: AccountId,
    before: AccountId,
    limit: i64,
) -> Result<Vec<OldAccount>> {
    db.query(sql!(old_accounts!() " WHERE a.id > $2 AND a.id < $3 ORDER BY a.id LIMIT $4"))
        .bind(fetched)
        .bind(after)
        .bind(before)
        .bind(limit)
        .all()
        .await
}

/// The accounts `ids` that still exist, as they are now, by id.
#[boxed]
pub async fn list_accounts(db: Conn<'_>, fetched: Time, ids: &[AccountId]) -> Result<Vec<OldAccount>> {
    db.query(sql!(old_accounts!() " WHERE a.id" in("$2") "ORDER BY a.id"))
        .bind(fetched)
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

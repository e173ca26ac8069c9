//! Creating notifications in batches: the facts that decide about each candidate, and inserting the rows.
//!
//! Reached from `service::notification`, which turns [`CandidateFacts`] into a decision; nothing is decided here.

use serde::Serialize;

use super::policy::{PolicyRow, policy_columns};
use crate::relation_sql::{blocks, blocks_domain, mutes};
use database::{Conn, Result, Tx, sql};
use model::notification::NotificationKind;
use model::{AccountId, Json, NotificationId, NotificationType, Preferences, StatusId, Time, boxed};

/// A candidate for a notification, as input of [`facts`].
#[derive(Debug, Serialize)]
pub struct Candidate {
    /// Its index within the batch.
    pub number: usize,
    /// The type it would have.
    pub kind: NotificationKind,
    /// The account that would receive it.
    pub receiver: AccountId,
    /// The account that caused it.
    pub sender: AccountId,
    /// The status it would show.
    pub status: Option<StatusId>,
    /// The lowest group key that it might join.
    pub first_key: Option<String>,
    /// The highest group key that it might join.
    pub last_key: Option<String>,
}

/// The facts that decide whether a candidate becomes a notification. There are none, and so no notification, for a
/// receiver that is not local, suspended, unconfirmed, not approved or a memorial, and for a suspended sender.
#[derive(Clone, Debug, model::Row)]
pub struct CandidateFacts {
    /// The [`Candidate::number`] of the candidate.
    pub number: i64,
    /// The receiver follows the sender.
    pub following: bool,
    /// The receiver blocks the sender, or vice versa.
    pub blocked: bool,
    /// The receiver mutes the sender and hides its notifications; an expired mute does not count.
    pub muted: bool,
    /// The receiver blocks the sender's domain.
    pub domain_blocked: bool,
    /// The receiver muted the conversation of the status.
    pub thread_muted: bool,
    /// For a mention: the status also mentions or replies to an account that the receiver blocks, or mutes with
    /// notifications hidden.
    pub passing: bool,
    /// Moderators limited (silenced) the sender.
    pub sender_limited: bool,
    /// The sender has followed the receiver long enough to count as a follower.
    pub follower: bool,
    /// The sender's account is new.
    pub sender_new: bool,
    /// It is a mention in a direct status.
    pub private_mention: bool,
    /// The receiver permitted the sender: the policy does not apply.
    pub permitted: bool,
    /// The receiver's policy.
    #[row(flatten)]
    pub policy: PolicyRow,
    /// The permissions of the sender's role, when it is highlighted and of a higher position than the receiver's.
    pub staff_permissions: Option<i64>,
    /// The highest group key in use that it might join.
    pub group_key: Option<String>,
    /// The receiver's preferences, for a type that can be sent by mail.
    pub preferences: Option<Json<Preferences>>,
}

/// The time limits for judging a batch of candidates.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    pub now: Time,
    /// Followers since this time or earlier count as followers.
    pub follower: Time,
    /// Accounts created after this time are new.
    pub account: Time,
}

/// The facts about each candidate that has any, in the order of the batch and in one statement.
///
/// `notices` is the batch as a table; `aside` lists the other accounts that a mention's status mentions or replies to.
/// Each fact is a look-up by an index, and the group key the end of a range of `notifications_group`.
#[boxed]
pub async fn facts(db: Conn<'_>, questions: Vec<Candidate>, since: Since) -> Result<Vec<CandidateFacts>> {
    db.query(sql!(
        "WITH notices (number, kind, receiver, sender, status_id, first_key, last_key) AS (
             SELECT CAST(value ->> 'number' AS BIGINT), value ->> 'kind', CAST(value ->> 'receiver' AS BIGINT),
                    CAST(value ->> 'sender' AS BIGINT), CAST(value ->> 'status' AS BIGINT),
                    value ->> 'first_key', value ->> 'last_key'
             FROM" rows("$1")
        "),
         aside (number, receiver, account_id) AS (
             SELECT n.number, n.receiver, m.account_id
             FROM notices n
             JOIN mentions m ON m.status_id = n.status_id
             WHERE n.kind = 'mention' AND NOT m.silent
             UNION ALL
             SELECT n.number, n.receiver, s.in_reply_to_account_id
             FROM notices n
             JOIN statuses s ON s.id = n.status_id
             WHERE n.kind = 'mention' AND s.in_reply_to_account_id IS NOT NULL
         )
         SELECT n.number,
                EXISTS (SELECT 1 FROM follows f WHERE f.account_id = n.receiver AND f.target_account_id = n.sender) AS following,
                " blocks!("n.receiver", "n.sender") " OR " blocks!("n.sender", "n.receiver") " AS blocked,
                " mutes!("n.receiver", "n.sender", "$2", " AND m.hide_notifications") " AS muted,
                " blocks_domain!("n.receiver", "s.domain") " AS domain_blocked,
                EXISTS (SELECT 1 FROM conversation_mutes c JOIN statuses t ON t.conversation_id = c.conversation_id
                        WHERE c.account_id = n.receiver AND t.id = n.status_id) AS thread_muted,
                n.number IN (
                    SELECT o.number FROM aside o
                    WHERE " blocks!("o.receiver", "o.account_id") "
                       OR " mutes!("o.receiver", "o.account_id", "$2", " AND m.hide_notifications") "
                ) AS passing,
                s.limited_at IS NOT NULL AS sender_limited,
                EXISTS (SELECT 1 FROM follows f WHERE f.account_id = n.sender AND f.target_account_id = n.receiver
                        AND f.created_at <= $3) AS follower,
                s.created_at > $4 AS sender_new,
                n.kind = 'mention' AND EXISTS (SELECT 1 FROM statuses t WHERE t.id = n.status_id
                                               AND t.visibility = 'direct') AS private_mention,
                EXISTS (SELECT 1 FROM notification_permissions h
                        WHERE h.account_id = n.receiver AND h.from_account_id = n.sender) AS permitted,
                " policy_columns!() ",
                CASE WHEN p.position > coalesce(q.position, -1) THEN p.permissions END AS staff_permissions,
                CASE WHEN n.first_key IS NULL THEN NULL
                     ELSE (SELECT MAX(k.group_key) FROM notifications k
                           WHERE k.account_id = n.receiver AND k.group_key >= n.first_key AND k.group_key <= n.last_key)
                     END AS group_key,
                CASE WHEN n.kind IN ('mention', 'follow', 'follow_request', 'reblog', 'favourite') THEN u.preferences
                     END AS preferences
         FROM notices n
         JOIN accounts r ON r.id = n.receiver
         JOIN users u ON u.account_id = n.receiver
         JOIN accounts s ON s.id = n.sender
         LEFT JOIN users v ON v.account_id = n.sender
         LEFT JOIN roles p ON p.id = v.role_id AND p.highlighted
         LEFT JOIN roles q ON q.id = u.role_id
         LEFT JOIN notification_policies y ON y.account_id = n.receiver
         WHERE r.suspended_at IS NULL AND NOT r.memorial AND u.confirmed_at IS NOT NULL AND u.approved
           AND s.suspended_at IS NULL
         ORDER BY n.number"
    ))
    .bind(Json(questions))
    .bind(since.now)
    .bind(since.follower)
    .bind(since.account)
    .all()
    .await
}

/// A mention in a direct status, as input of [`answers`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PrivateMention {
    /// Its index within the batch.
    pub number: usize,
    /// The mentioned account.
    pub receiver: AccountId,
    pub sender: AccountId,
    pub status: StatusId,
}

/// The maximum distance to an answered mention up the thread.
const MOST_ANCESTORS: i64 = 100;

/// The numbers of the mentions that reply to a direct status in which the receiver mentioned the sender, at most a
/// hundred statuses up the thread: one statement for the whole batch.
#[boxed]
pub async fn answers(db: Conn<'_>, mentions: Vec<PrivateMention>) -> Result<Vec<i64>> {
    db.query(sql!(
        "WITH RECURSIVE up (number, receiver, sender, status_id, depth) AS (
             SELECT CAST(value ->> 'number' AS BIGINT), CAST(value ->> 'receiver' AS BIGINT),
                    CAST(value ->> 'sender' AS BIGINT), CAST(value ->> 'status' AS BIGINT), CAST(0 AS BIGINT)
             FROM" rows("$1") "
             UNION ALL
             SELECT u.number, u.receiver, u.sender, t.in_reply_to_id, u.depth + 1
             FROM up u
             CROSS JOIN statuses t
             WHERE t.id = u.status_id AND t.in_reply_to_id IS NOT NULL AND u.depth < $2
         )
         SELECT DISTINCT u.number
         FROM up u
         CROSS JOIN statuses t
         WHERE u.depth > 0 AND t.id = u.status_id AND t.account_id = u.receiver AND t.visibility = 'direct'
           AND EXISTS (SELECT 1 FROM mentions m WHERE m.status_id = t.id AND m.account_id = u.sender AND NOT m.silent)"
    ))
    .bind(Json(mentions))
    .bind(MOST_ANCESTORS)
    .scalars()
    .await
}

/// A notification to insert.
#[derive(Clone, Debug, Serialize)]
pub struct NewNotification {
    pub id: NotificationId,
    /// The account that receives it.
    pub receiver: AccountId,
    /// The account that caused it.
    pub sender: AccountId,
    pub kind: NotificationKind,
    /// The id of the row that caused it, such as the favourite or the follow.
    pub activity: i64,
    /// The status to show.
    pub status: Option<StatusId>,
    /// The key of its group; `None`: not grouped.
    pub group_key: Option<String>,
    /// Filtered by the notification policy.
    pub filtered: bool,
    /// It is stored but not announced (streaming, push, mail). Not a column.
    #[serde(skip)]
    pub silent: bool,
    /// The receiver wants to be notified by mail. Not a column.
    #[serde(skip)]
    pub mailed: bool,
}

/// Inserts notifications in one statement; returns the ids of the new ones. There is one for each activity, type and
/// receiver: duplicates are skipped by the unique index `notifications_activity`, so repeating a job is harmless.
#[boxed]
pub async fn insert(tx: &mut Tx, new: Vec<NewNotification>, now: Time) -> Result<Vec<NotificationId>> {
    tx.query(sql!(
        "INSERT INTO notifications (id, account_id, from_account_id, type, activity_id, status_id, group_key, filtered, created_at)
         SELECT CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'receiver' AS BIGINT), CAST(value ->> 'sender' AS BIGINT),
                value ->> 'kind', CAST(value ->> 'activity' AS BIGINT), CAST(value ->> 'status' AS BIGINT),
                value ->> 'group_key', CAST(value ->> 'filtered' AS BOOLEAN), $2
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (activity_id, type, account_id) DO NOTHING
         RETURNING id"
    ))
    .bind(Json(new))
    .bind(now)
    .scalars()
    .await
}

/// Deletes earlier notifications of this type by (receiver, activity), which newer ones will replace.
#[boxed]
pub async fn delete_older(tx: &mut Tx, kind: NotificationType, older: Vec<(AccountId, i64)>) -> Result<()> {
    tx.query(sql!(
        "DELETE FROM notifications
         WHERE type = $1 AND (account_id, activity_id) IN (
             SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT) FROM" rows("$2")
        ")"
    ))
    .bind(kind)
    .bind(Json(older))
    .execute()
    .await?;
    Ok(())
}

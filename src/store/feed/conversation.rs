//! Conversations: the direct statuses of a thread as each participant sees them, materialised like feeds.
//!
//! A row for each account, thread and set of other participants, and the statuses of each. Maintained by
//! `service::conversation`, in the transaction that publishes, edits or deletes a direct status. The thread itself,
//! which every status has, is inserted by [`status`](crate::status).

use serde::Serialize;

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, ConversationId, Cursor, Json, RowId, StatusId, boxed};

/// The participants other than the owner, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participants(pub Vec<AccountId>);

impl From<String> for Participants {
    fn from(text: String) -> Self {
        Self(text.split(',').filter_map(|id| id.parse().ok()).collect())
    }
}

impl std::fmt::Display for Participants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<String> = self.0.iter().map(AccountId::to_string).collect();
        f.write_str(&ids.join(","))
    }
}

/// A conversation as its owner sees it.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "c")]
pub struct Conversation {
    /// Its id, which differs from the thread's id.
    pub id: RowId,
    pub account_id: AccountId,
    /// The other participants; empty for statuses without mentions.
    #[row(from = "String")]
    pub participants: Participants,
    /// Its newest status.
    pub last_status_id: StatusId,
    /// There are new statuses since the owner read it.
    pub unread: bool,
}

/// A page of the conversations of `account`, newest status first; the paging id is the id of the last status.
#[boxed]
pub async fn page(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<Conversation>> {
    let sql = database::paged!(
        cursor,
        "SELECT " conversation_columns!() " FROM account_conversations c
         WHERE c.account_id = $1 AND c.last_status_id < $2 AND c.last_status_id > $3",
        by "c.last_status_id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The conversation `id`, if it belongs to `account`.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId, id: RowId) -> Result<Option<Conversation>> {
    db.query(sql!(
        "SELECT " conversation_columns!() " FROM account_conversations c WHERE c.id = $2 AND c.account_id = $1"
    ))
    .bind(account)
    .bind(id)
    .optional()
    .await
}

/// The existing conversations among `ids`, regardless of their owners, in the order of their ids.
#[boxed]
pub async fn list_each(db: Conn<'_>, ids: &[RowId]) -> Result<Vec<Conversation>> {
    db.query(sql!(
        "SELECT " conversation_columns!() " FROM account_conversations c WHERE c.id" in("$1") "ORDER BY c.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// Marks a conversation as unread or read; false when it does not belong to `account`.
#[boxed]
pub async fn set_unread(tx: &mut Tx, account: AccountId, id: RowId, unread: bool) -> Result<bool> {
    let marked = tx
        .query(sql!("UPDATE account_conversations SET unread = $3 WHERE id = $2 AND account_id = $1"))
        .bind(account)
        .bind(id)
        .bind(unread)
        .execute()
        .await?;
    Ok(marked > 0)
}

/// Deletes a conversation, not its statuses; false when it does not belong to `account`.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: RowId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM account_conversations WHERE id = $2 AND account_id = $1"))
        .bind(account)
        .bind(id)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// Deletes the conversations of `account` in which `participant` takes part.
#[boxed]
pub async fn delete_with(tx: &mut Tx, account: AccountId, participant: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM account_conversations WHERE account_id = $1 AND ',' || participants || ',' LIKE $2"))
        .bind(account)
        .bind(format!("%,{participant},%"))
        .execute()
        .await?;
    Ok(())
}

/// Deletes up to `limit` conversations of an account with participants of `domain`; returns how many, which is 0 only when
/// none is left.
#[boxed]
pub async fn delete_some_with_domain(tx: &mut Tx, account: AccountId, domain: &str, limit: i64) -> Result<u64> {
    tx.query(sql!(
        sqlite: "DELETE FROM account_conversations
                 WHERE id IN (SELECT c.id FROM account_conversations c
                              CROSS JOIN json_each('[' || c.participants || ']') p
                              CROSS JOIN accounts a
                              WHERE c.account_id = $1 AND a.id = p.value AND a.domain = $2 LIMIT $3)";
        postgres: "DELETE FROM account_conversations
                   WHERE id IN (SELECT c.id FROM account_conversations c
                                CROSS JOIN LATERAL unnest(string_to_array(c.participants, ',')::bigint[]) AS p(value)
                                JOIN accounts a ON a.id = p.value
                                WHERE c.account_id = $1 AND a.domain = $2 LIMIT $3)"
    ))
    .bind(account)
    .bind(domain.to_owned())
    .bind(limit)
    .execute()
    .await
}

/// Deletes up to `limit` conversations of an account; returns how many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM account_conversations
         WHERE id IN (SELECT c.id FROM account_conversations c WHERE c.account_id = $1 LIMIT $2)"
    ))
    .bind(account)
    .bind(limit)
    .execute()
    .await
}

/// A participant of a direct status: its author or an account mentioned in its text.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Participant {
    pub account_id: AccountId,
    /// The thread of the status.
    pub conversation_id: Option<ConversationId>,
    pub is_author: bool,
    /// A local account, which has conversations.
    pub local: bool,
    /// An unfiltered notification of the mention exists; always true for the author.
    pub notified: bool,
}

/// The participants of a status in the order of their ids; none unless it is direct.
#[boxed]
pub async fn participants(db: Conn<'_>, status: StatusId) -> Result<Vec<Participant>> {
    let mut found: Vec<Participant> = db
        .query(sql!(
            "SELECT s.account_id, s.conversation_id, TRUE AS is_author,
                    EXISTS (SELECT 1 FROM users u WHERE u.account_id = s.account_id) AS local,
                    TRUE AS notified
             FROM statuses s
             WHERE s.id = $1 AND s.visibility = 'direct'
             UNION ALL
             SELECT m.account_id, s.conversation_id, FALSE AS is_author,
                    EXISTS (SELECT 1 FROM users u WHERE u.account_id = m.account_id) AS local,
                    EXISTS (SELECT 1 FROM notifications n
                            WHERE n.activity_id = m.id AND n.type = 'mention' AND n.account_id = m.account_id
                              AND NOT n.filtered) AS notified
             FROM mentions m
             JOIN statuses s ON s.id = m.status_id
             WHERE m.status_id = $1 AND NOT m.silent AND m.account_id <> s.account_id AND s.visibility = 'direct'"
        ))
        .bind(status)
        .all()
        .await?;
    found.sort_unstable_by_key(|participant| participant.account_id);
    Ok(found)
}

/// A conversation to which a status is added: inserted unless it exists.
#[derive(Debug, Serialize)]
pub struct NewConversation {
    pub id: RowId,
    pub account: AccountId,
    /// Encoded as by [`Participants`].
    pub participants: String,
    pub unread: bool,
}

/// Adds `status` to conversations about `thread`, creating missing ones; returns them with their owners.
///
/// The newest status determines the last status and the unread flag, so that an older status changes neither. `new`
/// is ordered by account, which is also the lock order of deletions.
#[boxed]
pub async fn add_status(
    tx: &mut Tx,
    thread: ConversationId,
    status: StatusId,
    new: Vec<NewConversation>,
) -> Result<Vec<(RowId, AccountId)>> {
    let rows: Vec<(RowId, AccountId)> = tx
        .query(sql!(
            "INSERT INTO account_conversations (id, account_id, conversation_id, participants, last_status_id, unread)
             SELECT CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'account' AS BIGINT), CAST($2 AS BIGINT),
                    value ->> 'participants', CAST($3 AS BIGINT), CAST(value ->> 'unread' AS BOOLEAN)
             FROM" rows("$1") "WHERE TRUE
             ON CONFLICT (account_id, conversation_id, participants) DO UPDATE SET
                 unread = CASE WHEN excluded.last_status_id > account_conversations.last_status_id
                               THEN excluded.unread ELSE account_conversations.unread END,
                 last_status_id = CASE WHEN excluded.last_status_id > account_conversations.last_status_id
                                       THEN excluded.last_status_id ELSE account_conversations.last_status_id END
             RETURNING id, account_id"
        ))
        .bind(Json(new))
        .bind(thread)
        .bind(status)
        .all()
        .await?;
    tx.query(sql!(
        "INSERT INTO account_conversation_statuses (account_conversation_id, status_id)
         SELECT value, CAST($2 AS BIGINT) FROM" each("$1") "WHERE TRUE
         ON CONFLICT (account_conversation_id, status_id) DO NOTHING"
    ))
    .bind(Ids::of(rows.iter().map(|(id, _)| *id)))
    .bind(status)
    .execute()
    .await?;
    Ok(rows)
}

/// The conversations that `status` belongs to, with their owners, locked until the transaction ends: concurrent
/// additions and removals of statuses wait, so that the last status is determined from the current rows.
#[boxed]
pub async fn lock_with_status(tx: &mut Tx, status: StatusId) -> Result<Vec<(RowId, AccountId)>> {
    macro_rules! lock_with_status_sql {
        ($lock:literal) => {
            concat!(
                "SELECT c.id, c.account_id FROM account_conversation_statuses m
                 JOIN account_conversations c ON c.id = m.account_conversation_id
                 WHERE m.status_id = $1 ORDER BY c.account_id, c.id",
                $lock
            )
        };
    }
    tx.query(sql!(sqlite: lock_with_status_sql!(""); postgres: lock_with_status_sql!(" FOR UPDATE OF c")))
        .bind(status)
        .all()
        .await
}

/// Removes `status` from the conversations `ids`, which are locked: the previous status becomes the last one, and a
/// conversation without statuses is deleted. It becomes read if its remaining last status is the owner's own. Returns
/// the conversations whose last status changed, with their owners.
#[boxed]
pub async fn remove_status(tx: &mut Tx, status: StatusId, ids: &[RowId]) -> Result<Vec<(RowId, AccountId)>> {
    let ids = || Ids::of(ids.iter().copied());
    let taken =
        sql!("DELETE FROM account_conversation_statuses WHERE status_id = $1 AND account_conversation_id" in("$2"));
    tx.query(taken).bind(status).bind(ids()).execute().await?;
    let changed = tx
        .query(sql!(
            "UPDATE account_conversations
             SET unread = unread AND NOT EXISTS (
                     SELECT 1 FROM statuses s
                     WHERE s.account_id = account_conversations.account_id AND s.id = (
                         SELECT MAX(m.status_id) FROM account_conversation_statuses m
                         WHERE m.account_conversation_id = account_conversations.id)),
                 last_status_id = (
                     SELECT MAX(m.status_id) FROM account_conversation_statuses m
                     WHERE m.account_conversation_id = account_conversations.id)
             WHERE last_status_id = $1 AND id" in("$2")
            "AND EXISTS (SELECT 1 FROM account_conversation_statuses m
                         WHERE m.account_conversation_id = account_conversations.id)
             RETURNING id, account_id"
        ))
        .bind(status)
        .bind(ids())
        .all()
        .await?;
    let emptied = sql!("DELETE FROM account_conversations WHERE last_status_id = $1 AND id" in("$2"));
    tx.query(emptied).bind(status).bind(ids()).execute().await?;
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participants_are_read_as_they_are_written() {
        for ids in [&[][..], &[3], &[1, 20, 300]] {
            let participants = Participants(ids.iter().map(|id| AccountId::from(*id)).collect());
            assert_eq!(Participants::from(participants.to_string()), participants);
        }
    }
}

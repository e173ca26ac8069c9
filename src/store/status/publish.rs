//! Writing statuses: edit and delete, with their mentions, conversations, edit history and idempotency keys,
//! and the look-ups that composing one needs.
//!
//! Reached from `service::status` and `service::reblog`, in their transaction. Does not touch feeds
//! ([`feed`](crate::feed)) or hashtags ([`tag`](crate::tag)), and leaves it to the caller which counters change. The
//! row itself is inserted by [`status`](crate::status).

use crate::account_is_known;
use crate::relation_sql::{blocks, blocks_domain, mutes};
use database::sql::Ids;
use database::{Engine, Executor, Result, Tx, sql};
use model::{AccountId, ConversationId, Json, RowId, ScheduledStatusId, Status, StatusId, Time, status_columns};

/// Inserts a conversation (thread). It has no `owner_account_id`: it belongs to the author of its first status.
pub async fn insert_conversation(tx: &mut Tx, id: ConversationId, now: Time) -> Result<()> {
    tx.query(sql!("INSERT INTO conversations (id, created_at) VALUES ($1, $2)")).bind(id).bind(now).execute().await?;
    Ok(())
}

/// Upserts mentions, given as (mention id, account), in one statement. A `silent` mention lets an account see the
/// status without being mentioned in its text. An existing mention keeps its id and gets the new `silent`.
pub async fn upsert_mentions(
    tx: &mut Tx,
    status: StatusId,
    mentions: &[(RowId, AccountId)],
    silent: bool,
) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO mentions (id, status_id, account_id, silent)
         SELECT CAST(value ->> 0 AS BIGINT), CAST($2 AS BIGINT), CAST(value ->> 1 AS BIGINT), $3
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (status_id, account_id) DO UPDATE SET silent = excluded.silent"
    ))
    .bind(Json(mentions.to_vec()))
    .bind(status)
    .bind(silent)
    .execute()
    .await?;
    Ok(())
}

/// Makes the mentions in `status` silent, except those of `kept`: who is no longer mentioned in the text may still see
/// it.
pub async fn silence_mentions(tx: &mut Tx, status: StatusId, kept: &[AccountId]) -> Result<()> {
    tx.query(sql!("UPDATE mentions SET silent = TRUE WHERE status_id = $1 AND NOT (account_id" in("$2") ")"))
        .bind(status)
        .bind(Ids::of(kept.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The mentions in `status`, as (mention id, account, silent), oldest first.
pub async fn list_mentions(db: impl Executor, status: StatusId) -> Result<Vec<(RowId, AccountId, bool)>> {
    db.query(sql!("SELECT m.id, m.account_id, m.silent FROM mentions m WHERE m.status_id = $1 ORDER BY m.id"))
        .bind(status)
        .all()
        .await
}

/// The mutuals of `account`: accounts that follow it and that it follows.
pub async fn list_mutuals(db: impl Executor, account: AccountId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.account_id FROM follows f
         JOIN follows b ON b.account_id = f.target_account_id AND b.target_account_id = f.account_id
         WHERE f.target_account_id = $1"
    ))
    .bind(account)
    .scalars()
    .await
}

/// Those of `accounts` that `author` may have in an audience: not themselves, none that they block by account or by domain,
/// no local one that waits for confirmation or approval. In no particular order.
pub async fn list_addressable(db: impl Executor, author: AccountId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id FROM accounts a WHERE a.id" in("$1") "AND a.id <> $2 AND " account_is_known!()
        " AND NOT " blocks!("$2", "a.id") " AND NOT " blocks_domain!("$2", "a.domain")
    ))
    .bind(Ids::of(accounts.iter().copied()))
    .bind(author)
    .scalars()
    .await
}

/// Those of `accounts` that wrote a limited status in `conversation`.
pub async fn list_limited_authors(
    db: impl Executor,
    conversation: ConversationId,
    accounts: &[AccountId],
) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT s.account_id FROM statuses s
         WHERE s.conversation_id = $2 AND s.visibility = 'limited' AND s.account_id" in("$1")
    ))
    .bind(Ids::of(accounts.iter().copied()))
    .bind(conversation)
    .scalars()
    .await
}

/// The author who chose the audience of a limited `status`: its own, or of one that answers in a thread, that of the limited
/// status above it which does not, over at most 4,096 answers. Where one between them is gone, the author of the next below it.
pub async fn find_audience_author(db: impl Executor, status: StatusId) -> Result<Option<AccountId>> {
    let row: Option<(AccountId,)> = db
        .query(sql!(
            "WITH RECURSIVE up (account_id, parent_id, limited_scope, height) AS (
                 SELECT s.account_id, s.in_reply_to_id, s.limited_scope, 0 FROM statuses s WHERE s.id = $1
                 UNION ALL
                 SELECT p.account_id, p.in_reply_to_id, p.limited_scope, up.height + 1
                 FROM up JOIN statuses p ON p.id = up.parent_id
                 WHERE up.limited_scope = 'reply' AND p.visibility = 'limited' AND up.height < 4096)
             SELECT up.account_id FROM up ORDER BY up.height DESC LIMIT 1"
        ))
        .bind(status)
        .optional()
        .await?;
    Ok(row.map(|(account,)| account))
}

/// An account that a text may mention.
#[derive(Debug, model::Row)]
#[row(alias = "a")]
#[expect(missing_docs, reason = "columns of the table accounts")]
pub struct Mentionable {
    pub id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub url: Option<String>,
    pub uri: String,
}

/// The accounts among `handles` (`username` or `username@domain`, in lower case) that `actor` may mention: none that is
/// suspended, none that `actor` blocks by account or by domain, and local ones only when confirmed and approved.
pub async fn list_mentionable(db: impl Executor, actor: AccountId, handles: &[String]) -> Result<Vec<Mentionable>> {
    macro_rules! rest {
        () => {
            concat!(
                " LEFT JOIN users u ON u.account_id = a.id
                  WHERE a.suspended_at IS NULL
                    AND (a.domain IS NOT NULL OR (u.confirmed_at IS NOT NULL AND u.approved))
                    AND NOT ",
                blocks!("$2", "a.id"),
                " AND NOT ",
                blocks_domain!("$2", "a.domain")
            )
        };
    }
    // Handles are split in SQL, so that one join compares both parts with the expression index `accounts_username`. The
    // engines have no function in common for that; the appended `@` makes `instr` find one in a local handle too.
    db.query(sql!(
        sqlite: "SELECT " mentionable_columns!() " FROM json_each($1) h
                 JOIN accounts a ON lower(a.username) = substr(h.value, 1, instr(h.value || '@', '@') - 1)
                                AND coalesce(lower(a.domain), '') = substr(h.value, instr(h.value || '@', '@') + 1)" rest!();
        postgres: "SELECT " mentionable_columns!() " FROM unnest($1::text[]) AS h(value)
                   JOIN accounts a ON lower(a.username) = split_part(h.value, '@', 1)
                                  AND coalesce(lower(a.domain), '') = split_part(h.value, '@', 2)" rest!()
    ))
    .bind(database::sql::Texts::of(handles.iter().cloned()))
    .bind(actor)
    .all()
    .await
}

/// Locks what deleting a status counts at until the transaction ends, so that two deletions of one status count once:
/// accounts before statuses, each in the order of their ids, so that deletions never wait for each other in a circle. What
/// was read of them before may be out of date. Nothing on SQLite, which has one writer.
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

/// Subtracts the reblogs of `original`, which is about to be deleted, from their authors' counts: 1 each, since an
/// account has at most one reblog of a status (`statuses_reblog`).
pub async fn subtract_reblogs(tx: &mut Tx, original: StatusId) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET statuses_count = CASE WHEN statuses_count > 0 THEN statuses_count - 1 ELSE 0 END, version = version + 1
         WHERE id IN (SELECT r.account_id FROM statuses r WHERE r.reblog_of_id = $1)"
    ))
    .bind(original)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a status, from which the caller detached its media; false when there is none. Foreign keys delete its
/// reblogs, mentions, favourites and notifications; its feed entries are left out when they are read.
pub async fn delete(tx: &mut Tx, id: StatusId) -> Result<bool> {
    // The foreign key would clear the parent of replies as well, but not count their version up: their cached
    // renderings name the parent.
    tx.query(sql!("UPDATE statuses SET in_reply_to_id = NULL, version = version + 1 WHERE in_reply_to_id = $1"))
        .bind(id)
        .execute()
        .await?;
    crate::reference::forget_target(tx, id).await?;
    Ok(tx.query(sql!("DELETE FROM statuses WHERE id = $1")).bind(id).execute().await? > 0)
}

/// The reblog of `original` by `account`.
pub async fn find_reblog(db: impl Executor, account: AccountId, original: StatusId) -> Result<Option<StatusId>> {
    let row: Option<(StatusId,)> = db
        .query(sql!("SELECT s.id FROM statuses s WHERE s.account_id = $1 AND s.reblog_of_id = $2"))
        .bind(account)
        .bind(original)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// The reblogs of `original`.
pub async fn list_reblogs(db: impl Executor, original: StatusId) -> Result<Vec<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.reblog_of_id = $1")).bind(original).all().await
}

/// The local accounts that reblogged `original`.
pub async fn list_local_rebloggers(db: impl Executor, original: StatusId) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT s.account_id FROM statuses s WHERE s.reblog_of_id = $1 AND s.local"))
        .bind(original)
        .scalars()
        .await
}

/// The parts of a status that an edit replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "columns of the table statuses")]
pub struct Revision {
    pub text: String,
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub has_media: bool,
    pub has_poll: bool,
    pub markdown: bool,
    pub expires_at: Option<Time>,
}

/// Writes an edit to the row of a status, with a new `edited_at` and version.
pub async fn update(tx: &mut Tx, id: StatusId, revision: Revision, now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses
         SET text = $2, content = $3, spoiler_text = $4, sensitive = $5, language = $6, has_media = $7, has_poll = $8,
             markdown = $9, expires_at = $10, edited_at = $11, version = version + 1
         WHERE id = $1"
    ))
    .bind(id)
    .bind(revision.text)
    .bind(revision.content)
    .bind(revision.spoiler_text)
    .bind(revision.sensitive)
    .bind(revision.language)
    .bind(revision.has_media)
    .bind(revision.has_poll)
    .bind(revision.markdown)
    .bind(revision.expires_at)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// A former revision of a status.
#[derive(Debug, model::Row)]
#[row(table = "status_edits", alias = "e")]
#[expect(missing_docs, reason = "columns of the table status_edits")]
pub struct Edit {
    pub id: RowId,
    pub status_id: StatusId,
    pub text: String,
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub markdown: bool,
    /// The media attachments as they were rendered for clients, as JSON.
    pub media: Json<serde_json::Value>,
    /// The texts of the poll's options, when there was a poll.
    pub poll_options: Option<Json<Vec<String>>>,
    pub created_at: Time,
}

/// Adds a former revision to the edit history of a status.
pub async fn insert_edit(tx: &mut Tx, edit: &Edit) -> Result<()> {
    tx.query(sql!(edit_insert!())).bind_row(edit).execute().await?;
    Ok(())
}

/// The former revisions of a status, oldest first.
pub async fn list_edits(db: impl Executor, status: StatusId) -> Result<Vec<Edit>> {
    db.query(sql!("SELECT " edit_columns!() " FROM status_edits e WHERE e.status_id = $1 ORDER BY e.id"))
        .bind(status)
        .all()
        .await
}

/// What a request with an idempotency key made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A status.
    Status(StatusId),
    /// A status that is to be published later.
    Scheduled(ScheduledStatusId),
}

impl Made {
    /// The id: no status and no scheduled status have the same.
    fn id(self) -> i64 {
        match self {
            Self::Status(id) => id.into(),
            Self::Scheduled(id) => id.into(),
        }
    }
}

/// What `account` made with this idempotency key after `since`, if it still exists.
pub async fn find_idempotency_key(
    db: impl Executor,
    account: AccountId,
    key: &str,
    since: Time,
) -> Result<Option<Made>> {
    let row: Option<(i64, bool)> = db
        .query(sql!(
            "SELECT k.status_id, s.id IS NULL
             FROM idempotency_keys k
             LEFT JOIN statuses s ON s.id = k.status_id
             LEFT JOIN scheduled_statuses d ON d.id = k.status_id
             WHERE k.account_id = $1 AND k.key = $2 AND k.created_at > $3 AND (s.id IS NOT NULL OR d.id IS NOT NULL)"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(since)
        .optional()
        .await?;
    Ok(row.map(|(id, scheduled)| if scheduled { Made::Scheduled(id.into()) } else { Made::Status(id.into()) }))
}

/// Stores the idempotency key of what this transaction is about to insert; false when a request with the same key
/// stored it first, also one that is still being served: that one is waited for. Replaces a key that was stored by `since`,
/// and one whose status was deleted.
pub async fn insert_idempotency_key(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
    made: Made,
    now: Time,
    since: Time,
) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO idempotency_keys (account_id, key, status_id, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, key) DO NOTHING"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(made.id())
        .bind(now)
        .execute()
        .await?;
    Ok(inserted > 0 || replace_idempotency_key(tx, account, key, made, now, since).await?)
}

/// A key that is there already: locked by a statement of its own, so that the next one sees the status of whoever held it.
/// In one statement PostgreSQL would wait for them, and then look for that status as of before (READ COMMITTED).
async fn replace_idempotency_key(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
    made: Made,
    now: Time,
    since: Time,
) -> Result<bool> {
    let _: Option<(StatusId,)> = tx
        .query(sql!(
            sqlite: "SELECT status_id FROM idempotency_keys WHERE account_id = $1 AND key = $2";
            postgres: "SELECT status_id FROM idempotency_keys WHERE account_id = $1 AND key = $2 FOR UPDATE"
        ))
        .bind(account)
        .bind(key.to_owned())
        .optional()
        .await?;
    let replaced = tx
        .query(sql!(
            "UPDATE idempotency_keys SET status_id = $3, created_at = $4
             WHERE account_id = $1 AND key = $2
               AND (created_at <= $5
                    OR (NOT EXISTS (SELECT 1 FROM statuses s WHERE s.id = idempotency_keys.status_id)
                        AND NOT EXISTS (SELECT 1 FROM scheduled_statuses d WHERE d.id = idempotency_keys.status_id)))"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(made.id())
        .bind(now)
        .bind(since)
        .execute()
        .await?;
    Ok(replaced > 0)
}

/// Makes the idempotency key of `before`, if there is one, name `after`, which came of it.
pub async fn move_idempotency_key(tx: &mut Tx, account: AccountId, before: Made, after: Made) -> Result<()> {
    tx.query(sql!("UPDATE idempotency_keys SET status_id = $3 WHERE account_id = $1 AND status_id = $2"))
        .bind(account)
        .bind(before.id())
        .bind(after.id())
        .execute()
        .await?;
    Ok(())
}

/// A page of the accounts that did something to a status, newest first, as (paging id, account). The paging id is that
/// of the reblog, favourite or mention. Leaves out suspended accounts, those that `viewer` blocks or mutes, and those
/// that block `viewer`; an expired mute does not count.
pub async fn list_interactions(
    db: impl Executor,
    who: Interaction,
    status: StatusId,
    viewer: Option<AccountId>,
    cursor: &model::Cursor,
    now: Time,
) -> Result<Vec<(RowId, AccountId)>> {
    macro_rules! shown {
        ($account:literal) => {
            concat!(
                " AND NOT ",
                blocks!("$4", $account),
                " AND NOT ",
                blocks!($account, "$4"),
                " AND NOT ",
                mutes!("$4", $account, "$6"),
                " AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = ",
                $account,
                " AND a.suspended_at IS NULL)"
            )
        };
    }
    let sql = match who {
        Interaction::Rebloggers => database::paged!(
            cursor,
            "SELECT r.id, r.account_id FROM statuses r
             WHERE r.reblog_of_id = $1 AND r.id < $2 AND r.id > $3
               AND r.visibility IN ('public', 'public_unlisted', 'login', 'unlisted')" shown!("r.account_id"),
            by "r.id", limit "$5"
        ),
        Interaction::Favouriters => database::paged!(
            cursor,
            "SELECT f.id, f.account_id FROM favourites f WHERE f.status_id = $1 AND f.id < $2 AND f.id > $3" shown!("f.account_id"),
            by "f.id", limit "$5"
        ),
        Interaction::Mentioned => database::paged!(
            cursor,
            "SELECT x.id, x.account_id FROM mentions x WHERE x.status_id = $1 AND x.id < $2 AND x.id > $3" shown!("x.account_id"),
            by "x.id", limit "$5"
        ),
    };
    // No account has the id 0: for an anonymous viewer the tests of blocks and mutes find nothing.
    let query = db
        .query(sql)
        .bind(status)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(viewer.map_or(0, i64::from))
        .bind(cursor.limit)
        .bind(now);
    Ok(cursor.newest_first(query.all().await?))
}

/// What an account did to a status, see [`list_interactions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interaction {
    /// Reblogged it, in a reblog that is not private.
    Rebloggers,
    /// Favourited it.
    Favouriters,
    /// Is mentioned in it, or belongs to its audience.
    Mentioned,
}

//! Mentions: the accounts that a status addresses, and the accounts that its author may address.
//!
//! Reached from `service::status`, which decides who is addressed, in its transaction.

use crate::account_is_known;
use crate::relation_sql::{blocks, blocks_domain};
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, ConversationId, Json, RowId, StatusId, boxed};

/// Upserts mentions, given as (mention id, account), in one statement. A `silent` mention lets an account see the
/// status without being mentioned in its text. An existing mention keeps its id and gets the new `silent`.
#[boxed]
pub async fn upsert(tx: &mut Tx, status: StatusId, mentions: &[(RowId, AccountId)], silent: bool) -> Result<()> {
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

/// Makes the mentions in `status` silent, except mentions of `kept`: an account no longer mentioned in the text may
/// still see it.
#[boxed]
pub async fn silence(tx: &mut Tx, status: StatusId, kept: &[AccountId]) -> Result<()> {
    tx.query(sql!("UPDATE mentions SET silent = TRUE WHERE status_id = $1 AND NOT (account_id" in("$2") ")"))
        .bind(status)
        .bind(Ids::of(kept.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The mentions in `status`, as (mention id, account, silent), oldest first.
#[boxed]
pub async fn list(db: Conn<'_>, status: StatusId) -> Result<Vec<(RowId, AccountId, bool)>> {
    db.query(sql!("SELECT m.id, m.account_id, m.silent FROM mentions m WHERE m.status_id = $1 ORDER BY m.id"))
        .bind(status)
        .all()
        .await
}

/// The mutuals of `account`: accounts that follow it and that it follows.
#[boxed]
pub async fn list_mutuals(db: Conn<'_>, account: AccountId) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.account_id FROM follows f
         JOIN follows b ON b.account_id = f.target_account_id AND b.target_account_id = f.account_id
         WHERE f.target_account_id = $1"
    ))
    .bind(account)
    .scalars()
    .await
}

/// The accounts of `accounts` that `author` may have in an audience: not themselves, not blocked by them by account
/// or by domain, and not local accounts that await confirmation or approval. In no particular order.
#[boxed]
pub async fn list_addressable(db: Conn<'_>, author: AccountId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id FROM accounts a WHERE a.id" in("$1") "AND a.id <> $2 AND " account_is_known!()
        " AND NOT " blocks!("$2", "a.id") " AND NOT " blocks_domain!("$2", "a.domain")
    ))
    .bind(Ids::of(accounts.iter().copied()))
    .bind(author)
    .scalars()
    .await
}

/// The accounts of `accounts` that wrote a limited status in `conversation`.
#[boxed]
pub async fn list_limited_authors(
    db: Conn<'_>,
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

/// The author who chose the audience of a limited `status`: its own author, or for a reply in a thread, the author of
/// the first limited status above it that is not such a reply, over at most 4,096 replies. If a status in between is
/// gone, the author of the status below it.
#[boxed]
pub async fn find_audience_author(db: Conn<'_>, status: StatusId) -> Result<Option<AccountId>> {
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
pub struct Mentionable {
    pub id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub url: Option<String>,
    pub uri: String,
}

/// The accounts among `handles` (`username` or `username@domain`, in lower case) that `actor` may mention: not
/// suspended, not blocked by `actor` by account or by domain, and local accounts only when confirmed and approved.
#[boxed]
pub async fn list_mentionable(db: Conn<'_>, actor: AccountId, handles: &[String]) -> Result<Vec<Mentionable>> {
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
    // Handles are split in SQL, so that one join compares both parts with the expression index `accounts_username`.
    // The engines have no common function for that; the appended `@` makes `instr` find one in a local handle too.
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

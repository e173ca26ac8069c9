//! Favourites, bookmarks and pins, which an account has at most one of for each status, and mutes of conversations.
//!
//! Reached from `service::mark`. The caller updates counters, notifications and events. The pages of favourites,
//! bookmarks and pins are in [`timeline`](crate::timeline).

use database::{Conn, Result, Tx, sql};
use model::{AccountId, ConversationId, Json, RowId, StatusId, Time, boxed};

/// The kind of mark: each is a separate table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Favourite,
    Bookmark,
    /// A pin on the author's profile.
    Pin,
}

/// Inserts a mark; false when it exists already.
#[boxed]
pub async fn insert(
    tx: &mut Tx,
    mark: Mark,
    id: RowId,
    account: AccountId,
    status: StatusId,
    now: Time,
) -> Result<bool> {
    let sql = match mark {
        Mark::Favourite => sql!(
            "INSERT INTO favourites (id, account_id, status_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
        ),
        Mark::Bookmark => sql!(
            "INSERT INTO bookmarks (id, account_id, status_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
        ),
        Mark::Pin => sql!(
            "INSERT INTO status_pins (id, account_id, status_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
        ),
    };
    let inserted = tx.query(sql).bind(id).bind(account).bind(status).bind(now).execute().await?;
    Ok(inserted > 0)
}

/// Inserts bookmarks of `account`, given as (bookmark id, status), in one statement; returns the newly bookmarked
/// statuses.
#[boxed]
pub async fn insert_bookmarks(
    tx: &mut Tx,
    account: AccountId,
    rows: Vec<(RowId, StatusId)>,
    now: Time,
) -> Result<Vec<StatusId>> {
    tx.query(sql!(
        "INSERT INTO bookmarks (id, account_id, status_id, created_at)
         SELECT CAST(value ->> 0 AS BIGINT), CAST($2 AS BIGINT), CAST(value ->> 1 AS BIGINT), $3
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT DO NOTHING
         RETURNING status_id"
    ))
    .bind(Json(rows))
    .bind(account)
    .bind(now)
    .scalars()
    .await
}

/// Deletes a mark; returns its id, `None` when there was none.
#[boxed]
pub async fn delete(tx: &mut Tx, mark: Mark, account: AccountId, status: StatusId) -> Result<Option<RowId>> {
    let sql = match mark {
        Mark::Favourite => sql!("DELETE FROM favourites WHERE account_id = $1 AND status_id = $2 RETURNING id"),
        Mark::Bookmark => sql!("DELETE FROM bookmarks WHERE account_id = $1 AND status_id = $2 RETURNING id"),
        Mark::Pin => sql!("DELETE FROM status_pins WHERE account_id = $1 AND status_id = $2 RETURNING id"),
    };
    let row: Option<(RowId,)> = tx.query(sql).bind(account).bind(status).optional().await?;
    Ok(row.map(|(id,)| id))
}

/// True when `account` bookmarked `status`.
#[boxed]
pub async fn has_bookmark(db: Conn<'_>, account: AccountId, status: StatusId) -> Result<bool> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT id FROM bookmarks WHERE account_id = $1 AND status_id = $2"))
        .bind(account)
        .bind(status)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// The number of statuses pinned by `account`.
#[boxed]
pub async fn count_pins(db: Conn<'_>, account: AccountId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM status_pins WHERE account_id = $1")).bind(account).scalar().await
}

/// Mutes a conversation for `account`, or unmutes it; repeating it changes nothing.
#[boxed]
pub async fn set_conversation_mute(
    tx: &mut Tx,
    account: AccountId,
    conversation: ConversationId,
    muted: bool,
) -> Result<()> {
    let sql = if muted {
        sql!("INSERT INTO conversation_mutes (account_id, conversation_id) VALUES ($1, $2) ON CONFLICT DO NOTHING")
    } else {
        sql!("DELETE FROM conversation_mutes WHERE account_id = $1 AND conversation_id = $2")
    };
    tx.query(sql).bind(account).bind(conversation).execute().await?;
    Ok(())
}

//! Interactions that the author of a status decided about, or is to decide about: quotes, replies, favourites and reblogs.
//!
//! Reached from `service::status::consent`, which applies the decisions, and from `federation`, which requests, sends and
//! verifies them. An interaction that needs no decision has no row, save quotes of other people's local statuses: other
//! servers ask for their authorization.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, paged, sql};
use model::interaction::{InteractionKind, RequestState};
use model::{AccountId, Cursor, RowId, StatusId, Time, boxed};

/// An interaction, and the decision about it.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "interaction_requests", alias = "q")]
pub struct InteractionRequest {
    pub id: RowId,
    pub kind: InteractionKind,
    /// The status that is quoted, replied to, marked or reblogged.
    pub target_id: StatusId,
    /// The author of the target.
    pub author_id: AccountId,
    /// The account that interacts.
    pub account_id: AccountId,
    /// Of the quoting or replying status, of the Like or of the Announce.
    pub uri: String,
    /// The activity of another server that requests it.
    pub request_uri: Option<String>,
    /// The authorization by an author of another server.
    pub authorization_uri: Option<String>,
    pub state: RequestState,
    pub created_at: Time,
    pub decided_at: Option<Time>,
}

/// Stores a request; false when there is one about this interaction.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &InteractionRequest) -> Result<bool> {
    let inserted = tx
        .query(sql!(interaction_request_insert!() " ON CONFLICT (uri, kind) DO NOTHING"))
        .bind_row(new)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// The request `id`.
#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<InteractionRequest>> {
    db.query(sql!("SELECT " interaction_request_columns!() " FROM interaction_requests q WHERE q.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// As [`find`], locked against other decisions until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: RowId) -> Result<Option<InteractionRequest>> {
    tx.query(sql!(
        sqlite: "SELECT " interaction_request_columns!() " FROM interaction_requests q WHERE q.id = $1";
        postgres: "SELECT " interaction_request_columns!() " FROM interaction_requests q WHERE q.id = $1 FOR UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// The request about the interaction `uri`.
#[boxed]
pub async fn find_by_uri(db: Conn<'_>, kind: InteractionKind, uri: &str) -> Result<Option<InteractionRequest>> {
    db.query(sql!(
        "SELECT " interaction_request_columns!() " FROM interaction_requests q WHERE q.uri = $1 AND q.kind = $2"
    ))
    .bind(uri.to_owned())
    .bind(kind)
    .optional()
    .await
}

/// The request with this authorization by an author of another server.
#[boxed]
pub async fn find_by_authorization(db: Conn<'_>, uri: &str) -> Result<Option<InteractionRequest>> {
    db.query(sql!(
        "SELECT " interaction_request_columns!() " FROM interaction_requests q WHERE q.authorization_uri = $1"
    ))
    .bind(uri.to_owned())
    .optional()
    .await
}

/// The accepted requests about the interactions `uris`, of any kind.
#[boxed]
pub async fn list_accepted(db: Conn<'_>, uris: &[String]) -> Result<Vec<InteractionRequest>> {
    db.query(sql!(
        "SELECT " interaction_request_columns!() " FROM interaction_requests q
         WHERE q.state = 'accepted' AND q.uri" in("$1")
    ))
    .bind(Texts::of(uris.iter().cloned()))
    .all()
    .await
}

/// Stores the decision about a request. `authorization`: by an author of another server; `None` keeps the one there is.
#[boxed]
pub async fn decide(tx: &mut Tx, id: RowId, state: RequestState, authorization: Option<&str>, now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE interaction_requests
         SET state = $2, authorization_uri = coalesce($3, authorization_uri), decided_at = $4 WHERE id = $1"
    ))
    .bind(id)
    .bind(state)
    .bind(authorization.map(str::to_owned))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Stores the activity of another server that requests an interaction known before.
#[boxed]
pub async fn set_request(tx: &mut Tx, id: RowId, uri: &str) -> Result<()> {
    tx.query(sql!("UPDATE interaction_requests SET request_uri = $2 WHERE id = $1"))
        .bind(id)
        .bind(uri.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// Deletes the requests about the interaction `uri`, which ended.
#[boxed]
pub async fn delete(tx: &mut Tx, uri: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM interaction_requests WHERE uri = $1")).bind(uri.to_owned()).execute().await?;
    Ok(())
}

/// The statuses among `statuses` whose authors are yet to approve the favourite of `account`, by id.
#[boxed]
pub async fn list_waiting_favourites(db: Conn<'_>, account: AccountId, statuses: &[StatusId]) -> Result<Vec<StatusId>> {
    db.query(sql!(
        "SELECT q.target_id FROM interaction_requests q
         WHERE q.account_id = $1 AND q.kind = 'favourite' AND q.state = 'pending' AND q.target_id" in("$2")
        "ORDER BY q.target_id"
    ))
    .bind(account)
    .bind(Ids::of(statuses.iter().copied()))
    .scalars()
    .await
}

/// Deletes the request of `account` to do this with `target`, whatever was decided; returns it.
#[boxed]
pub async fn take(
    tx: &mut Tx,
    kind: InteractionKind,
    account: AccountId,
    target: StatusId,
) -> Result<Option<InteractionRequest>> {
    let found: Option<InteractionRequest> = tx
        .query(sql!(
            "SELECT " interaction_request_columns!() " FROM interaction_requests q
             WHERE q.account_id = $1 AND q.target_id = $2 AND q.kind = $3 LIMIT 1"
        ))
        .bind(account)
        .bind(target)
        .bind(kind)
        .optional()
        .await?;
    if let Some(found) = &found {
        tx.query(sql!("DELETE FROM interaction_requests WHERE id = $1")).bind(found.id).execute().await?;
    }
    Ok(found)
}

/// The number of requests of `account` that wait for a decision.
#[boxed]
pub async fn count_pending(db: Conn<'_>, account: AccountId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM interaction_requests q WHERE q.account_id = $1 AND q.state = 'pending'"))
        .bind(account)
        .scalar()
        .await
}

/// A page of the requests to `author` in this state, newest first.
#[boxed]
pub async fn list(
    db: Conn<'_>,
    author: AccountId,
    state: RequestState,
    cursor: &Cursor,
) -> Result<Vec<InteractionRequest>> {
    let sql = paged!(
        cursor,
        "SELECT " interaction_request_columns!() " FROM interaction_requests q
         WHERE q.author_id = $1 AND q.state = $5 AND q.id < $2 AND q.id > $3",
        by "q.id", limit "$4"
    );
    let query = db.query(sql).bind(author).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit).bind(state);
    Ok(cursor.newest_first(query.all().await?))
}

/// The statuses of other servers among `uris`, as (URI, status): replies, quotes and reblogs.
#[boxed]
pub async fn list_statuses(db: Conn<'_>, uris: &[String]) -> Result<Vec<(String, StatusId)>> {
    db.query(sql!("SELECT s.uri, s.id FROM statuses s WHERE NOT s.local AND s.uri" in("$1")))
        .bind(Texts::of(uris.iter().cloned()))
        .all()
        .await
}

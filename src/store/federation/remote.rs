//! Accounts and statuses of other servers, found by their URIs, and what their servers say of them.
//!
//! Reached from `service::remote` and from `federation`. Inserting an account is [`account::insert`](crate::account::insert).

use crate::account::{ActorObject, account_names};
use crate::account_is_known;
use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::account::Searchability;
use model::{
    Account, AccountId, ConversationId, RowId, Status, StatusId, Time, account_columns, boxed, status_columns,
};

/// The account with this actor URI, local or remote.
#[boxed]
pub async fn find_account(db: Conn<'_>, uri: &str) -> Result<Option<Account>> {
    db.query(sql!("SELECT " account_columns!() " FROM accounts a WHERE a.uri = $1"))
        .bind(uri.to_owned())
        .optional()
        .await
}

/// The accounts with these actor URIs, local or remote, in no order.
#[boxed]
pub async fn find_accounts(db: Conn<'_>, uris: &[String]) -> Result<Vec<Account>> {
    db.query(sql!("SELECT " account_columns!() " FROM accounts a WHERE a.uri" in("$1")))
        .bind(Texts::of(uris.iter().cloned()))
        .all()
        .await
}

/// The ids of the accounts with these actor URIs that exist, local ones only when they may be addressed, each with its
/// URI and domain.
#[boxed]
pub async fn list_accounts(db: Conn<'_>, uris: &[String]) -> Result<Vec<(AccountId, String, Option<String>)>> {
    db.query(sql!(
        "SELECT a.id, a.uri, a.domain FROM accounts a
         WHERE a.uri" in("$1") "AND a.suspended_at IS NULL AND " account_is_known!()
    ))
    .bind(Texts::of(uris.iter().cloned()))
    .all()
    .await
}

/// Hides an account that its own server suspended; false when it is suspended already.
#[boxed]
pub async fn suspend_by_origin(tx: &mut Tx, id: AccountId, now: Time) -> Result<bool> {
    let hidden = tx
        .query(sql!(
            "UPDATE accounts SET suspended_at = $2, suspended_by_origin = TRUE, version = version + 1
             WHERE id = $1 AND suspended_at IS NULL"
        ))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(hidden > 0)
}

/// Shows an account again that its own server no longer suspends; does nothing when staff of this server suspended it.
#[boxed]
pub async fn unsuspend_by_origin(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET suspended_at = NULL, suspended_by_origin = FALSE, version = version + 1
         WHERE id = $1 AND suspended_by_origin"
    ))
    .bind(id)
    .execute()
    .await?;
    Ok(())
}

/// The columns of an actor that only federation reads.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "a")]
pub struct ActorRow {
    pub id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub uri: String,
    pub inbox_url: Option<String>,
    pub shared_inbox_url: Option<String>,
    pub outbox_url: Option<String>,
    pub followers_url: Option<String>,
    pub following_url: Option<String>,
    pub featured_url: Option<String>,
    pub searchability: Searchability,
    /// PEM.
    pub public_key: Option<String>,
    /// Sealed, of a local account.
    pub private_key: Option<String>,
    pub suspended_at: Option<Time>,
    pub fetched_at: Option<Time>,
}

/// The actor with this URI.
#[boxed]
pub async fn find_actor(db: Conn<'_>, uri: &str) -> Result<Option<ActorRow>> {
    db.query(sql!("SELECT " actor_columns!() " FROM accounts a WHERE a.uri = $1")).bind(uri.to_owned()).optional().await
}

/// The actor of an account.
#[boxed]
pub async fn get_actor(db: Conn<'_>, id: AccountId) -> Result<Option<ActorRow>> {
    db.query(sql!("SELECT " actor_columns!() " FROM accounts a WHERE a.id = $1")).bind(id).optional().await
}

/// Replaces the profile of a remote account by what its server says now. The domain and URI stay.
#[boxed]
pub async fn update_account(tx: &mut Tx, account: &Account, actor: &ActorObject) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts
         SET url = $2, actor_type = $3, display_name = $4, note_html = $5, fields = $6, avatar_remote_url = $7,
             header_remote_url = $8, locked = $9, discoverable = $10, indexable = $11, searchability = $12,
             memorial = $13, other_settings = $14, attribution_domains = $15, hide_collections = $16,
             also_known_as = $17, inbox_url = $18, outbox_url = $19, shared_inbox_url = $20, followers_url = $21,
             following_url = $22, featured_url = $23, public_key = $24, fetched_at = $25, updated_at = $26, username = $27,
             moved_to_account_id = $28,
             version = version + 1
         WHERE id = $1"
    ))
    .bind(account.id)
    .bind(account.url.clone())
    .bind(account.actor_type)
    .bind(account.display_name.clone())
    .bind(account.note_html.clone())
    .bind(account.fields.clone())
    .bind(account.avatar_remote_url.clone())
    .bind(account.header_remote_url.clone())
    .bind(account.locked)
    .bind(account.discoverable)
    .bind(account.indexable)
    .bind(account.searchability)
    .bind(account.memorial)
    .bind(account.other_settings.clone())
    .bind(account.attribution_domains.clone())
    .bind(account.hide_collections)
    .bind(actor.also_known_as.clone())
    .bind(actor.inbox_url.clone())
    .bind(actor.outbox_url.clone())
    .bind(actor.shared_inbox_url.clone())
    .bind(actor.followers_url.clone())
    .bind(actor.following_url.clone())
    .bind(actor.featured_url.clone())
    .bind(actor.public_key.clone())
    .bind(actor.fetched_at)
    .bind(account.updated_at)
    .bind(account.username.clone())
    .bind(account.moved_to_account_id)
    .execute()
    .await?;
    let rank = account_names::rank(account.followers_count);
    account_names::replace(tx, account.id, &account.username, &account.display_name, rank).await
}

/// Adds a server to the known ones.
#[boxed]
pub async fn insert_instance(tx: &mut Tx, domain: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO instances (domain, features, created_at) VALUES ($1, '[]', $2) ON CONFLICT (domain) DO NOTHING"
    ))
    .bind(domain.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The remote status with this URI.
#[boxed]
pub async fn find_status(db: Conn<'_>, uri: &str) -> Result<Option<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.uri = $1 AND NOT s.local"))
        .bind(uri.to_owned())
        .optional()
        .await
}

/// The remote status whose page has this URL, the oldest if there are several.
#[boxed]
pub async fn find_status_by_url(db: Conn<'_>, url: &str) -> Result<Option<StatusId>> {
    let row: Option<(StatusId,)> = db
        .query(sql!(
            "SELECT s.id FROM statuses s WHERE s.url = $1 AND NOT s.local AND s.url IS NOT NULL ORDER BY s.id LIMIT 1"
        ))
        .bind(url.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// The conversation with this URI.
#[boxed]
pub async fn find_conversation(db: Conn<'_>, uri: &str) -> Result<Option<ConversationId>> {
    let row: Option<(ConversationId,)> =
        db.query(sql!("SELECT c.id FROM conversations c WHERE c.uri = $1")).bind(uri.to_owned()).optional().await?;
    Ok(row.map(|(id,)| id))
}

/// Inserts the conversation of another server that has this URI, unless there is one.
#[boxed]
pub async fn insert_conversation(tx: &mut Tx, id: ConversationId, uri: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO conversations (id, uri, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (uri) WHERE uri IS NOT NULL DO NOTHING"
    ))
    .bind(id)
    .bind(uri.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// True when a local account follows `account`.
#[boxed]
pub async fn has_local_follower(db: Conn<'_>, account: AccountId) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!(
            "SELECT f.id FROM follows f JOIN users u ON u.account_id = f.account_id
             WHERE f.target_account_id = $1 LIMIT 1"
        ))
        .bind(account)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// A follow or follow request by its ids.
#[derive(Clone, Debug, model::Row)]
pub struct FollowRow {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub uri: Option<String>,
    /// True for a follow, false for a request.
    pub accepted: bool,
}

macro_rules! any_follow {
    ($condition:literal) => {
        sql!(
            "SELECT f.id, f.account_id, f.target_account_id, f.uri, TRUE AS accepted FROM follows f WHERE " $condition
            " UNION ALL
             SELECT f.id, f.account_id, f.target_account_id, f.uri, FALSE AS accepted FROM follow_requests f WHERE "
            $condition
        )
    };
}

/// The follow of `target` by `account`, or the request for it.
#[boxed]
pub async fn find_follow(db: Conn<'_>, account: AccountId, target: AccountId) -> Result<Option<FollowRow>> {
    let sql = any_follow!("f.account_id = $1 AND f.target_account_id = $2");
    db.query(sql).bind(account).bind(target).optional().await
}

/// The follow by `account` that the activity `uri` made, or the request for it.
#[boxed]
pub async fn find_follow_by_uri(db: Conn<'_>, account: AccountId, uri: &str) -> Result<Option<FollowRow>> {
    let sql = any_follow!("f.account_id = $1 AND f.uri = $2");
    db.query(sql).bind(account).bind(uri.to_owned()).optional().await
}

/// The remote account `id` with its `relations_version`, unless it is suspended.
#[boxed]
pub async fn find_acting(db: Conn<'_>, id: AccountId) -> Result<Option<(Account, i64)>> {
    #[derive(model::Row)]
    struct Acting {
        #[row(flatten)]
        account: Account,
        relations_version: i64,
    }
    let row: Option<Acting> = db
        .query(sql!(
            "SELECT " account_columns!() ", a.relations_version FROM accounts a
             WHERE a.id = $1 AND a.domain IS NOT NULL AND a.suspended_at IS NULL"
        ))
        .bind(id)
        .optional()
        .await?;
    Ok(row.map(|row| (row.account, row.relations_version)))
}

/// The URIs of up to `limit` accounts that follow `account`, or that it follows (`following`), newest first, each with the
/// id of the follow, from before the follow `before`.
#[boxed]
pub async fn list_connected(
    db: Conn<'_>,
    account: AccountId,
    following: bool,
    before: RowId,
    limit: i64,
) -> Result<Vec<(RowId, String)>> {
    let sql = if following {
        sql!(
            "SELECT f.id, a.uri FROM follows f JOIN accounts a ON a.id = f.target_account_id
             WHERE f.account_id = $1 AND f.id < $2 AND a.suspended_at IS NULL ORDER BY f.id DESC LIMIT $3"
        )
    } else {
        sql!(
            "SELECT f.id, a.uri FROM follows f JOIN accounts a ON a.id = f.account_id
             WHERE f.target_account_id = $1 AND f.id < $2 AND a.suspended_at IS NULL ORDER BY f.id DESC LIMIT $3"
        )
    };
    db.query(sql).bind(account).bind(before).bind(limit).all().await
}

/// The URIs of up to `limit` replies to `status` that everyone may read, also on other servers, oldest first, after the
/// status `after`: by `author`, or with `others` by everyone else.
#[boxed]
pub async fn list_replies(
    db: Conn<'_>,
    status: StatusId,
    author: AccountId,
    others: bool,
    after: StatusId,
    limit: i64,
) -> Result<Vec<(StatusId, String)>> {
    db.query(sql!(
        "SELECT s.id, s.uri FROM statuses s JOIN accounts a ON a.id = s.account_id
         WHERE s.in_reply_to_id = $1 AND s.id > $2 AND (s.account_id <> $3) = $4
           AND s.visibility IN ('public', 'unlisted', 'public_unlisted') AND NOT s.local_only
           AND a.suspended_at IS NULL
         ORDER BY s.id LIMIT $5"
    ))
    .bind(status)
    .bind(after)
    .bind(author)
    .bind(others)
    .bind(limit)
    .all()
    .await
}

/// A status of a thread that everyone may read.
#[derive(Clone, Debug, model::Row)]
pub struct ThreadStatus {
    pub id: StatusId,
    pub uri: String,
    /// The URI of its author.
    pub author: String,
    /// It begins the thread, as far as this server knows.
    pub first: bool,
}

/// Up to `limit` statuses of the conversation `id` that everyone may read, also on other servers, oldest first, after the
/// status `after`.
#[boxed]
pub async fn list_thread(db: Conn<'_>, id: ConversationId, after: StatusId, limit: i64) -> Result<Vec<ThreadStatus>> {
    db.query(sql!(
        "SELECT s.id, s.uri, a.uri AS author, s.in_reply_to_account_id IS NULL AS first
         FROM statuses s JOIN accounts a ON a.id = s.account_id
         WHERE s.conversation_id = $1 AND s.id > $2 AND s.visibility IN ('public', 'unlisted', 'public_unlisted')
           AND NOT s.local_only AND s.reblog_of_id IS NULL AND a.suspended_at IS NULL
         ORDER BY s.id LIMIT $3"
    ))
    .bind(id)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Sizes that the server of an account states; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedCounts {
    pub followers: Option<i64>,
    pub following: Option<i64>,
    pub statuses: Option<i64>,
}

/// Replaces the counters of a remote account that its server states.
#[boxed]
pub async fn set_counts(tx: &mut Tx, id: AccountId, counts: StatedCounts) -> Result<()> {
    let after: Option<(i64,)> = tx
        .query(sql!(
            "UPDATE accounts SET followers_count = coalesce($2, followers_count),
                 following_count = coalesce($3, following_count), statuses_count = coalesce($4, statuses_count),
                 version = version + 1
             WHERE id = $1 AND domain IS NOT NULL RETURNING followers_count"
        ))
        .bind(id)
        .bind(counts.followers)
        .bind(counts.following)
        .bind(counts.statuses)
        .optional()
        .await?;
    match after {
        Some((followers,)) => account_names::set_rank(tx, id, account_names::rank(followers)).await,
        None => Ok(()),
    }
}

/// Removes the pins of a remote account whose statuses are not among `kept`.
#[boxed]
pub async fn delete_other_pins(tx: &mut Tx, account: AccountId, kept: &[StatusId]) -> Result<()> {
    tx.query(sql!("DELETE FROM status_pins WHERE account_id = $1 AND NOT status_id" in("$2")))
        .bind(account)
        .bind(Ids::of(kept.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

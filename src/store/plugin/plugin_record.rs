//! Statuses and accounts as plugins receive them: the columns of the contract's records, one statement for a whole
//! batch.
//!
//! Reached from `plugins::call::records`. The caller checks the visibility of statuses.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::account::{ActorType, OtherSettings, Searchability};
use model::status::LimitedScope;
use model::{AccountId, Json, PluginId, StatusId, Time, Visibility, boxed};

/// A status as a plugin sees it, without its tags ([`tags`](crate::status::tags)) and [`mentions`].
#[derive(Debug, model::Row)]
pub struct StatusRow {
    pub id: StatusId,
    pub account_id: AccountId,
    pub domain: Option<String>,
    pub uri: String,
    pub local: bool,
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub searchability: Searchability,
    pub language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub in_reply_to_account_id: Option<AccountId>,
    pub reblog_of_id: Option<StatusId>,
    pub media_count: i64,
    pub has_poll: bool,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    /// The value that the plugin stored with the status (table `status_extras`).
    pub kept: Option<Json<serde_json::Value>>,
}

/// The statuses that exist among `ids`, in no particular order, each with the value that `plugin` stored with it.
///
/// Media are counted only if `has_media` is set.
#[boxed]
pub async fn statuses(db: Conn<'_>, plugin: PluginId, ids: &[StatusId]) -> Result<Vec<StatusRow>> {
    db.query(sql!(
        "SELECT s.id, s.account_id, a.domain, s.uri, s.local, s.content, s.spoiler_text, s.sensitive, s.visibility,
                s.limited_scope, s.searchability, s.language, s.in_reply_to_id, s.in_reply_to_account_id, s.reblog_of_id,
                CASE WHEN s.has_media THEN (SELECT COUNT(*) FROM media_attachments m WHERE m.status_id = s.id) ELSE 0 END
                    AS media_count,
                s.has_poll, s.created_at, s.edited_at, x.value AS kept
         FROM statuses s
         JOIN accounts a ON a.id = s.account_id
         LEFT JOIN status_extras x ON x.status_id = s.id AND x.plugin_id = $2
         WHERE s.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(plugin)
    .all()
    .await
}

/// Stores `value` with a status for `plugin`, replacing an earlier one (upsert).
#[boxed]
pub async fn upsert_extra(tx: &mut Tx, status: StatusId, plugin: PluginId, value: serde_json::Value) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO status_extras (status_id, plugin_id, value) VALUES ($1, $2, $3)
         ON CONFLICT (status_id, plugin_id) DO UPDATE SET value = excluded.value"
    ))
    .bind(status)
    .bind(plugin)
    .bind(Json(value))
    .execute()
    .await?;
    Ok(())
}

/// The mentions in `ids`, including silent ones, oldest first.
#[boxed]
pub async fn mentions(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<(StatusId, AccountId)>> {
    db.query(sql!("SELECT m.status_id, m.account_id FROM mentions m WHERE m.status_id" in("$1") "ORDER BY m.id"))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// An account as a plugin sees it.
#[derive(Debug, model::Row)]
pub struct AccountRow {
    pub id: AccountId,
    pub username: String,
    pub domain: Option<String>,
    pub uri: String,
    pub actor_type: ActorType,
    pub display_name: String,
    pub locked: bool,
    pub memorial: bool,
    pub suspended_at: Option<Time>,
    pub limited_at: Option<Time>,
    pub moved_to_account_id: Option<AccountId>,
    pub other_settings: Json<OtherSettings>,
    pub followers_count: i64,
    pub following_count: i64,
    pub statuses_count: i64,
    pub created_at: Time,
    pub last_active_at: Option<Time>,
    /// The user may not sign in.
    pub disabled: bool,
}

/// The accounts that exist among `ids`, in no particular order, without unconfirmed or unapproved local accounts.
#[boxed]
pub async fn accounts(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<AccountRow>> {
    db.query(sql!(
        "SELECT a.id, a.username, a.domain, a.uri, a.actor_type, a.display_name, a.locked, a.memorial, a.suspended_at,
                a.limited_at, a.moved_to_account_id, a.other_settings, a.followers_count, a.following_count,
                a.statuses_count, a.created_at, u.last_active_at,
                COALESCE(u.disabled, FALSE) AS disabled
         FROM accounts a
         LEFT JOIN users u ON u.account_id = a.id
         WHERE a.id" in("$1")
        "AND (u.account_id IS NULL OR (u.confirmed_at IS NOT NULL AND u.approved))"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

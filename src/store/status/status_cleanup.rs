//! Policies for deleting old statuses, and the statuses that they apply to.
//!
//! Reached from `service::status_cleanup`.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, PluginId, StatusId, boxed};

/// An account's policy: which statuses to delete, and which to keep.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "status_cleanup_policies", alias = "p")]
pub struct StatusCleanupPolicy {
    pub account_id: AccountId,
    pub enabled: bool,
    /// In seconds.
    pub min_status_age: i64,
    pub keep_direct: bool,
    pub keep_pinned: bool,
    pub keep_polls: bool,
    pub keep_media: bool,
    pub keep_self_fav: bool,
    pub keep_self_bookmark: bool,
    pub min_favs: Option<i64>,
    pub min_reblogs: Option<i64>,
}

/// The policy of `account`.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId) -> Result<Option<StatusCleanupPolicy>> {
    db.query(sql!(
        "SELECT " status_cleanup_policy_columns!() " FROM status_cleanup_policies p WHERE p.account_id = $1"
    ))
    .bind(account)
    .optional()
    .await
}

/// The enabled policy of the first account from `account` on that is not suspended.
#[boxed]
pub async fn find_next(db: Conn<'_>, account: AccountId) -> Result<Option<StatusCleanupPolicy>> {
    db.query(sql!(
        "SELECT " status_cleanup_policy_columns!() "
         FROM status_cleanup_policies p CROSS JOIN accounts a
         WHERE p.account_id >= $1 AND p.enabled AND a.id = p.account_id AND a.suspended_at IS NULL
         ORDER BY p.account_id
         LIMIT 1"
    ))
    .bind(account)
    .optional()
    .await
}

/// Sets the policy of its account.
#[boxed]
pub async fn set(tx: &mut Tx, policy: &StatusCleanupPolicy) -> Result<()> {
    tx.query(sql!(
        status_cleanup_policy_insert!() "
         ON CONFLICT (account_id) DO UPDATE
         SET enabled = excluded.enabled, min_status_age = excluded.min_status_age, keep_direct = excluded.keep_direct,
             keep_pinned = excluded.keep_pinned, keep_polls = excluded.keep_polls, keep_media = excluded.keep_media,
             keep_self_fav = excluded.keep_self_fav, keep_self_bookmark = excluded.keep_self_bookmark,
             min_favs = excluded.min_favs, min_reblogs = excluded.min_reblogs"
    ))
    .bind_row(policy)
    .execute()
    .await?;
    Ok(())
}

/// An account's choice for an exception of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "status_cleanup_exceptions", alias = "e")]
pub struct StatusCleanupException {
    pub account_id: AccountId,
    pub plugin_id: PluginId,
    pub name: String,
    /// 0: the exception is off.
    pub least: i64,
}

/// The choices of `account`.
#[boxed]
pub async fn list_exceptions(db: Conn<'_>, account: AccountId) -> Result<Vec<StatusCleanupException>> {
    db.query(sql!(
        "SELECT " status_cleanup_exception_columns!() "
         FROM status_cleanup_exceptions e WHERE e.account_id = $1 ORDER BY e.name"
    ))
    .bind(account)
    .all()
    .await
}

/// Stores a choice.
#[boxed]
pub async fn set_exception(tx: &mut Tx, chosen: &StatusCleanupException) -> Result<()> {
    tx.query(sql!(
        status_cleanup_exception_insert!() "
         ON CONFLICT (account_id, name) DO UPDATE SET plugin_id = excluded.plugin_id, least = excluded.least"
    ))
    .bind_row(chosen)
    .execute()
    .await?;
    Ok(())
}

/// Up to `limit` statuses and reblogs of the policy's account with ids above `after` and below `before`, oldest
/// first, each with whether the policy keeps it. Over the index `statuses_account`.
#[boxed]
pub async fn list_statuses(
    db: Conn<'_>,
    policy: &StatusCleanupPolicy,
    after: StatusId,
    before: StatusId,
    limit: i64,
) -> Result<Vec<(StatusId, bool)>> {
    db.query(sql!(
        "SELECT s.id,
                (p.keep_direct AND s.visibility IN ('direct', 'limited'))
                OR (p.keep_media AND s.has_media)
                OR (p.keep_polls AND s.has_poll)
                OR (p.keep_pinned
                    AND EXISTS (SELECT 1 FROM status_pins n WHERE n.account_id = p.account_id AND n.status_id = s.id))
                OR (p.keep_self_fav
                    AND EXISTS (SELECT 1 FROM favourites f WHERE f.account_id = p.account_id AND f.status_id = s.id))
                OR (p.keep_self_bookmark
                    AND EXISTS (SELECT 1 FROM bookmarks b WHERE b.account_id = p.account_id AND b.status_id = s.id))
                OR (p.min_favs IS NOT NULL AND s.favourites_count >= p.min_favs)
                OR (p.min_reblogs IS NOT NULL AND s.reblogs_count >= p.min_reblogs) AS kept
         FROM status_cleanup_policies p CROSS JOIN statuses s
         WHERE p.account_id = $1 AND s.account_id = $1 AND s.id > $2 AND s.id < $3
         ORDER BY s.id
         LIMIT $4"
    ))
    .bind(policy.account_id)
    .bind(after)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

//! What accounts set for plugins.

use serde_json::{Map, Value};

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::model::{AccountId, Json};
use crate::plugins::PluginId;
use crate::sql;

/// What an account set, as it is stored.
type Stored = Json<Map<String, Value>>;

/// What those of `accounts` that set anything set for `plugin`, in no order.
///
/// # Errors
/// When the database does.
pub async fn list(db: impl Executor, plugin: PluginId, accounts: &[AccountId]) -> Result<Vec<(AccountId, Stored)>> {
    db.query(
        sql!("SELECT p.account_id, p.value FROM plugin_settings p WHERE p.plugin_id = $1 AND p.account_id" in("$2")),
    )
    .bind(plugin)
    .bind(Ids::of(accounts.iter().copied()))
    .all()
    .await
}

/// What a local account set for `plugin`, for a change: nobody else changes it before the transaction ends. `None` when there
/// is no such account.
///
/// # Errors
/// When the database does.
pub async fn lock(tx: &mut Tx, plugin: PluginId, account: AccountId) -> Result<Option<Map<String, Value>>> {
    let found: Option<(AccountId,)> = tx
        .query(sql!(
            sqlite: "SELECT u.account_id FROM users u WHERE u.account_id = $1";
            postgres: "SELECT u.account_id FROM users u WHERE u.account_id = $1 FOR UPDATE"
        ))
        .bind(account)
        .optional()
        .await?;
    if found.is_none() {
        return Ok(None);
    }
    // A statement of its own: whoever waited for the lock reads what was written meanwhile.
    let stored = list(&mut *tx, plugin, &[account]).await?.pop();
    Ok(Some(stored.map(|(_, Json(value))| value).unwrap_or_default()))
}

/// All that `account` set, with the names of the plugins.
///
/// # Errors
/// When the database does.
pub async fn list_of(db: impl Executor, account: AccountId) -> Result<Vec<(String, Stored)>> {
    db.query(sql!(
        "SELECT n.name, p.value FROM plugin_settings p JOIN plugins n ON n.id = p.plugin_id
         WHERE p.account_id = $1 ORDER BY n.name"
    ))
    .bind(account)
    .all()
    .await
}

/// Stores what a local account set for `plugin`; false when there is no such account.
///
/// # Errors
/// When the database does.
pub async fn upsert(tx: &mut Tx, plugin: PluginId, account: AccountId, value: Map<String, Value>) -> Result<bool> {
    let stored = tx
        .query(sql!(
            "INSERT INTO plugin_settings (plugin_id, account_id, value)
             SELECT CAST($1 AS BIGINT), u.account_id, $3 FROM users u WHERE u.account_id = $2
             ON CONFLICT (plugin_id, account_id) DO UPDATE SET value = excluded.value"
        ))
        .bind(plugin)
        .bind(account)
        .bind(Json(value))
        .execute()
        .await?;
    Ok(stored > 0)
}

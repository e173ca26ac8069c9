//! What accounts set for plugins.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Map;

use super::confined::{Arg, Limits, Scope, Value};
use super::sql::{Ids, Sql};
use super::{Db, Executor, Result, Tx};
use crate::model::{AccountId, Json};
use crate::plugins::PluginId;
use crate::sql;

/// What an account set, as it is stored.
type Stored = Json<Map<String, serde_json::Value>>;

fn of_accounts() -> Sql {
    sql!("SELECT p.account_id, p.value FROM plugin_settings p WHERE p.plugin_id = $1 AND p.account_id" in("$2"))
}

/// What those of `accounts` that set anything set for `plugin`, in no order.
///
/// # Errors
/// When the database does.
pub async fn list(db: impl Executor, plugin: PluginId, accounts: &[AccountId]) -> Result<Vec<(AccountId, Stored)>> {
    db.query(of_accounts()).bind(plugin).bind(Ids::of(accounts.iter().copied())).all().await
}

/// As [`list`], in the middle of a call of a plugin. On SQLite it is read where it is asked for, as plugins read, confined to
/// this table: handing it to another thread takes longer than reading it.
///
/// # Errors
/// When the database does.
pub async fn list_here(db: &Db, plugin: PluginId, accounts: &[AccountId]) -> Result<Vec<(AccountId, Stored)>> {
    static PLACE: LazyLock<(Arc<Scope>, Arc<str>)> = LazyLock::new(|| {
        let table = "plugin_settings".to_owned();
        let (prefix, schema, role) = (table.clone(), String::new(), String::new());
        let scope = Scope { name: table, prefix, schema, role, views: BTreeSet::new(), migrating: false };
        (Arc::new(scope), of_accounts().sqlite.into())
    });
    const LIMITS: Limits = Limits { time: Duration::from_millis(500), rows: 10_000, bytes: 16 << 20 };
    if db.reads_here() {
        let args = vec![Arg::Integer(plugin), Arg::Integers(accounts.iter().copied().map(i64::from).collect())];
        let (scope, text) = &*PLACE;
        // What keeps it from being read there does not keep the pool from it.
        if let Ok(rows) = db.confined(scope, text, args, &LIMITS).await {
            return Ok(rows.values.chunks(2).filter_map(stored).collect());
        }
    }
    list(db, plugin, accounts).await
}

/// A row: whose, and a JSON object as a text.
fn stored(row: &[Value]) -> Option<(AccountId, Stored)> {
    match row {
        [Value::Integer(account), Value::Text(text)] => {
            Some(((*account).into(), Json(serde_json::from_str(text).ok()?)))
        }
        _ => None,
    }
}

/// What a local account set for `plugin`, for a change: nobody else changes it before the transaction ends. `None` when there
/// is no such account.
///
/// # Errors
/// When the database does.
pub async fn lock(tx: &mut Tx, plugin: PluginId, account: AccountId) -> Result<Option<Map<String, serde_json::Value>>> {
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
pub async fn upsert(
    tx: &mut Tx,
    plugin: PluginId,
    account: AccountId,
    value: Map<String, serde_json::Value>,
) -> Result<bool> {
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

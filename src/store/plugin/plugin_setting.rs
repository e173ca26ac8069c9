//! Settings of plugins for each account: one JSON object for each plugin and account.
//!
//! Reached from `plugins::settings` and from calls of plugins (contract: interface `settings`). The caller validates
//! against the schema of the manifest and fills in defaults.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Map;

use database::confined::{Limits, Param, Scope, Value};
use database::sql::{Ids, Sql};
use database::{Conn, Db, Result, Tx, sql};
use model::{AccountId, Json, PluginId, boxed};

/// The stored settings of an account.
type Stored = Json<Map<String, serde_json::Value>>;

fn of_accounts() -> Sql {
    sql!("SELECT p.account_id, p.value FROM plugin_settings p WHERE p.plugin_id = $1 AND p.account_id" in("$2"))
}

/// The stored settings of `accounts` for `plugin`, in no particular order; accounts without any are left out.
#[boxed]
pub async fn list(db: Conn<'_>, plugin: PluginId, accounts: &[AccountId]) -> Result<Vec<(AccountId, Stored)>> {
    db.query(of_accounts()).bind(plugin).bind(Ids::of(accounts.iter().copied())).all().await
}

/// As [`list`], for a waiting plugin call. On SQLite the statement runs on the calling thread, through
/// [`Db::confined`] with a scope of this one table: handing it to another thread would take longer than reading.
#[boxed]
pub async fn list_inline(db: &Db, plugin: PluginId, accounts: &[AccountId]) -> Result<Vec<(AccountId, Stored)>> {
    static PLACE: LazyLock<(Arc<Scope>, Arc<str>)> = LazyLock::new(|| {
        let table = "plugin_settings".to_owned();
        let (prefix, schema, role) = (table.clone(), String::new(), String::new());
        let scope = Scope { name: table, prefix, schema, role, views: BTreeSet::new(), migrating: false };
        (Arc::new(scope), of_accounts().sqlite.into())
    });
    const LIMITS: Limits = Limits { time: Duration::from_millis(500), rows: 10_000, bytes: 16 << 20 };
    let (scope, text) = &*PLACE;
    if db.reads_inline(scope) {
        let args = vec![Param::Integer(plugin), Param::Integers(accounts.iter().copied().map(i64::from).collect())];
        // After any failure (a limit, a busy connection) the pool is used instead.
        if let Ok(rows) = db.confined(scope, text, args, &LIMITS).await {
            return Ok(rows.values.chunks(2).filter_map(stored).collect());
        }
    }
    list(db, plugin, accounts).await
}

/// Decodes a row of an account and a JSON object as text.
fn stored(row: &[Value]) -> Option<(AccountId, Stored)> {
    match row {
        [Value::Integer(account), Value::Text(text)] => {
            Some(((*account).into(), Json(serde_json::from_str(text).ok()?)))
        }
        _ => None,
    }
}

/// The settings of a local account for `plugin`, locked for a change until the transaction ends; `None` when there is
/// no such account. The row of `users` is locked, because there may be no row of settings yet.
#[boxed]
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
    // A separate statement after the lock, so that it sees changes committed while waiting for the lock.
    let stored = list(&mut *tx, plugin, &[account]).await?.pop();
    Ok(Some(stored.map(|(_, Json(value))| value).unwrap_or_default()))
}

/// All settings of `account`, with the names of the plugins.
#[boxed]
pub async fn list_for_account(db: Conn<'_>, account: AccountId) -> Result<Vec<(String, Stored)>> {
    db.query(sql!(
        "SELECT n.name, p.value FROM plugin_settings p JOIN plugins n ON n.id = p.plugin_id
         WHERE p.account_id = $1 ORDER BY n.name"
    ))
    .bind(account)
    .all()
    .await
}

/// Stores the settings of a local account for `plugin` (upsert); false when there is no such account.
#[boxed]
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

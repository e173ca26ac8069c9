//! Rows of plugins that belong to an account: deleted with it, and exported for its owner.
//!
//! Based on the `owner-columns` of manifests, which are stored in the database, so that it also covers disabled
//! plugins, and servers without the platform. The statements are the server's own, confined to the plugin's namespace
//! like the plugin's statements; no plugin is called.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Map, Value as Json};

use crate::{plugin_feed, plugin_schema};
use database::confined::{ConfinedError, Limits, Param, Rows, Scope, Value, is_name};
use database::{Db, Engine, Error, Result, Tx};
use model::{AccountId, boxed};

/// Most rows of a table that one statement deletes.
const PART: i64 = 1_000;

/// The limits for one table.
const LIMITS: Limits = Limits { time: Duration::from_secs(30), rows: 1_000_000, bytes: 256 << 20 };

/// Statements for a table with rows that belong to accounts: one reads all rows of an account; one deletes some of
/// them, returning their ids if each has a feed.
pub struct Texts {
    /// Takes the account as `$1`.
    pub select: Arc<str>,
    /// Takes the account as `$1` and the most rows as `$2`.
    pub delete: Arc<str>,
}

impl Texts {
    /// The statements for `table`, whose `column` names the account; with `feed`, the delete returns ids.
    ///
    /// # Errors
    /// When a name is invalid, as a clause.
    pub fn new(
        engine: Engine,
        scope: &Scope,
        table: &str,
        column: &str,
        feed: bool,
    ) -> std::result::Result<Self, String> {
        if !is_name(table) || !is_name(column) {
            return Err(format!("sql.owner-columns names {table}.{column}: write names of a table and a column"));
        }
        let (place, row) = match engine {
            Engine::Sqlite => (format!("{}{}", scope.prefix, table.to_ascii_lowercase()), "rowid"),
            Engine::Postgres => (format!("{}.\"{}\"", scope.schema, table.to_ascii_lowercase()), "ctid"),
        };
        let mark = format!("/* p_{} */", scope.name);
        let ids = if feed { " RETURNING id" } else { "" };
        Ok(Self {
            select: format!("{mark} SELECT * FROM {place} WHERE {column} = $1").into(),
            delete: format!(
                "{mark} DELETE FROM {place} WHERE {column} = $1
                 AND {row} IN (SELECT {row} FROM {place} WHERE {column} = $1 LIMIT $2){ids}"
            )
            .into(),
        })
    }
}

/// The values of the column `id`.
fn ids(rows: &Rows) -> Vec<i64> {
    let Some(place) = rows.columns.iter().position(|column| column == "id") else { return Vec::new() };
    let ids = rows.values.iter().skip(place).step_by(rows.columns.len());
    ids.filter_map(|value| if let Value::Integer(id) = value { Some(*id) } else { None }).collect()
}

fn failed(table: &str) -> impl Fn(ConfinedError) -> Error + '_ {
    move |error| Error::Plugin(format!("the plugin table {table}: {error}"))
}

/// Deletes at most `most` rows of each table with plugin data of `account`, with their feeds; returns how many: 0
/// when nothing is left.
///
/// # Errors
/// When a row cannot be deleted, or the database fails: the account must not be deleted then.
#[boxed]
pub async fn purge_part(tx: &mut Tx, account: AccountId, most: i64) -> Result<u64> {
    let mut removed = 0;
    for owned in plugin_schema::list_owned(&mut *tx).await? {
        let scope = Arc::new(Scope::find(&mut *tx, &owned.plugin, BTreeSet::new()).await?);
        let texts = Texts::new(tx.engine(), &scope, &owned.table_name, &owned.column_name, owned.feed.is_some());
        let texts = texts.map_err(Error::Plugin)?;
        let table = format!("{}.{}", owned.plugin, owned.table_name);
        let args = vec![Param::Integer(account.into()), Param::Integer(most)];
        let gone = tx.confined(&scope, &texts.delete, args, &LIMITS).await.map_err(failed(&table))?;
        if let Some(feed) = &owned.feed {
            plugin_feed::clear_keys(tx, owned.plugin_id, feed, &ids(&gone)).await?;
        }
        removed += gone.affected;
        if gone.affected == 0 {
            let one = Limits { rows: 1, ..LIMITS };
            let left = tx.confined(&scope, &texts.select, vec![Param::Integer(account.into())], &one).await;
            if !left.map_err(failed(&table))?.values.is_empty() {
                return Err(Error::Plugin(format!("rows of an account stayed in the plugin table {table}")));
            }
        }
    }
    Ok(removed)
}

/// Deletes all plugin data of `account`; returns the number of rows.
///
/// # Errors
/// As [`purge_part`].
#[boxed]
pub async fn purge_account(tx: &mut Tx, account: AccountId) -> Result<u64> {
    let mut removed = 0;
    loop {
        match purge_part(tx, account, PART).await? {
            0 => return Ok(removed),
            more => removed += more,
        }
    }
}

/// The plugin data of `account`: `{"plugin": {"table": [{"column": value}]}}`, blobs as base64.
///
/// # Errors
/// When the database fails.
#[boxed]
pub async fn export_account(db: &Db, account: AccountId) -> Result<Json> {
    export_account_up_to(db, account, LIMITS.bytes).await
}

/// As [`export_account`], with null for a table in which the account has more than `most_bytes`.
///
/// # Errors
/// When the database fails.
#[boxed]
pub async fn export_account_up_to(db: &Db, account: AccountId, most_bytes: usize) -> Result<Json> {
    let limits = Limits { bytes: most_bytes, ..LIMITS };
    let mut plugins = Map::new();
    for owned in plugin_schema::list_owned(db).await? {
        let scope = Arc::new(Scope::find(db, &owned.plugin, BTreeSet::new()).await?);
        let texts = Texts::new(db.engine(), &scope, &owned.table_name, &owned.column_name, false);
        let select = texts.map_err(Error::Plugin)?.select;
        let rows = db.confined(&scope, &select, vec![Param::Integer(account.into())], &limits).await;
        let rows = match rows {
            Err(ConfinedError::Bytes(_)) => Json::Null,
            rows => records(rows.map_err(failed(&owned.table_name))?),
        };
        let tables = plugins.entry(owned.plugin).or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(tables) = tables {
            tables.insert(owned.table_name, rows);
        }
    }
    Ok(Json::Object(plugins))
}

/// Each row as an object with the names of its columns.
#[must_use]
pub fn records(rows: Rows) -> Json {
    let width = rows.columns.len().max(1);
    let mut values = rows.values.into_iter();
    let mut records = Vec::with_capacity(values.len() / width);
    while values.len() > 0 {
        records.push(rows.columns.iter().cloned().zip(values.by_ref().take(width).map(json)).collect());
    }
    Json::Array(records)
}

fn json(value: Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(value) => value.into(),
        Value::Real(value) => value.into(),
        Value::Text(value) => value.into(),
        Value::Blob(bytes) => encoded(&bytes).into(),
    }
}

/// `bytes` as base64.
#[must_use]
pub fn encoded(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

//! Rows of plugins about statuses and accounts of other servers, which keep these beyond their age.
//!
//! By convention of the manifest, a column `status_id` of a plugin's table is a status, and a column `account_id` an
//! account. The tables are found in the catalogue of the engine, so that disabled plugins count, and the command line
//! needs no plugin. The statements are the server's own, confined to the plugin's namespace.
//!
//! Spec: plugin-sdk/MANIFEST.md

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use database::confined::{ConfinedError, Limits, Param, Rows, Scope, Value, is_name};
use database::{Conn, Engine, Error, Result, sql};
use model::{AccountId, StatusId, boxed};

use crate::plugin_schema;

/// The limits for one table.
const LIMITS: Limits = Limits { time: Duration::from_secs(5), rows: 100_000, bytes: 16 << 20 };

/// The column with a status.
const STATUS: &str = "status_id";
/// The column with an account.
const ACCOUNT: &str = "account_id";

/// A table of a plugin that refers to statuses or accounts.
#[derive(Clone, Debug)]
struct MarkTable {
    scope: Arc<Scope>,
    /// `plugin.table`, for errors.
    name: String,
    /// The columns to compare and the owner of the row, if it has one.
    statuses: Option<Arc<str>>,
    accounts: Vec<Arc<str>>,
}

/// The tables of all plugins that refer to statuses or accounts.
#[derive(Clone, Debug, Default)]
pub struct MarkTables(Vec<MarkTable>);

/// Finds the tables of all plugins, of disabled ones too, that refer to statuses or accounts.
#[boxed]
pub async fn find_tables(mut db: Conn<'_>) -> Result<MarkTables> {
    let mut owners: BTreeMap<(String, String), String> = BTreeMap::new();
    for owned in plugin_schema::list_owned(db.reborrow()).await? {
        owners.insert((owned.plugin, owned.table_name.to_ascii_lowercase()), owned.column_name);
    }
    let names: Vec<String> =
        db.reborrow().query(sql!("SELECT p.name FROM plugins p ORDER BY p.name")).scalars().await?;
    let mut tables = Vec::new();
    for name in names {
        let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (table, column) in list_columns(db.reborrow(), &name).await? {
            columns.entry(table).or_default().insert(column);
        }
        if columns.is_empty() {
            continue;
        }
        let scope = Arc::new(Scope::find(db.reborrow(), &name, BTreeSet::new()).await?);
        for (table, columns) in columns {
            let owner = owners.get(&(name.clone(), table.clone())).map(String::as_str);
            tables.extend(mark_table(db.engine(), &scope, &table, &columns, owner));
        }
    }
    Ok(MarkTables(tables))
}

fn mark_table(
    engine: Engine,
    scope: &Arc<Scope>,
    table: &str,
    columns: &BTreeSet<String>,
    owner: Option<&str>,
) -> Option<MarkTable> {
    if !is_name(table) || owner.is_some_and(|owner| !is_name(owner)) {
        return None;
    }
    let (place, list) = match engine {
        Engine::Sqlite => (format!("{}{table}", scope.prefix), "IN (SELECT value FROM json_each($1))"),
        Engine::Postgres => (format!("{}.\"{table}\"", scope.schema), "= ANY($1)"),
    };
    let mark = format!("/* p_{} */", scope.name);
    let select = |column: &str, rest: &str| -> Arc<str> {
        format!("{mark} SELECT DISTINCT t.{column} AS subject{rest} FROM {place} t WHERE t.{column} {list}").into()
    };
    let statuses = columns.contains(STATUS).then(|| match owner {
        Some(owner) => select(STATUS, &format!(", t.{owner} AS owner")),
        None => select(STATUS, ""),
    });
    let mut named: BTreeSet<&str> = BTreeSet::new();
    if columns.contains(ACCOUNT) {
        named.insert(ACCOUNT);
    }
    named.extend(owner);
    let accounts: Vec<Arc<str>> = named.into_iter().map(|column| select(column, "")).collect();
    (statuses.is_some() || !accounts.is_empty()).then(|| MarkTable {
        scope: Arc::clone(scope),
        name: format!("{}.{table}", scope.name),
        statuses,
        accounts,
    })
}

/// The tables of the plugin called `name`, each with those of its columns that matter here or that may own rows.
#[boxed]
async fn list_columns(db: Conn<'_>, name: &str) -> Result<Vec<(String, String)>> {
    let place = match db.engine() {
        Engine::Sqlite => format!("p_{name}__"),
        Engine::Postgres => format!("p_{name}"),
    };
    db.query(sql!(
        sqlite: "SELECT substr(s.name, LENGTH($1) + 1) AS holder, lower(c.name) AS held
                 FROM sqlite_schema s JOIN pragma_table_info(s.name) c
                 WHERE s.type = 'table' AND s.name GLOB $1 || '*'";
        postgres: "SELECT c.relname::TEXT AS holder, lower(a.attname::TEXT) AS held
                   FROM pg_class c
                   JOIN pg_namespace n ON n.oid = c.relnamespace
                   JOIN pg_attribute a ON a.attrelid = c.oid
                   WHERE n.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped"
    ))
    .bind(place)
    .all()
    .await
}

impl MarkTables {
    /// The statuses among `ids` that rows of plugins refer to, each with the account that owns the row, if the table
    /// declares one.
    ///
    /// # Errors
    /// When a table cannot be read: nothing may be removed then.
    pub async fn statuses(&self, mut db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<(StatusId, Option<AccountId>)>> {
        let mut found = Vec::new();
        for table in &self.0 {
            let Some(text) = &table.statuses else { continue };
            let ids = ids.iter().map(|id| i64::from(*id)).collect();
            let rows = table.read(db.reborrow(), text, ids).await?;
            let width = rows.columns.len().max(1);
            found.extend(rows.values.chunks(width).filter_map(|row| match row {
                [Value::Integer(status)] => Some((StatusId::from(*status), None)),
                [Value::Integer(status), Value::Integer(owner)] => {
                    Some((StatusId::from(*status), Some(AccountId::from(*owner))))
                }
                [Value::Integer(status), _] => Some((StatusId::from(*status), None)),
                _ => None,
            }));
        }
        Ok(found)
    }

    /// The accounts among `ids` that rows of plugins refer to.
    ///
    /// # Errors
    /// As [`MarkTables::statuses`].
    pub async fn accounts(&self, mut db: Conn<'_>, ids: &[AccountId]) -> Result<HashSet<AccountId>> {
        let mut found = HashSet::new();
        for table in &self.0 {
            for text in &table.accounts {
                let ids = ids.iter().map(|id| i64::from(*id)).collect();
                let rows = table.read(db.reborrow(), text, ids).await?;
                found.extend(rows.values.into_iter().filter_map(|value| match value {
                    Value::Integer(account) => Some(AccountId::from(account)),
                    _ => None,
                }));
            }
        }
        Ok(found)
    }
}

impl MarkTable {
    async fn read(&self, db: Conn<'_>, text: &Arc<str>, ids: Vec<i64>) -> Result<Rows> {
        let args = vec![Param::Integers(ids)];
        let rows = match db {
            Conn::Db(db) => db.confined(&self.scope, text, args, &LIMITS).await,
            Conn::Tx(tx) => tx.confined(&self.scope, text, args, &LIMITS).await,
        };
        let failed = |error: ConfinedError| Error::Plugin(format!("the plugin table {}: {error}", self.name));
        match rows.map_err(failed)? {
            rows if rows.truncated => Err(Error::Plugin(format!("the plugin table {} has too many rows", self.name))),
            rows => Ok(rows),
        }
    }
}

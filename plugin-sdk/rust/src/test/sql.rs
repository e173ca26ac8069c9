//! The plugin's SQL on SQLite in memory: migrations, named statements, and the server's views as tables of an attached
//! database, which is filled with the test's data.

use std::collections::BTreeMap;
use std::rc::Rc;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement as Prepared};

use super::State;
use super::queries::{self, Query};
use crate::Package;
use crate::contract::sql::{Rows, Value};
use crate::contract::types::Failure;

/// The database of a fake server; none without a plugin.
#[derive(Clone, Debug, Default)]
pub(super) struct Database(Option<Rc<Inner>>);

#[derive(Debug)]
struct Inner {
    connection: Connection,
    statements: BTreeMap<String, Query>,
}

/// The server's views, as tables.
const CORE: &str = include_str!("core_v1.sql");

impl Database {
    #[expect(clippy::expect_used, reason = "a test that cannot begin must stop")]
    pub(super) fn open(package: &Package) -> Self {
        if package.manifest.is_empty() {
            return Self(None);
        }
        let connection = Connection::open_in_memory().expect("SQLite opens a database in memory");
        let begun = connection.execute_batch("PRAGMA foreign_keys = ON; ATTACH ':memory:' AS core_v1;");
        begun.and_then(|()| connection.execute_batch(CORE)).expect("the server's views are there");
        for (name, text) in package.migrations.iter().filter(|(name, _)| !name.ends_with(".postgres.sql")) {
            if let Err(error) = connection.execute_batch(&queries::migration(text)) {
                panic!("migration {name}: {error}");
            }
        }
        let statements = queries::read(package.statements);
        for (name, query) in &statements {
            if let Err(error) = connection.prepare(&query.text) {
                panic!("statement {name}: {error}\n{}", query.text);
            }
        }
        Self(Some(Rc::new(Inner { connection, statements })))
    }

    pub(super) fn begin(&self) {
        self.command("SAVEPOINT call");
    }

    pub(super) fn end(&self, keep: bool) {
        self.command(if keep { "RELEASE call" } else { "ROLLBACK TO call; RELEASE call" });
    }

    fn command(&self, text: &str) {
        let Some(inner) = &self.0 else { return };
        if let Err(error) = inner.connection.execute_batch(text) {
            panic!("{text}: {error}");
        }
    }

    /// The parameters of a statement in order, and whether each is an integer; none where there is no such statement.
    pub(super) fn params(&self, name: &str) -> Vec<(String, bool)> {
        let query = self.0.as_ref().and_then(|inner| inner.statements.get(name));
        let params = query.into_iter().flat_map(|query| query.params.iter().map(|name| (name, &query.integers)));
        params.map(|(name, integers)| (name.clone(), integers.contains(name))).collect()
    }

    /// True for a statement that returns a page of accounts.
    pub(super) fn returns_accounts(&self, name: &str) -> bool {
        self.0.as_ref().and_then(|inner| inner.statements.get(name)).is_some_and(|query| query.accounts)
    }

    /// Runs a named statement.
    pub(super) fn query(&self, state: &State, name: &str, params: &[Value]) -> Result<Rows, Failure> {
        let inner = self.0.as_ref().ok_or_else(|| failure(403, "denied", "the manifest has no [sql]"))?;
        let query = inner.statements.get(name);
        let query = query.ok_or_else(|| failure(404, "unknown", &format!("no statement is called {name}")))?;
        if params.len() != query.params.len() {
            let (wanted, given) = (query.params.len(), params.len());
            return Err(failure(422, "params", &format!("{name} takes {wanted} parameters, not {given}")));
        }
        let named: Vec<(&str, Value)> = query.params.iter().map(String::as_str).zip(params.iter().cloned()).collect();
        let mut rows = self.run(state, &query.text, &named).map_err(|error| refusal(name, &error))?;
        let most = query.max_rows.unwrap_or(usize::MAX).saturating_mul(rows.columns.len());
        rows.truncated = rows.values.len() > most;
        rows.values.truncate(most);
        Ok(rows)
    }

    /// Runs any SQL on the plugin's tables.
    pub(super) fn run(&self, state: &State, text: &str, params: &[(&str, Value)]) -> rusqlite::Result<Rows> {
        let Some(inner) = &self.0 else { return Err(rusqlite::Error::InvalidQuery) };
        if text.contains("core_v1") {
            super::core_views::fill(&inner.connection, state)?;
        }
        let mut prepared = inner.connection.prepare_cached(text)?;
        bind(&mut prepared, state.now, params)?;
        let columns: Vec<String> = prepared.column_names().into_iter().map(str::to_owned).collect();
        let before = inner.connection.total_changes();
        let mut values = Vec::new();
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next()? {
            for index in 0..columns.len() {
                values.push(value(row.get_ref(index)?));
            }
        }
        drop(rows);
        let affected = inner.connection.total_changes() - before;
        Ok(Rows { columns, values, affected, truncated: false })
    }
}

fn bind(prepared: &mut Prepared<'_>, now: i64, params: &[(&str, Value)]) -> rusqlite::Result<()> {
    let number = |name: &str| match params.iter().find(|(known, _)| *known == name) {
        Some((_, Value::Integer(number))) => Some(*number),
        _ => None,
    };
    let before = number("max_id").unwrap_or(i64::MAX);
    let after = number("min_id").or_else(|| number("since_id")).unwrap_or(i64::MIN);
    let own =
        [("__now", Value::Integer(now)), ("__before", Value::Integer(before)), ("__after", Value::Integer(after))];
    for (name, value) in params.iter().chain(&own) {
        if let Some(index) = prepared.parameter_index(&format!(":{name}"))? {
            prepared.raw_bind_parameter(index, Bound(value))?;
        }
    }
    Ok(())
}

struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Boolean(flag) => ValueRef::Integer((*flag).into()),
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// A failure with a code of `sql.…`.
fn failure(status: u16, code: &str, message: &str) -> Failure {
    Failure { status, code: format!("sql.{code}"), message: message.to_owned(), detail: None }
}

/// Maps a database error to the failure that the server returns for it.
fn refusal(name: &str, error: &rusqlite::Error) -> Failure {
    const UNIQUE: [i32; 2] = [rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE, rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY];
    let message = format!("{name}: {error}");
    match error {
        rusqlite::Error::SqliteFailure(cause, _) if UNIQUE.contains(&cause.extended_code) => {
            failure(409, "unique", &message)
        }
        rusqlite::Error::SqliteFailure(cause, _)
            if cause.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY =>
        {
            failure(409, "foreign-key", &message)
        }
        rusqlite::Error::SqliteFailure(cause, _) if cause.code == ErrorCode::ConstraintViolation => {
            failure(422, "constraint", &message)
        }
        _ => failure(500, "failed", &message),
    }
}

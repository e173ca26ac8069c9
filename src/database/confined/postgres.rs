//! Confined statements on PostgreSQL: each plugin has a role, which is assumed for one statement at a time.
//!
//! Role, search path and timeouts are set with `SET LOCAL`: for the rest of a read-only transaction that is rolled
//! back, or inside a savepoint of the server's transaction.

use std::sync::Arc;

use futures_util::StreamExt as _;
use sqlx::postgres::{PgConnection, PgDatabaseError, PgPool};
use sqlx::{AssertSqlSafe, Column as _, Either, Executor as _, SqlSafeStr as _, Statement as _, TypeInfo as _};

use super::bind;
use super::functions::MAX_VALUE_BYTES;
use super::types::{ConfinedError, Limits, Param, ParamType, Rows, Scope, within};
use crate::Fault;

/// The statements that assume the role of a plugin until the end of the transaction or savepoint. The names in them are
/// made by the server, so they are not a way to inject SQL.
fn enter(begin: &str, scope: &Scope, limits: &Limits) -> String {
    let milliseconds = limits.time.as_millis();
    format!(
        "{begin}; SET LOCAL ROLE \"{}\"; SET LOCAL search_path TO \"{}\"; \
         SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; \
         SET LOCAL idle_in_transaction_session_timeout = 10000",
        scope.role, scope.schema
    )
}

/// Ends the savepoint after a statement that succeeded. Releasing alone would keep the settings, so they are reset
/// first.
const LEAVE: &str = "SET LOCAL ROLE NONE; SET LOCAL search_path TO DEFAULT; SET LOCAL statement_timeout TO DEFAULT; \
                     SET LOCAL lock_timeout TO DEFAULT; RELEASE SAVEPOINT plugin";

/// Ends the savepoint after a statement that failed; rolling back restores the settings as well.
const UNDO: &str = "ROLLBACK TO SAVEPOINT plugin; RELEASE SAVEPOINT plugin";

pub(super) async fn read(
    pool: &PgPool,
    scope: &Arc<Scope>,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
    let begin = AssertSqlSafe(enter("BEGIN READ ONLY", scope, limits));
    let mut tx = pool.begin_with(begin).await.map_err(|error| failed(&error, limits))?;
    // Dropped when the engine's own limit did not end it: the connection is the plugin's again when it has, and nobody
    // waits for that.
    let done = within(limits, fetch(&mut tx, text, args, limits)).await;
    if !matches!(done, Err(ConfinedError::Time(_))) {
        tx.rollback().await.map_err(|error| failed(&error, limits))?;
    }
    done
}

pub(super) async fn run(
    connection: &mut PgConnection,
    scope: &Arc<Scope>,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
    raw(connection, &enter("SAVEPOINT plugin", scope, limits), limits).await?;
    let done = within(limits, fetch(connection, text, args, limits)).await;
    raw(connection, if done.is_ok() { LEAVE } else { UNDO }, limits).await?;
    done
}

pub(super) async fn prepare(
    connection: &mut PgConnection,
    scope: &Arc<Scope>,
    text: &Arc<str>,
    kinds: &[ParamType],
) -> Result<Vec<String>, ConfinedError> {
    let limits = Limits { time: std::time::Duration::from_secs(5), rows: 0, bytes: 0 };
    raw(connection, &enter("SAVEPOINT plugin", scope, &limits), &limits).await?;
    let declared: Vec<_> = kinds.iter().map(|kind| bind::declared(*kind)).collect();
    let text = AssertSqlSafe(super::types::uncached(text)).into_sql_str();
    let prepared = connection.prepare_with(text, &declared).await;
    let columns = prepared.map_err(|error| failed(&error, &limits)).and_then(|statement| {
        for column in statement.columns() {
            let kind = column.type_info().name();
            if !bind::readable(kind) {
                let name = column.name();
                return Err(ConfinedError::Statement(format!(
                    "its column {name} is of type {kind}, which plugins cannot read: cast it to text"
                )));
            }
        }
        Ok(statement.columns().iter().map(|column| column.name().to_owned()).collect())
    });
    raw(connection, if columns.is_ok() { LEAVE } else { UNDO }, &limits).await?;
    columns
}

async fn raw(connection: &mut PgConnection, text: &str, limits: &Limits) -> Result<(), ConfinedError> {
    match connection.execute(sqlx::raw_sql(AssertSqlSafe(text.to_owned()))).await {
        Ok(_) => Ok(()),
        Err(error) => Err(failed(&error, limits)),
    }
}

async fn fetch(
    connection: &mut PgConnection,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
    let query = sqlx::query_with(AssertSqlSafe(Arc::clone(text)), bind::postgres(args)?);
    let mut stream = connection.fetch_many(query);
    let mut rows = Rows::default();
    while let Some(next) = stream.next().await {
        match next.map_err(|error| failed(&error, limits))? {
            Either::Left(done) => rows.affected += done.rows_affected(),
            Either::Right(_) if rows.full(limits) => break,
            Either::Right(row) => bind::take_postgres(&row, &mut rows, limits)?,
        }
    }
    Ok(rows)
}

fn failed(error: &sqlx::Error, limits: &Limits) -> ConfinedError {
    let sqlx::Error::Database(error) = error else { return ConfinedError::Unavailable(error.to_string()) };
    let Some(error) = error.try_downcast_ref::<PgDatabaseError>() else {
        return ConfinedError::Unavailable(error.to_string());
    };
    let message = error.message().to_owned();
    // https://www.postgresql.org/docs/current/errcodes-appendix.html
    match error.code() {
        // Raised by `core_v1.bounded`.
        "54000" => ConfinedError::Bytes(MAX_VALUE_BYTES),
        "57014" | "55P03" => ConfinedError::Time(limits.time),
        "42501" | "25006" => ConfinedError::Denied(message),
        "23505" => ConfinedError::Unique(error.table().unwrap_or_default().to_owned()),
        "23503" => ConfinedError::ForeignKey,
        "23502" | "23514" | "23P01" => ConfinedError::Constraint(message),
        "40001" | "40P01" => ConfinedError::Unavailable(message),
        // The plugin is not at fault.
        state if Fault::of_state(state).is_some() => ConfinedError::Unavailable(message),
        _ => ConfinedError::Statement(message),
    }
}

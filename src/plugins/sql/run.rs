//! Runs statements: on a connection of their own, or in a transaction of the server.

use std::sync::Arc;

use rookery_plugin_host::imports::sql::{Rows, Value};
use rookery_plugin_host::imports::types::Failure;

use super::failure::{self, failure, unknown};
use super::statements::{Statement, Statements};
use super::value;
use crate::Cx;
use crate::call::OrFailure as _;
use crate::quota::ROW;
use database::Tx;
use database::confined::functions::MAX_VALUE_BYTES;
use database::confined::{Lane, Limits, Param};
use model::Cursor;
use plugin_package::sql::check::Growth;
use plugin_package::sql::text::Slot;
use store::plugin_schema;
use tokio::sync::SemaphorePermit;
use tracing::{Span, trace_span};

/// Most parameters of one call of [`Statements::run_many`].
const MOST_VALUES: usize = 100_000;

/// Rows of such a call after which its growth is charged.
const MEASURED: usize = 500;

/// A statement's text with bound parameters.
struct Bound {
    text: Arc<str>,
    args: Vec<Param>,
    limits: Limits,
    /// The rows are returned oldest first and must be reversed.
    reversed: bool,
}

/// A tracing span for a run of the statement, like the spans of the server's statements; the span of the call names the plugin.
fn span(statement: &Statement) -> Span {
    trace_span!(target: "rookery::statement", "statement", otel.name = &*statement.name, otel.kind = "client")
}

impl Statements {
    /// Runs a read-only statement on a separate connection.
    ///
    /// # Errors
    /// As the contract's `sql.query`; 422 `sql.read-only` for a statement that changes something.
    pub async fn read(&self, cx: &Cx, name: &str, params: Vec<Value>) -> Result<Rows, Failure> {
        self.read_within(cx, Lane::Usual, name, params, usize::MAX).await
    }

    /// As [`Statements::read`], on a connection of `lane`, with at most `most` bytes of result, within the limit of a statement.
    pub(crate) async fn read_within(
        &self,
        cx: &Cx,
        lane: Lane,
        name: &str,
        params: Vec<Value>,
        most: usize,
    ) -> Result<Rows, Failure> {
        let statement = self.find(name).ok_or_else(|| unknown(name))?;
        if statement.writes {
            return Err(failure(422, "read-only", format!("{name} changes something, which is not possible here")));
        }
        let _memory = match lane {
            Lane::Usual => Some(self.reserve(statement).await?),
            Lane::Filters => None,
        };
        let bound = self.bind(statement, params, most)?;
        let span = span(statement);
        let done = cx.db.confined_in(lane, &self.scope, &bound.text, bound.args, &bound.limits).await;
        drop(span);
        self.answer(statement, done, bound.reversed)
    }

    /// Waits for the memory of a reading statement, from the budget of all reading statements.
    async fn reserve(&self, statement: &Statement) -> Result<SemaphorePermit<'_>, Failure> {
        let reserved = tokio::time::timeout(self.limits.time * 4, self.memory.acquire_many(statement.texts)).await;
        let busy = || failure(503, "unavailable", format!("{}: the database is busy", statement.name));
        reserved.map_err(|_| busy())?.map_err(|_| busy())
    }

    /// Runs a statement in `tx`. A database error rolls back the statement alone, except `sql.time`, `sql.bytes` and
    /// `sql.undone`, which abort the transaction.
    ///
    /// # Errors
    /// As the contract's `sql.query`.
    pub async fn run(&self, tx: &mut Tx, name: &str, params: Vec<Value>) -> Result<Rows, Failure> {
        self.run_within(tx, name, params, usize::MAX).await
    }

    /// As [`Statements::run`], with a result of at most `most` bytes, within the limit of a statement.
    pub(crate) async fn run_within(
        &self,
        tx: &mut Tx,
        name: &str,
        params: Vec<Value>,
        most: usize,
    ) -> Result<Rows, Failure> {
        let statement = self.find(name).ok_or_else(|| unknown(name))?;
        self.charge(statement.growth, &params).await?;
        let before = self.storage_size(tx, statement.growth).await?;
        let done = self.step(tx, statement, params, most).await?;
        self.charge_more(tx, statement.growth, before, done.affected).await?;
        Ok(done)
    }

    /// Runs a statement that was charged.
    async fn step(&self, tx: &mut Tx, statement: &Statement, params: Vec<Value>, most: usize) -> Result<Rows, Failure> {
        let bound = self.bind(statement, params, most)?;
        let span = span(statement);
        let done = tx.confined(&self.scope, &bound.text, bound.args, &bound.limits).await;
        drop(span);
        self.answer(statement, done, bound.reversed)
    }

    /// Runs a statement once for each `width` values; returns the total of rows changed.
    ///
    /// # Errors
    /// As [`Statements::run`]; earlier iterations stay in `tx`, so roll it back.
    pub async fn run_many(&self, tx: &mut Tx, name: &str, width: u16, params: Vec<Value>) -> Result<u64, Failure> {
        let width = usize::from(width);
        if width == 0 || !params.len().is_multiple_of(width) {
            return Err(failure(422, "params", format!("{name}: {} values are no rows of {width}", params.len())));
        }
        if params.len() > MOST_VALUES {
            return Err(failure(413, "params", format!("{name}: more than {MOST_VALUES} values at once")));
        }
        let statement = self.find(name).ok_or_else(|| unknown(name))?;
        let (mut changed, mut rest) = (0, params.into_iter());
        loop {
            let before = self.storage_size(tx, statement.growth).await?;
            let mut more = 0;
            for _ in 0..MEASURED {
                let row: Vec<Value> = rest.by_ref().take(width).collect();
                if row.is_empty() {
                    break;
                }
                self.charge(statement.growth, &row).await?;
                more += self.step(tx, statement, row, usize::MAX).await?.affected;
            }
            self.charge_more(tx, statement.growth, before, more).await?;
            changed += more;
            if rest.len() == 0 {
                return Ok(changed);
            }
        }
    }

    /// Charges a statement's known growth before it runs.
    async fn charge(&self, growth: Growth, params: &[Value]) -> Result<(), Failure> {
        if growth == Growth::Nothing {
            return Ok(());
        }
        self.quota.ready().await.or_failure()?;
        if self.quota.take(params.iter().map(value::size).sum()) {
            return Ok(());
        }
        let most = self.quota.most() >> 20;
        Err(failure(507, "quota", format!("the plugin's tables have reached the limit db-size, {most} MiB")))
    }

    /// The size before a statement whose growth is known only afterwards.
    async fn storage_size(&self, tx: &mut Tx, growth: Growth) -> Result<i64, Failure> {
        match growth {
            Growth::Nothing | Growth::Params => Ok(0),
            Growth::Any => Ok(plugin_schema::storage_size(tx, &self.scope.name).await.or_failure()?),
        }
    }

    /// Charges the remaining growth after a statement ran. On failure, `tx` must be rolled back.
    async fn charge_more(&self, tx: &mut Tx, growth: Growth, before: i64, affected: u64) -> Result<(), Failure> {
        let more = match growth {
            Growth::Nothing => return Ok(()),
            Growth::Params => affected.saturating_mul(ROW),
            Growth::Any => u64::try_from(self.storage_size(tx, growth).await? - before).unwrap_or(0),
        };
        if self.quota.add(more) {
            return Ok(());
        }
        let most = self.quota.most() >> 20;
        let sentence = format!(
            "the plugin's tables would exceed the limit db-size, {most} MiB, so the transaction is rolled back"
        );
        Err(failure(507, "undone", sentence))
    }

    fn now(&self) -> Param {
        Param::Integer(self.clock.now().timestamp_millis())
    }

    fn bind(&self, statement: &Statement, params: Vec<Value>, most: usize) -> Result<Bound, Failure> {
        let (name, wanted) = (&statement.name, statement.params.len());
        if params.len() != wanted {
            return Err(failure(422, "params", format!("{name} takes {wanted} parameters, not {}", params.len())));
        }
        let bytes = self.limits.bytes.min(most);
        let mut limits = Limits { rows: statement.max_rows, bytes, ..self.limits };
        let cursor = statement.page.map(|at| cursor(&params, at, limits.rows));
        let mut values = Vec::with_capacity(wanted);
        for ((param, kind), given) in statement.params.iter().zip(params) {
            if value::size(&given) > MAX_VALUE_BYTES {
                let most = MAX_VALUE_BYTES >> 10;
                return Err(failure(413, "params", format!("{name}: {param} is larger than {most} KiB")));
            }
            values.push(value::arg(param, *kind, given)?);
        }
        if let (Some(cursor), Some([.., limit])) = (&cursor, statement.page) {
            values[limit] = Param::Integer(cursor.limit);
            limits.rows = limits.rows.min(usize::try_from(cursor.limit).unwrap_or(0));
        }
        let bounds = cursor.unwrap_or_default();
        let args = statement.slots.iter().map(|slot| match slot {
            Slot::Param(index) => values[*index].clone(),
            Slot::Now => self.now(),
            Slot::Before => Param::Integer(bounds.before()),
            Slot::After => Param::Integer(bounds.after()),
        });
        let reversed = bounds.ascending() && statement.ascending.is_some();
        let text = if reversed { statement.ascending.as_ref() } else { None }.unwrap_or(&statement.text);
        Ok(Bound { text: Arc::clone(text), args: args.collect(), limits, reversed })
    }

    fn answer(
        &self,
        statement: &Statement,
        done: Result<database::confined::Rows, database::confined::ConfinedError>,
        reversed: bool,
    ) -> Result<Rows, Failure> {
        let mut done =
            done.map_err(|error| failure::of(&statement.name, &error, self.limits.bytes, |table| self.bare(table)))?;
        if done.columns.is_empty() {
            done.columns.clone_from(&statement.columns);
        }
        if statement.page.is_some() {
            done.truncated = false;
        }
        let mut rows = rows(done);
        if reversed {
            reverse_rows(&mut rows.values, rows.columns.len());
        }
        Ok(rows)
    }

    /// A table's name as the plugin writes it, without the name-space.
    fn bare(&self, table: &str) -> String {
        table.trim_start_matches(self.scope.prefix.as_str()).to_owned()
    }
}

fn rows(rows: database::confined::Rows) -> Rows {
    let database::confined::Rows { columns, values, affected, truncated, .. } = rows;
    Rows { columns, values: values.into_iter().map(value::value).collect(), affected, truncated }
}

/// Reverses the rows, in place: they may be megabytes.
fn reverse_rows(values: &mut [Value], width: usize) {
    values.reverse();
    values.chunks_mut(width.max(1)).for_each(<[Value]>::reverse);
}

/// The cursor in the parameters; a limit of NULL or 0 is the statement's own.
fn cursor(params: &[Value], at: [usize; 4], most: usize) -> Cursor {
    let [max_id, since_id, min_id, limit] = at.map(|index| match params.get(index) {
        Some(Value::Integer(id)) => Some(*id),
        _ => None,
    });
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let limit = limit.filter(|limit| *limit > 0).map_or(most, |limit| limit.min(most));
    Cursor { limit, max_id, since_id, min_id }
}

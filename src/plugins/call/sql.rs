//! Access to the plugin's own tables (contract: interface `sql`). [`crate::sql`] decides which operations a statement
//! may contain; this module decides in which transaction it runs.

use async_trait::async_trait;
use rookery_plugin_host::Part;
use rookery_plugin_host::host::Sql;
use rookery_plugin_host::imports::sql::{Call as Statement, Rows, Value};
use rookery_plugin_host::imports::types::Failure;
use tokio::sync::MutexGuard;

use super::Call;
use super::database_time::Timed;
use super::result_budget::Room;
use super::transaction::{EndReason, Slot, Work};
use crate::failure::{TRANSACTION_TIME, at_most, denied};
use crate::sql::Statements;
use database::confined::Lane;

/// Most statements of one batch.
const BATCH: usize = 500;

#[async_trait]
impl Sql for Call {
    async fn query(&self, name: String, params: Vec<Value>) -> Result<Rows, Failure> {
        self.query_within(&name, params, &mut self.room()).await
    }

    async fn batch(&self, calls: Vec<Statement>) -> Result<Vec<Rows>, Failure> {
        at_most(calls.len(), BATCH, "statements")?;
        let statements = self.statements()?;
        let writes = calls.iter().map(|call| self.writes(&call.statement)).collect::<Result<Vec<_>, _>>()?;
        let (mut all, mut room) = (Vec::with_capacity(calls.len()), self.room());
        if !writes.contains(&true) {
            for call in calls {
                all.push(self.query_within(&call.statement, call.params, &mut room).await?);
            }
            return Ok(all);
        }
        let mut work = self.guarded().await?;
        for call in calls {
            let done = statements.run_within(work.tx()?, &call.statement, call.params, room.left()).await;
            match done.and_then(|rows| room.take(&rows).map(|()| rows)) {
                Ok(rows) => all.push(rows),
                Err(failed) => return work.finish(Err(failed)).await,
            }
        }
        work.finish(Ok(all)).await
    }

    async fn many(&self, name: String, width: u16, params: Vec<Value>) -> Result<u64, Failure> {
        let statements = self.statements()?;
        let mut work = self.guarded().await?;
        let done = statements.run_many(work.tx()?, &name, width, params).await;
        work.finish(done).await
    }
}

impl Call {
    fn statements(&self) -> Result<&Statements, Failure> {
        self.active.sql.as_ref().ok_or_else(|| denied("[sql]"))
    }

    fn writes(&self, statement: &str) -> Result<bool, Failure> {
        Ok(self.statements()?.find(statement).is_some_and(|statement| statement.writes))
    }

    async fn query_within(&self, name: &str, params: Vec<Value>, room: &mut Room<'_>) -> Result<Rows, Failure> {
        let (statements, most) = (self.statements()?, room.left());
        let rows = if self.writes(name)? {
            let mut work = self.change().await?;
            let done = statements.run_within(work.tx()?, name, params, most).await;
            work.finish(done).await?
        } else if let Some(mut slot) = self.joined().await
            && let Some(tx) = slot.tx()
        {
            let done = statements.run_within(tx, name, params, most).await;
            checked(&mut slot, done)?
        } else {
            let _timed = Timed::begin(&self.active, self.part);
            statements.read_within(&self.cx, self.lane(), name, params, most).await?
        };
        room.take(&rows)?;
        Ok(rows)
    }

    fn lane(&self) -> Lane {
        match self.part {
            Part::Filters => Lane::Filters,
            Part::Routes | Part::Jobs | Part::Decorations => Lane::Usual,
        }
    }

    /// The transaction of this call, if it began: the plugin reads its own tables in it from then on.
    pub(super) async fn joined(&self) -> Option<MutexGuard<'_, Slot>> {
        let slot = self.slot.lock().await;
        slot.is_open().then_some(slot)
    }
}

/// True for a failure that aborts the transaction.
fn ends(failed: &Failure) -> bool {
    matches!(failed.code.as_str(), TRANSACTION_TIME | "sql.time" | "sql.bytes" | "sql.undone" | "sql.unavailable")
}

/// The result of a statement; ends the transaction if the failure aborts it.
fn checked<T>(slot: &mut Slot, done: Result<T, Failure>) -> Result<T, Failure> {
    if done.as_ref().is_err_and(ends) {
        *slot = Slot::Ended(EndReason::Failed);
    }
    done
}

impl Work<'_> {
    /// Completes the change, or rolls back this change alone.
    pub(super) async fn finish<T>(self, done: Result<T, Failure>) -> Result<T, Failure> {
        match done {
            Ok(value) => {
                self.done().await?;
                Ok(value)
            }
            Err(failed) if ends(&failed) => Err(failed),
            Err(failed) => {
                self.undo().await?;
                Err(failed)
            }
        }
    }
}

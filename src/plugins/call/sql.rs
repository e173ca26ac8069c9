//! Access to the plugin's own tables (contract: interface `sql`). [`crate::sql`] decides what a statement may do; this
//! module decides in which transaction it runs.

use rookery_plugin_host::imports::sql::{Call as Statement, Rows, Value};
use rookery_plugin_host::imports::types::Failure;
use tokio::sync::MutexGuard;

use super::Call;
use super::ambient::{Slot, Why, Work};
use super::database_time::Timed;
use super::failure::{at_most, denied};
use crate::sql::Statements;

/// Most statements of one batch.
const BATCH: usize = 500;

impl Call {
    fn statements(&self) -> Result<&Statements, Failure> {
        self.active.sql.as_ref().ok_or_else(|| denied("[sql]"))
    }

    fn writes(&self, statement: &str) -> Result<bool, Failure> {
        Ok(self.statements()?.find(statement).is_some_and(|statement| statement.writes))
    }

    pub(super) async fn query(&self, name: String, params: Vec<Value>) -> Result<Rows, Failure> {
        let statements = self.statements()?;
        if self.writes(&name)? {
            let mut work = self.change().await?;
            let done = statements.run(work.tx()?, &name, params).await;
            return work.settle(done).await;
        }
        if let Some(mut slot) = self.joined().await
            && let Some(tx) = slot.tx()
        {
            let done = statements.run(tx, &name, params).await;
            return settle(&mut slot, done);
        }
        let _timed = Timed::begin(&self.active);
        statements.read(&self.cx, &name, params).await
    }

    pub(super) async fn batch(&self, calls: Vec<Statement>) -> Result<Vec<Rows>, Failure> {
        at_most(calls.len(), BATCH, "statements")?;
        let statements = self.statements()?;
        let writes = calls.iter().map(|call| self.writes(&call.statement)).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::with_capacity(calls.len());
        if !writes.contains(&true) {
            for call in calls {
                all.push(self.query(call.statement, call.params).await?);
            }
            return Ok(all);
        }
        let mut work = self.guarded().await?;
        for call in calls {
            match statements.run(work.tx()?, &call.statement, call.params).await {
                Ok(rows) => all.push(rows),
                Err(failed) => return work.settle(Err(failed)).await,
            }
        }
        work.settle(Ok(all)).await
    }

    pub(super) async fn many(&self, name: String, width: u16, params: Vec<Value>) -> Result<u64, Failure> {
        let statements = self.statements()?;
        let mut work = self.guarded().await?;
        let done = statements.run_many(work.tx()?, &name, width, params).await;
        work.settle(done).await
    }

    /// The transaction of this call, if it began: the plugin reads its own tables in it from then on.
    pub(super) async fn joined(&self) -> Option<MutexGuard<'_, Slot>> {
        let slot = self.slot.lock().await;
        slot.is_open().then_some(slot)
    }
}

/// True for a failure that aborts the transaction.
fn ends(failed: &Failure) -> bool {
    matches!(failed.code.as_str(), "sql.time" | "sql.bytes" | "sql.undone" | "sql.unavailable")
}

/// The result of a statement; ends the transaction if the failure aborts it.
fn settle<T>(slot: &mut Slot, done: Result<T, Failure>) -> Result<T, Failure> {
    if done.as_ref().is_err_and(ends) {
        *slot = Slot::Ended(Why::Failed);
    }
    done
}

impl Work<'_> {
    /// Completes the change, or rolls back this change alone.
    pub(super) async fn settle<T>(self, done: Result<T, Failure>) -> Result<T, Failure> {
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

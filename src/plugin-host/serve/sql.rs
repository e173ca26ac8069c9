//! Host functions of SQL: named statements, and transactions as resource handles.
//!
//! A transaction that a guest drops, or still holds when its call ends, is rolled back.

use wasmtime::Result;
use wasmtime::component::Resource;

use super::{cost, failure};
use crate::bindings::imports::types::Failure;
use crate::bindings::imports::sql;
use crate::byte_size::ByteSize;
use crate::host::Transaction;
use crate::state::State;

/// Cost of one statement over many rows of parameters: 2, and 1 for each 100 rows.
fn many_units(width: u16, params: &[sql::Value]) -> u32 {
    let rows = params.len() / usize::from(width.max(1));
    cost(2, 1, rows / 100)
}

impl State {
    /// The number by which the host knows a transaction.
    fn number(&self, transaction: &Resource<Transaction>) -> Result<u32> {
        Ok(self.table.get(transaction)?.0)
    }
}

impl sql::Host for State {
    async fn which(&mut self) -> Result<sql::Dialect> {
        self.ask("sql.which", 1, 0, |host| host.sql_dialect())
    }

    async fn query(&mut self, statement: String, params: Vec<sql::Value>) -> Result<Result<sql::Rows, Failure>> {
        let bytes = statement.heap_bytes() + params.heap_bytes();
        self.wait("sql.query", 2, bytes, |host| host.sql_query(statement, params)).await
    }

    async fn batch(&mut self, calls: Vec<sql::Call>) -> Result<Result<Vec<sql::Rows>, Failure>> {
        let (units, bytes) = (cost(0, 2, calls.len()).max(1), calls.heap_bytes());
        self.wait("sql.batch", units, bytes, |host| host.sql_batch(calls)).await
    }

    async fn many(&mut self, statement: String, width: u16, params: Vec<sql::Value>) -> Result<Result<u64, Failure>> {
        let (units, bytes) = (many_units(width, &params), statement.heap_bytes() + params.heap_bytes());
        self.wait("sql.many", units, bytes, move |host| host.sql_many(statement, width, params)).await
    }
}

impl sql::HostTransaction for State {
    async fn begin(&mut self, read_only: bool) -> Result<Result<Resource<Transaction>, Failure>> {
        let begun = self.wait("sql.transaction.begin", 2, 0, move |host| host.sql_begin(read_only)).await?;
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let number = transaction.0;
        if let Ok(handle) = self.table.push(transaction) {
            return Ok(Ok(handle));
        }
        if let Some(scope) = &self.scope {
            scope.host.sql_rollback(number).await;
        }
        Ok(Err(failure(429, "host.handles", format!("handles: {} are open already", self.limits.handles))))
    }

    async fn query(
        &mut self,
        transaction: Resource<Transaction>,
        statement: String,
        params: Vec<sql::Value>,
    ) -> Result<Result<sql::Rows, Failure>> {
        let (number, bytes) = (self.number(&transaction)?, statement.heap_bytes() + params.heap_bytes());
        self.wait("sql.transaction.query", 2, bytes, move |host| host.sql_transaction_query(number, statement, params))
            .await
    }

    async fn many(
        &mut self,
        transaction: Resource<Transaction>,
        statement: String,
        width: u16,
        params: Vec<sql::Value>,
    ) -> Result<Result<u64, Failure>> {
        let number = self.number(&transaction)?;
        let (units, bytes) = (many_units(width, &params), statement.heap_bytes() + params.heap_bytes());
        self.wait("sql.transaction.many", units, bytes, move |host| {
            host.sql_transaction_many(number, statement, width, params)
        })
        .await
    }

    async fn commit(&mut self, transaction: Resource<Transaction>) -> Result<Result<(), Failure>> {
        let number = self.table.delete(transaction)?.0;
        self.wait("sql.transaction.commit", 1, 0, move |host| host.sql_commit(number)).await
    }

    async fn drop(&mut self, transaction: Resource<Transaction>) -> Result<()> {
        let number = self.table.delete(transaction)?.0;
        let Some(host) = self.scope.as_ref().map(|scope| std::sync::Arc::clone(&scope.host)) else {
            return Ok(());
        };
        self.clock.stand();
        host.sql_rollback(number).await;
        self.clock.run();
        Ok(())
    }
}

//! Host functions of SQL: named statements.

use wasmtime::Result;

use super::cost;
use crate::bindings::imports::sql;
use crate::bindings::imports::types::Failure;
use crate::byte_size::ByteSize;
use crate::state::State;

/// Cost of one statement over many rows of parameters: 2, and 1 for each 100 rows.
fn many_units(width: u16, params: &[sql::Value]) -> u32 {
    let rows = params.len() / usize::from(width.max(1));
    cost(2, 1, rows / 100)
}

impl sql::Host for State {
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

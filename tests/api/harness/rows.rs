//! Direct SQL, for rows that no route or service reads or writes.

use database::Engine;

use super::TestApp;

impl TestApp {
    /// Runs one or more statements.
    pub async fn execute(&self, sql: &str) {
        self.db().execute_raw(sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// The only value of a statement: a count, or one column of one row.
    pub async fn number(&self, sql: &str) -> i64 {
        self.db().fetch_raw::<(i64,)>(sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"))[0].0
    }

    /// Number of rows of a table: `app.count("follows")`, `app.count("jobs WHERE state = 'dead'")`.
    pub async fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM {table}")).await
    }

    /// The time of the test's clock as an SQL literal.
    pub fn now_sql(&self) -> String {
        let now = self.app.clock.now().timestamp_micros();
        match self.db().engine() {
            Engine::Sqlite => now.to_string(),
            Engine::Postgres => format!("to_timestamp({now} / 1000000.0)"),
        }
    }
}

//! The namespace of a plugin's tables: a prefix of their names on SQLite, a schema and a role on PostgreSQL.
//!
//! Creates, drops, lists and exports it with the server's own rights; statements of plugins run within its [`Scope`].
//! Names are derived from the plugin's name alone, which is `[a-z][a-z0-9_]*`.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::bind;
use super::types::{ConfinedError, Limits, Rows, Scope};
use crate::db::{Inner, Pools};
use crate::sqlite::connection::Wanted;
use crate::{Conn, Db, Engine, Error, Result, Tx, sql};

/// The advisory lock that a transaction holds while it changes roles and schemas of plugins.
const LOCK: i64 = 0x526f_6f6b_6572_7931;

impl Scope {
    /// The scope of the plugin `name`, which may read `views`. Creates nothing.
    pub async fn find(db: impl Into<Conn<'_>>, name: &str, views: BTreeSet<String>) -> Result<Self> {
        let db = db.into();
        let role = match db.engine() {
            Engine::Sqlite => String::new(),
            Engine::Postgres => {
                let database: String =
                    db.query(sql!(sqlite: "SELECT ''"; postgres: "SELECT current_database()::TEXT")).scalar().await?;
                // A role belongs to the whole cluster, where other databases may have a plugin with this name.
                format!("p_{}_{name}", &crypto::sha256_hex(database.as_bytes())[..8])
            }
        };
        Ok(Self {
            name: name.to_owned(),
            prefix: format!("p_{name}__"),
            schema: format!("p_{name}"),
            role,
            views,
            migrating: false,
        })
    }

    /// The quoted name of a table from [`Tx::list_tables`], as SQL text.
    fn place(&self, engine: Engine, table: &str) -> String {
        match engine {
            Engine::Sqlite => format!("\"{table}\""),
            Engine::Postgres => format!("\"{}\".\"{table}\"", self.schema),
        }
    }
}

impl Db {
    /// Every row of a table from [`Tx::list_tables`], as a stream of single rows, on a separate connection. Without
    /// limits, and outside the prepared statement cache.
    pub fn stream_rows<'a>(&'a self, scope: &Scope, table: &str) -> BoxStream<'a, Result<Rows>> {
        const WHOLE: Limits = Limits { time: Duration::MAX, rows: usize::MAX, bytes: usize::MAX };
        let text = format!("SELECT * FROM {}", scope.place(self.engine(), table));
        let unfit = |error: ConfinedError| Error::Sql(sqlx::Error::Decode(error.into()));
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.readers.stream(text, move |names, values| {
                let mut rows =
                    Rows { columns: names.iter().map(|name| (*name).to_owned()).collect(), ..Rows::default() };
                for value in values {
                    bind::take_sqlite(*value).and_then(|value| rows.push(value, &WHOLE)).map_err(unfit)?;
                }
                Ok(rows)
            }),
            Pools::Postgres(pool) => sqlx::query(sqlx::AssertSqlSafe(text))
                .persistent(false)
                .fetch(pool)
                .map(move |row| {
                    let mut rows = Rows::default();
                    bind::take_postgres(&row?, &mut rows, &WHOLE).map_err(unfit)?;
                    Ok(rows)
                })
                .boxed(),
        }
    }
}

impl Tx {
    /// The number of rows of a table from [`Tx::list_tables`].
    pub async fn count_rows(&mut self, scope: &Scope, table: &str) -> Result<i64> {
        let text = format!("SELECT COUNT(*) FROM {}", scope.place(self.engine(), table));
        Ok(match &mut self.inner {
            Inner::Sqlite(tx) => {
                tx.fetch_made::<(i64,)>(&text, &[], Wanted::First)?.first().map_or(0, |(count,)| *count)
            }
            Inner::Postgres(tx) => sqlx::query_scalar(sqlx::AssertSqlSafe(text)).fetch_one(&mut **tx).await?,
        })
    }

    /// Creates the role and the schema of `scope` unless they exist, and sets which views the role may read. Does
    /// nothing on SQLite.
    ///
    /// # Errors
    /// [`Error::is_denied`] when the server's own PostgreSQL role may not create roles.
    pub async fn ensure_namespace(&mut self, scope: &Scope) -> Result<()> {
        if self.engine() == Engine::Sqlite {
            return Ok(());
        }
        self.lock_namespaces().await?;
        let Scope { role, schema, .. } = scope;
        if !self.has_role(role).await? {
            self.define(format!("CREATE ROLE \"{role}\" NOLOGIN NOINHERIT")).await?;
            self.define(format!("GRANT \"{role}\" TO CURRENT_USER")).await?;
        }
        self.define(format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\" AUTHORIZATION \"{role}\"")).await?;
        self.adopt_tables(scope).await?;
        self.define(format!("GRANT USAGE ON SCHEMA core_v1 TO \"{role}\"")).await?;
        self.define(format!("REVOKE ALL ON ALL TABLES IN SCHEMA core_v1 FROM \"{role}\"")).await?;
        if !scope.views.is_empty() {
            let views: Vec<String> = scope.views.iter().map(|view| format!("core_v1.\"{view}\"")).collect();
            self.define(format!("GRANT SELECT ON {} TO \"{role}\"", views.join(", "))).await?;
        }
        Ok(())
    }

    /// Drops the tables of a plugin, on PostgreSQL with its schema and role.
    pub async fn drop_namespace(&mut self, scope: &Scope) -> Result<()> {
        match self.engine() {
            Engine::Sqlite => {
                for table in self.list_tables(scope).await? {
                    self.define(format!("DROP TABLE IF EXISTS \"{table}\"")).await?;
                }
                Ok(())
            }
            Engine::Postgres => {
                self.lock_namespaces().await?;
                self.define(format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", scope.schema)).await?;
                if self.has_role(&scope.role).await? {
                    self.define(format!("DROP OWNED BY \"{}\"", scope.role)).await?;
                    self.define(format!("DROP ROLE \"{}\"", scope.role)).await?;
                }
                Ok(())
            }
        }
    }

    /// The tables of a plugin under their names in the engine: with the prefix on SQLite, newest first; without the
    /// schema on PostgreSQL.
    pub async fn list_tables(&mut self, scope: &Scope) -> Result<Vec<String>> {
        let (pattern, schema) = (format!("{}*", scope.prefix), scope.schema.clone());
        let place = match self.engine() {
            Engine::Sqlite => pattern,
            Engine::Postgres => schema,
        };
        self.query(sql!(
            sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB $1 ORDER BY rowid DESC";
            postgres: "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = $1 ORDER BY tablename"
        ))
        .bind(place)
        .scalars()
        .await
    }

    /// Makes the role the owner of its schema and tables: after a restore from a dump they may belong to another
    /// role.
    async fn adopt_tables(&mut self, scope: &Scope) -> Result<()> {
        let strangers: Vec<String> = self
            .query(sql!(
                sqlite: "SELECT name FROM sqlite_schema WHERE name = $1 AND name <> $2";
                postgres: "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = $1 AND tableowner <> $2"
            ))
            .bind(scope.schema.clone())
            .bind(scope.role.clone())
            .scalars()
            .await?;
        self.define(format!("ALTER SCHEMA \"{}\" OWNER TO \"{}\"", scope.schema, scope.role)).await?;
        for table in strangers {
            self.define(format!("ALTER TABLE \"{}\".\"{table}\" OWNER TO \"{}\"", scope.schema, scope.role)).await?;
        }
        Ok(())
    }

    /// PostgreSQL only, as [`Tx::has_role`] and [`Tx::adopt_tables`]: their SQLite texts exist so that tests can
    /// prepare them.
    async fn lock_namespaces(&mut self) -> Result<()> {
        self.query(sql!(sqlite: "SELECT $1"; postgres: "SELECT pg_advisory_xact_lock($1)"))
            .bind(LOCK)
            .execute()
            .await?;
        Ok(())
    }

    async fn has_role(&mut self, role: &str) -> Result<bool> {
        let found: Option<(i64,)> = self
            .query(
                sql!(sqlite: "SELECT 1 WHERE $1 = ''"; postgres: "SELECT 1::BIGINT FROM pg_roles WHERE rolname = $1"),
            )
            .bind(role.to_owned())
            .optional()
            .await?;
        Ok(found.is_some())
    }

    /// Runs SQL that contains only names generated by the server.
    async fn define(&mut self, text: String) -> Result<()> {
        self.run_batch(&text).await
    }
}

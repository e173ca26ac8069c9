//! The place of a plugin's tables: a prefix on SQLite, a schema and a role on PostgreSQL.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::{Failed, Limits, Rows, Scope, bind};
use crate::crypto;
use crate::sql;
use crate::store::db::{Inner, Pools};
use crate::store::{Db, Engine, Error, Executor, Result, Tx};

/// The views of `core_v1`. `statuses_private` is `statuses` for those that were granted `statuses:private`.
pub const VIEWS: &[&str] = &[
    "account_domain_blocks",
    "accounts",
    "blocks",
    "bookmarks",
    "custom_emojis",
    "favourites",
    "follows",
    "list_accounts",
    "lists",
    "mentions",
    "mutes",
    "status_tags",
    "statuses",
    "statuses_private",
    "tags",
];

/// The tables of which a view is made.
pub(super) fn bases(view: &str) -> &[&str] {
    match view {
        "accounts" => &["accounts", "users"],
        "status_tags" => &["status_tags", "tags"],
        "statuses_private" => &["statuses"],
        other => VIEWS.iter().find(|known| **known == other).map_or(&[], std::slice::from_ref),
    }
}

/// Whoever changes roles and schemas of plugins holds this lock of the database until the end of the transaction.
const LOCK: i64 = 0x526f_6f6b_6572_7931;

impl Scope {
    /// The name-space of the plugin `name`, which may read `views`. Makes nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(db: impl Executor, name: &str, views: BTreeSet<String>) -> Result<Self> {
        let role = match db.engine() {
            Engine::Sqlite => String::new(),
            Engine::Postgres => {
                let database: String =
                    db.query(sql!(sqlite: "SELECT ''"; postgres: "SELECT current_database()::TEXT")).scalar().await?;
                // Roles belong to the cluster, plugins to a database.
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

    /// How the engine's texts name a table of it, which [`Tx::tables_of`] gave.
    fn place(&self, engine: Engine, table: &str) -> String {
        match engine {
            Engine::Sqlite => format!("\"{table}\""),
            Engine::Postgres => format!("\"{}\".\"{table}\"", self.schema),
        }
    }
}

impl Db {
    /// Every row of a table that [`Tx::tables_of`] gave, one at a time, on a connection of its own.
    pub fn rows_of<'a>(&'a self, scope: &Scope, table: &str) -> BoxStream<'a, Result<Rows>> {
        const WHOLE: Limits = Limits { time: Duration::MAX, rows: usize::MAX, bytes: usize::MAX };
        let text = format!("SELECT * FROM {}", scope.place(self.engine(), table));
        let query = sqlx::AssertSqlSafe(text);
        let unfit = |error: Failed| Error::Sql(sqlx::Error::Decode(error.into()));
        match &self.pools {
            Pools::Sqlite { read, .. } => sqlx::query(query)
                .persistent(false)
                .fetch(read)
                .map(move |row| {
                    let mut rows = Rows::default();
                    bind::take_sqlite(&row?, &mut rows, &WHOLE).map_err(unfit)?;
                    Ok(rows)
                })
                .boxed(),
            Pools::Postgres(pool) => sqlx::query(query)
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
    /// How many rows a table has that [`Tx::tables_of`] gave.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count_of(&mut self, scope: &Scope, table: &str) -> Result<i64> {
        let text = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {}", scope.place(self.engine(), table)));
        Ok(match &mut self.inner {
            Inner::Sqlite(tx, _) => sqlx::query_scalar(text).fetch_one(&mut **tx).await?,
            Inner::Postgres(tx) => sqlx::query_scalar(text).fetch_one(&mut **tx).await?,
        })
    }

    /// Makes what `scope` stands for, if it is not there, and grants it what it may read. On SQLite there is nothing to make.
    ///
    /// # Errors
    /// [`Error::Sql`]; of PostgreSQL's code 42501 when this server's own role may not make roles.
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

    /// Removes everything of a plugin's name-space.
    ///
    /// # Errors
    /// When the database does.
    pub async fn drop_namespace(&mut self, scope: &Scope) -> Result<()> {
        match self.engine() {
            Engine::Sqlite => {
                for table in self.tables_of(scope).await? {
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

    /// The tables of a plugin, as the engine calls them: with the prefix on SQLite, bare on PostgreSQL.
    ///
    /// # Errors
    /// When the database does.
    pub async fn tables_of(&mut self, scope: &Scope) -> Result<Vec<String>> {
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

    /// A database that was restored from a dump may have given the tables to another role.
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

    /// Runs a text made of names of the host's own.
    async fn define(&mut self, text: String) -> Result<()> {
        let text = sqlx::AssertSqlSafe(text);
        match &mut self.inner {
            Inner::Sqlite(tx, _) => sqlx::raw_sql(text).execute(&mut **tx).await.map(drop).map_err(Error::from),
            Inner::Postgres(tx) => sqlx::raw_sql(text).execute(&mut **tx).await.map(drop).map_err(Error::from),
        }
    }
}

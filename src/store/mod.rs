//! Every SQL statement of the server, one file per aggregate, over one small seam for two engines.
//!
//! Reached from `service`, `entity` and `jobs`. Knows neither rules nor HTTP. Reading takes `&Db`,
//! changing takes `&mut Tx`: nothing is written outside a transaction.

pub mod account;
pub mod account_search;
pub mod application;
pub mod cleaning;
pub mod code;
pub mod confined;
pub mod db;
pub mod emoji;
pub mod favourite;
pub mod featured_tag;
pub mod feed;
pub mod follow;
pub mod instance;
pub mod job;
pub mod link;
pub mod list;
pub mod marker;
pub mod media;
pub mod migrate;
pub mod notification;
pub mod oauth;
pub mod plugin;
pub mod plugin_event;
pub mod plugin_feed;
pub mod plugin_kv;
pub mod plugin_schema;
pub mod plugin_setting;
pub mod profile;
pub mod publish;
pub mod query;
pub mod record;
pub mod relationship;
pub mod removal;
pub mod role;
pub mod session;
pub mod settings;
pub mod sql;
pub mod status;
pub mod tag;
pub mod timeline;
pub mod user;

pub use db::{Db, Engine, Tx};
pub use query::Executor;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The driver's or the database's own complaint.
    #[error("database: {0}")]
    Sql(#[from] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("migration: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The configured URL is not one of SQLite or PostgreSQL.
    #[error("database url: {0}")]
    Url(String),
}

impl Error {
    /// True when a unique index or primary key refused the row.
    #[must_use]
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    /// True when PostgreSQL does not let this server's role do that.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42501"))
    }

    /// True when a row that was referred to is not there (any more).
    #[must_use]
    pub fn is_foreign_key_violation(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::Database(error)) if error.is_foreign_key_violation())
    }
}

/// What a statement gives, or why it failed.
pub type Result<T> = std::result::Result<T, Error>;

//! `rookery db`: applies pending schema migrations. Also whether there is a database at all, which other commands do not
//! make.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;

use config::Config;
use config::Engine;
use context::cx::db_options;
use database::Db;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Apply pending migrations; `serve` does so too
    Migrate,
    /// Copy the SQLite database to a new file while the server runs, as a backup; use `pg_dump` for PostgreSQL
    Snapshot {
        /// The new file
        file: PathBuf,
    },
}

#[derive(Serialize)]
struct Migrated {
    applied: Vec<i64>,
}

#[derive(Serialize)]
struct Copied {
    file: String,
    bytes: u64,
}

pub(super) async fn run(config: &Config, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Snapshot { file } => {
            let bytes = database::snapshot(config.database.url.expose(), &file).await?;
            let copied = Copied { file: file.display().to_string(), bytes };
            output.respond(&copied, || format!("The database is in {} ({bytes} bytes).", copied.file))
        }
        Command::Migrate => {
            let db = Db::open(&db_options(config)).await?;
            // A database without any migration has no migrations table yet.
            let applied = database::migrate::pending(&db).await.unwrap_or_else(|_| database::migrate::all());
            database::migrate::run(&db).await?;
            db.close().await;
            let migrated = Migrated { applied };
            output.respond(&migrated, || match migrated.applied.len() {
                0 => "The schema is up to date.".to_owned(),
                count => format!("Ran {count} migrations; the schema is up to date."),
            })
        }
    }
}

/// Checks that there is a database: a command that ran in the wrong folder, or with another configuration, would make one.
///
/// # Errors
/// When there is none, with where it was looked for.
pub(super) async fn require(config: &Config) -> Result<(), Failure> {
    let url = &config.database.url;
    let is_there = match database::missing_file(url.expose()) {
        Some(_) => false,
        None if url.engine() == Engine::Sqlite => true,
        None => {
            let db = Db::open(&db_options(config)).await?;
            let known = database::migrate::pending(&db).await;
            db.close().await;
            matches!(known, Ok(_) | Err(database::Error::Unreleased))
        }
    };
    match is_there {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "there is no database at {url}: name the configuration of the server with --config FILE, or its folder with \
             ROOKERY_STORAGE_DATA_DIR. `rookery serve`, `rookery db migrate` and `rookery user create --new` make one"
        ))),
    }
}

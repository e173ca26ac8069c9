//! `rookery db migrate`: applies pending schema migrations.

use clap::Subcommand;
use serde::Serialize;

use config::Config;
use context::cx::db_options;
use database::Db;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Apply pending migrations; `serve` does so too
    Migrate,
}

#[derive(Serialize)]
struct Migrated {
    applied: Vec<i64>,
}

pub(super) async fn run(config: &Config, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Migrate => {
            let db = Db::open(&db_options(config)).await?;
            // A database without any migration has no migrations table yet.
            let applied = database::migrate::pending(&db).await.unwrap_or_else(|_| database::migrate::all());
            database::migrate::run(&db).await?;
            db.close().await;
            let migrated = Migrated { applied };
            output.answer(&migrated, || match migrated.applied.len() {
                0 => "The schema is up to date.".to_owned(),
                count => format!("Ran {count} migrations; the schema is up to date."),
            })
        }
    }
}

//! `rookery db migrate`.

use clap::Subcommand;
use serde::Serialize;

use super::output::{Failure, Output};
use crate::app::db_options;
use config::Config;
use store::Db;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Bring the schema up to date; `serve` does so too
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
            // A database that has never seen a migration has no list of them.
            let applied = store::migrate::pending(&db).await.unwrap_or_else(|_| store::migrate::all());
            store::migrate::run(&db).await?;
            db.close().await;
            let migrated = Migrated { applied };
            output.answer(&migrated, || match migrated.applied.len() {
                0 => "The schema is up to date.".to_owned(),
                count => format!("Ran {count} migrations; the schema is up to date."),
            })
        }
    }
}

//! Commands for plugin authors: `rookery plugin new`, `build`, `check`, `test`, `dev`, `bench`, `keygen`,
//! `pack`, `sign`, `index`, `diff` and `doctor`.
//!
//! Nothing here touches the configured server: a plugin runs on a throw-away server, which is the real server code on a
//! database in a temporary folder.

mod bench;
mod check;
mod compile;
mod dashboard;
mod dev;
mod diff;
mod doctor;
mod index;
mod new;
mod pack;
mod project;
mod routes;
mod rows;
mod rust;
mod sign;
mod staleness;
mod strip;
mod test_file;
mod test_runner;
mod test_server;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use tokio::runtime::Builder;

use compile::Purpose;
use project::Project;
use terminal::{Failure, Output};

/// The commands for plugin authors.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a plugin in a new folder
    New {
        /// Name of the plugin and its folder: `[a-z][a-z0-9_]{1,30}`
        name: String,
        /// Programming language: rust, c, go, python or typescript
        #[arg(long, default_value = "rust")]
        lang: String,
    },
    /// Build the component, as `check`, `test` and `dev` do
    Build {
        /// Folder that contains plugin.toml
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Optimise it, as `pack` and `bench` do
        #[arg(long)]
        release: bool,
    },
    /// Check the plugin as a server does before loading it: manifest, contract, permissions, SQL, self-test
    Check {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Run the tests listed in plugin.toml, each case on its own server
    Test {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Run only cases whose names contain this
        #[arg(long)]
        only: Option<String>,
    },
    /// Serve the plugin on a throw-away server, and reload it when its files change
    Dev {
        #[arg(default_value = ".")]
        folder: PathBuf,
        #[arg(long, default_value_t = 3939)]
        port: u16,
    },
    /// Benchmark the requests of the tests
    Bench {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Repetitions of each request
        #[arg(long, default_value_t = 200)]
        times: u32,
    },
    /// Make a key pair to sign packages with: NAME.key and NAME.pub
    Keygen {
        /// Path of the files without their endings
        #[arg(default_value = "minisign")]
        name: PathBuf,
    },
    /// Pack the plugin into one file for admins to install, NAME-VERSION.plugin, and sign it
    Pack {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// File of the secret key to sign with [default: ROOKERY_PLUGIN_KEY]
        #[arg(long)]
        key: Option<PathBuf>,
    },
    /// Sign packages that were packed before: FILE.minisig
    Sign {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// File of the secret key [default: ROOKERY_PLUGIN_KEY]
        #[arg(long)]
        key: Option<PathBuf>,
    },
    /// Write the index of a folder of packages, for any web server to serve: index.json, and its signature
    Index {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Sign it with the secret key in this file; ROOKERY_PLUGIN_KEY is another way to name it
        #[arg(long)]
        key: Option<PathBuf>,
    },
    /// Compare two packages (folders or files): permissions, routes, hooks, tables
    Diff { old: PathBuf, new: PathBuf },
    /// Check the tools that building a plugin needs, and print how to install missing ones
    Doctor {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

/// Runs a command; commands that need a throw-away server run on a Tokio runtime.
pub fn run(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::New { name, lang } => new::run(&name, &lang, output),
        Command::Build { folder, release } => {
            let purpose = if release { Purpose::Release } else { Purpose::Trial };
            compile::run(&Project::open_sources(&folder)?, purpose, output)
        }
        Command::Keygen { name } => sign::generate(&name, output),
        Command::Sign { files, key } => sign::run(&files, key.as_deref(), output),
        Command::Index { folder, key } => index::run(&folder, key.as_deref(), output),
        Command::Diff { old, new } => diff::run(&old, &new, output),
        Command::Doctor { folder } => doctor::run(&folder, output),
        Command::Check { .. }
        | Command::Test { .. }
        | Command::Dev { .. }
        | Command::Bench { .. }
        | Command::Pack { .. } => {
            let runtime = Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?;
            runtime.block_on(Box::pin(serve(command, output)))
        }
    }
}

/// The project in `folder`, with a component that is not older than its sources.
fn built(folder: &Path, least: Purpose, output: Output) -> Result<Project, Failure> {
    let project = Project::open_sources(folder)?;
    staleness::ensure(&project, least, output)?;
    Ok(project)
}

async fn serve(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Check { folder } => check::run(&built(&folder, Purpose::Trial, output)?, output).await,
        Command::Test { folder, only } => {
            test_file::run(&built(&folder, Purpose::Trial, output)?, only.as_deref(), output).await
        }
        Command::Dev { folder, port } => dev::run(&folder, port, output).await,
        Command::Pack { folder, key } => {
            pack::run(&built(&folder, Purpose::Release, output)?, key.as_deref(), output).await
        }
        Command::Bench { folder, times } => bench::run(&built(&folder, Purpose::Release, output)?, times, output).await,
        Command::New { .. }
        | Command::Build { .. }
        | Command::Keygen { .. }
        | Command::Sign { .. }
        | Command::Index { .. }
        | Command::Diff { .. }
        | Command::Doctor { .. } => unreachable!("done without a runtime"),
    }
}

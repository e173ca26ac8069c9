//! `rookery plugin new`, `build`, `check`, `test`, `dev`, `bench`, `pack`, `diff` and `doctor`: for whoever writes a plugin.
//!
//! Nothing here touches the configured server: a plugin runs in a throw-away one, the real server on a database of its own
//! in a temporary folder.

mod bench;
mod check;
mod compile;
mod dev;
mod diff;
mod doctor;
mod new;
mod pack;
mod play;
mod project;
mod rust;
mod stage;
mod suite;

use std::path::PathBuf;

use clap::Subcommand;
use tokio::runtime::Builder;

use super::output::{Failure, Output};
use project::Project;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Begin a plugin in a new folder
    New {
        /// `[a-z][a-z0-9_]{1,30}`; also the folder's name
        name: String,
        /// The language it is written in: rust, c, go, python or typescript
        #[arg(long, default_value = "rust")]
        lang: String,
    },
    /// Build the component
    Build {
        /// The folder of plugin.toml
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Try the plugin as a server does before it serves: manifest, contract, permissions, SQL, self-test
    Check {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Run the tests that plugin.toml names, each on a server of its own
    Test {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Only those whose names contain this
        #[arg(long)]
        only: Option<String>,
    },
    /// Serve the plugin on a throw-away server, and build and load it again whenever its files change
    Dev {
        #[arg(default_value = ".")]
        folder: PathBuf,
        #[arg(long, default_value_t = 3939)]
        port: u16,
    },
    /// Send the requests of the tests again and again, and print what they cost
    Bench {
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// How often each request is sent
        #[arg(long, default_value_t = 200)]
        times: u32,
    },
    /// Write one file that a server's admin installs: NAME-VERSION.plugin
    Pack {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Print how two packages (folders or files) differ: permissions, routes, hooks, tables
    Diff { old: PathBuf, new: PathBuf },
    /// Look at what building a plugin needs, and say what to run for each missing piece
    Doctor {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

/// Does what needs no server at all, or runs the rest on a runtime.
pub(super) fn run(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::New { name, lang } => new::run(&name, &lang, output),
        Command::Build { folder } => compile::run(&Project::open(&folder)?, output),
        Command::Pack { folder } => pack::run(&Project::open(&folder)?, output),
        Command::Diff { old, new } => diff::run(&old, &new, output),
        Command::Doctor { folder } => doctor::run(&folder, output),
        Command::Check { .. } | Command::Test { .. } | Command::Dev { .. } | Command::Bench { .. } => {
            let runtime = Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?;
            runtime.block_on(Box::pin(serve(command, output)))
        }
    }
}

async fn serve(command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Check { folder } => check::run(&Project::open(&folder)?, output).await,
        Command::Test { folder, only } => suite::run(&Project::open(&folder)?, only.as_deref(), output).await,
        Command::Dev { folder, port } => dev::run(&folder, port, output).await,
        Command::Bench { folder, times } => bench::run(&Project::open(&folder)?, times, output).await,
        Command::New { .. }
        | Command::Build { .. }
        | Command::Pack { .. }
        | Command::Diff { .. }
        | Command::Doctor { .. } => unreachable!("done without a runtime"),
    }
}

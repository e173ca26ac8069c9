//! The command line: `rookery serve`, and what an admin does beside it.
//!
//! Every command works on the database itself, so it works while the server runs and while it does not; the server
//! notices within a second. One clear sentence and exit code 1 say that something failed, 2 that it was asked wrongly.
//! With `--json` a machine reads the answer.

mod config;
mod create_users;
mod database;
mod doctor;
mod emoji;
mod output;
mod plugin;
mod plugin_author;
mod rule;
mod settings;
mod user;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::runtime::Builder;

use crate::app::App;
use crate::logging;
use crate::plugins::life;
use crate::serve;
use ::config::{Config, executable, from_process};
use model::clock::Clock;
use output::{Failure, Output};

/// A federated social server.
#[derive(Debug, Parser)]
#[command(name = "rookery", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    /// The configuration file [default: ROOKERY_CONFIG, else rookery.toml if it is there]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve,
    /// Check and print the configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Print and change what an admin decides while the server runs
    #[command(subcommand)]
    Settings(settings::Command),
    /// What people agree to when they sign up
    #[command(subcommand)]
    Rule(rule::Command),
    /// The people of this server
    #[command(subcommand)]
    User(user::Command),
    /// This server's own emojis
    #[command(subcommand)]
    Emoji(emoji::Command),
    /// What runs beyond the core
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// The database
    #[command(subcommand)]
    Db(database::Command),
    /// Look at everything that a server needs, and say what is wrong
    Doctor,
}

/// Reads the arguments and does what they say.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    match run(arguments, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

fn run(arguments: Arguments, output: Output) -> Result<(), Failure> {
    if let Command::Plugin(plugin::Command::Author(command)) = arguments.command {
        // Why a plugin is not loaded is what they answer.
        logging::start_quiet(Some("rookery::plugins::life"));
        return plugin_author::run(command, output);
    }
    let config = from_process(arguments.config.as_deref())?;
    match arguments.command {
        Command::Serve => {
            logging::start(&config.log);
            let runtime = Builder::new_multi_thread().enable_all().thread_name("rookery").build();
            return Ok(runtime.map_err(Failure::new)?.block_on(serve::run(config))?);
        }
        Command::Config(command) => return config::run(&config, &command, output),
        Command::Settings(_)
        | Command::Rule(_)
        | Command::User(_)
        | Command::Emoji(_)
        | Command::Plugin(_)
        | Command::Db(_)
        | Command::Doctor => {}
    }
    logging::start_quiet(None);
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::new)?.block_on(Box::pin(administer(config, arguments.command, output)))
}

/// What needs the database.
async fn administer(config: Config, command: Command, output: Output) -> Result<(), Failure> {
    let command = match command {
        Command::Db(command) => return database::run(&config, command, output).await,
        Command::Doctor => return doctor::run(&config, output).await,
        other => other,
    };
    let app = App::start(config, Clock::system(), &executable().map_err(Failure::new)?).await?;
    life::leave_to_server(&app).await?;
    let done = match command {
        Command::Settings(command) => settings::run(&app, command, output).await,
        Command::Rule(command) => rule::run(&app, command, output).await,
        Command::User(command) => Box::pin(user::run(&app, command, output)).await,
        Command::Emoji(command) => Box::pin(emoji::run(&app, command, output)).await,
        Command::Plugin(command) => Box::pin(plugin::run(&app, command, output)).await,
        Command::Serve | Command::Config(_) | Command::Db(_) | Command::Doctor => unreachable!("done without the app"),
    };
    app.db.close().await;
    done
}

//! The command line: `rookery serve` and the administration commands.
//!
//! Commands work on the database directly, so they do not need a running server. A server on this machine receives a
//! change over its socket, and has applied it when the command returns; servers on other machines notice it within a
//! second. `rookery plugin` leaves the change itself to it. A failure is one sentence on standard error with exit code
//! 1, wrong usage exit code 2; `--json` prints machine-readable output. Rules live in `service`.

mod account;
mod account_refresh;
mod announcement;
mod appeal;
mod audit;
mod card;
mod config;
mod create_users;
mod database;
mod doctor;
mod domain;
mod domain_import;
mod domain_purge;
mod domain_subscription;
mod email_block;
mod emoji;
mod federation;
mod ip_block;
mod media_files;
#[cfg(feature = "plugins")]
mod plugin;
mod push;
mod relay;
mod report;
mod role;
mod rule;
mod search;
mod settings;
mod socket;
mod status;
mod status_prune;
mod terms;
mod transfer;
mod trend;
mod user;
mod username_block;
mod warning_preset;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use rustix::fs::Mode;
use tokio::runtime::Builder;

use ::config::{Config, executable, from_process};
use model::clock::Clock;
use rookery_server::telemetry::Traces;
use rookery_server::{logging, platform, serve};
use terminal::{Failure, Output};

/// A federated social server.
#[derive(Debug, Parser)]
#[command(name = "rookery", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    /// Configuration file [default: ROOKERY_CONFIG, else rookery.toml if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve,
    /// Check or print the configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Print or change the settings that apply without a restart
    #[command(subcommand)]
    Settings(settings::Command),
    /// Manage the server rules that people accept at sign-up
    #[command(subcommand)]
    Rule(rule::Command),
    /// Manage the terms of service
    #[command(subcommand)]
    Terms(terms::Command),
    /// Block domains of other servers, and allow domains in limited federation
    #[command(subcommand)]
    Domain(domain::Command),
    /// Block networks: their clients are refused, or cannot sign up freely
    #[command(subcommand)]
    IpBlock(ip_block::Command),
    /// Block e-mail addresses and their domains at sign-up
    #[command(subcommand)]
    EmailBlock(email_block::Command),
    /// Block user names at sign-up, with names that look like them
    #[command(subcommand)]
    UsernameBlock(username_block::Command),
    /// Look things up at other servers, and look after what is owed to them
    #[command(subcommand)]
    Federation(federation::Command),
    /// Manage relays, which pass on public statuses between servers
    #[command(subcommand)]
    Relay(relay::Command),
    /// Manage announcements to everyone
    #[command(subcommand)]
    Announcement(announcement::Command),
    /// Review previews of links, and fetch them again
    #[command(subcommand)]
    Card(card::Command),
    /// Read and resolve reports of accounts
    #[command(subcommand)]
    Report(report::Command),
    /// Show, delete or mark single posts, and remove old ones of other servers
    #[command(subcommand)]
    Status(status::Command),
    /// Decide about appeals against strikes
    #[command(subcommand)]
    Appeal(appeal::Command),
    /// Manage the preset texts of warnings
    #[command(subcommand)]
    WarningPreset(warning_preset::Command),
    /// List trends, and review what may be shown
    #[command(subcommand)]
    Trend(trend::Command),
    /// Manage the key of web push
    #[command(subcommand)]
    Push(push::Command),
    /// Manage the full-text index of statuses
    #[command(subcommand)]
    Search(search::Command),
    /// List the changes that the staff and operators made, newest first
    Audit(audit::Filter),
    /// Moderate accounts
    #[command(subcommand)]
    Account(account::Command),
    /// Manage roles and their permissions
    #[command(subcommand)]
    Role(role::Command),
    /// Manage local accounts
    #[command(subcommand)]
    User(user::Command),
    /// Manage custom emojis
    #[command(subcommand)]
    Emoji(emoji::Command),
    /// Look after the stored files
    #[command(subcommand)]
    Media(media_files::Command),
    /// Manage and develop plugins
    #[cfg(feature = "plugins")]
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Manage the database
    #[command(subcommand)]
    Db(database::Command),
    /// Check everything that a server needs, and print faults with remedies
    Doctor,
    /// Print a script that completes commands in a shell: `source <(rookery completion bash)`
    Completion { shell: Shell },
}

impl Command {
    /// True for a command that a running server must apply, also after a failure.
    fn changes(&self) -> bool {
        match self {
            Self::Settings(command) => command.changes(),
            Self::Rule(command) => command.changes(),
            Self::Terms(command) => command.changes(),
            Self::Domain(command) => command.changes(),
            Self::IpBlock(command) => command.changes(),
            Self::Federation(command) => command.changes(),
            Self::Relay(command) => command.changes(),
            Self::Account(command) => command.changes(),
            Self::Role(command) => command.changes(),
            Self::Appeal(command) => command.changes(),
            Self::User(command) => command.changes(),
            Self::Announcement(command) => command.changes(),
            Self::Status(command) => command.changes(),
            Self::Trend(command) => command.changes(),
            Self::Emoji(command) => !matches!(command, emoji::Command::List),
            Self::Media(command) => command.changes(),
            // The server that runs here makes the change itself.
            #[cfg(feature = "plugins")]
            Self::Plugin(_) => false,
            Self::Audit(_) | Self::EmailBlock(_) | Self::UsernameBlock(_) | Self::WarningPreset(_) => false,
            Self::Card(_) | Self::Push(_) | Self::Report(_) | Self::Search(_) | Self::Serve => false,
            Self::Completion { .. } | Self::Config(_) | Self::Db(_) | Self::Doctor => false,
        }
    }
}

/// How long a server that has stopped waits for threads that do not notice.
const LEAVE: Duration = Duration::from_millis(200);

/// Parses the arguments and runs the command.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    match run(arguments, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

fn run(arguments: Arguments, output: Output) -> Result<(), Failure> {
    if let Command::Completion { shell } = arguments.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "rookery", &mut script);
        output.say(&String::from_utf8_lossy(&script));
        return Ok(());
    }
    #[cfg(feature = "author")]
    if let Command::Plugin(plugin::Command::Author(command)) = arguments.command {
        // These commands print themselves why a plugin was not loaded.
        logging::start_quiet(Some("rookery_plugins::life"));
        return rookery_author::run(command, output);
    }
    // The server's data is private: new files are 0600, folders 0700.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let config = from_process(arguments.config.as_deref())?;
    match arguments.command {
        Command::Serve => {
            let runtime = Builder::new_multi_thread().enable_all().thread_name("rookery").build();
            let runtime = runtime.map_err(Failure::new)?;
            let traces = Traces::start(&config.telemetry, runtime.handle()).map_err(Failure::new)?;
            logging::start(&config.log, traces.as_ref());
            let served = runtime.block_on(serve::run(config));
            if let Some(traces) = traces {
                traces.end();
            }
            // A plugin may still be compiled, or a schema be changed: neither is waited for, and both begin again.
            runtime.shutdown_timeout(LEAVE);
            Ok(served?)
        }
        Command::Config(command) => config::run(&config, &command, output),
        command => {
            logging::start_quiet(None);
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.map_err(Failure::new)?.block_on(Box::pin(administer(config, command, output)))
        }
    }
}

/// Runs a command that needs the database.
async fn administer(config: Config, command: Command, output: Output) -> Result<(), Failure> {
    let command = match command {
        Command::Db(command) => return database::run(&config, command, output).await,
        Command::Doctor => return doctor::run(&config, output).await,
        other => other,
    };
    if !matches!(&command, Command::User(command) if command.makes_database()) {
        database::require(&config).await?;
    }
    let cx = rookery_server::open(config, Clock::system(), &executable().map_err(Failure::new)?).await?;
    platform::leave_to_server(&cx).await?;
    let changes = command.changes();
    let done = match command {
        Command::Settings(command) => settings::run(&cx, command, output).await,
        Command::Rule(command) => rule::run(&cx, command, output).await,
        Command::Terms(command) => terms::run(&cx, command, output).await,
        Command::Domain(command) => Box::pin(domain::run(&cx, command, output)).await,
        Command::IpBlock(command) => Box::pin(ip_block::run(&cx, command, output)).await,
        Command::EmailBlock(command) => Box::pin(email_block::run(&cx, command, output)).await,
        Command::UsernameBlock(command) => Box::pin(username_block::run(&cx, command, output)).await,
        Command::Federation(command) => Box::pin(federation::run(&cx, command, output)).await,
        Command::Relay(command) => Box::pin(relay::run(&cx, command, output)).await,
        Command::Announcement(command) => Box::pin(announcement::run(&cx, command, output)).await,
        Command::Card(command) => card::run(&cx, command, output).await,
        Command::Report(command) => Box::pin(report::run(&cx, command, output)).await,
        Command::Status(command) => Box::pin(status::run(&cx, command, output)).await,
        Command::Appeal(command) => Box::pin(appeal::run(&cx, command, output)).await,
        Command::WarningPreset(command) => Box::pin(warning_preset::run(&cx, command, output)).await,
        Command::Trend(command) => trend::run(&cx, command, output).await,
        Command::Push(command) => push::run(&cx, command, output).await,
        Command::Search(command) => search::run(&cx, command, output).await,
        Command::Account(command) => Box::pin(account::run(&cx, command, output)).await,
        Command::Audit(filter) => audit::run(&cx, filter, output).await,
        Command::Role(command) => Box::pin(role::run(&cx, command, output)).await,
        Command::User(command) => Box::pin(user::run(&cx, command, output)).await,
        Command::Emoji(command) => Box::pin(emoji::run(&cx, command, output)).await,
        Command::Media(command) => media_files::run(&cx, command, output).await,
        #[cfg(feature = "plugins")]
        Command::Plugin(command) => match plugins::Cx::find(&cx) {
            Some(cx) => Box::pin(plugin::run(&cx, command, output)).await,
            None => Err(Failure::new("the plugin platform is off: set `plugins.enabled = true`")),
        },
        Command::Completion { .. } | Command::Serve | Command::Config(_) | Command::Db(_) | Command::Doctor => {
            unreachable!("done without a server")
        }
    };
    cx.close().await;
    if changes {
        // After a failure too: of many emojis or accounts some may have been made.
        socket::refresh(&cx, output).await;
    }
    done
}

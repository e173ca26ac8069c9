//! `rookery plugin`: the plugins of this server.
//!
//! A running server is asked over its socket and says at once, verbatim, what became of a change. Without one the change is
//! written to the database, after the package was tried as a server would, and the next start follows it.

mod socket;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::output::{Failure, Output};
use crate::app::App;
use crate::entity::plugin::{Detail, OrderRow, Plugin, Uninstalled};
use crate::plugins::{admin, life};

/// How often a server is asked for new lines.
const FOLLOW: Duration = Duration::from_millis(500);

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Author(super::plugin_author::Command),
    /// Print all plugins and where they stand
    List,
    /// Print everything about a plugin: routes, hooks, limits and their peaks, failures, history
    Inspect { name: String },
    /// Load a plugin, and grant what it asks for
    Enable { name: String },
    /// Unload a plugin; its tables stay
    Disable { name: String },
    /// Load what changed, and accept it
    Reload { name: String },
    /// Go back to the package that served before
    Rollback { name: String },
    /// Tell a plugin again of the events that it failed on and that were laid aside
    Retry { name: String },
    /// Grant what the newest package asks for
    Grant { name: String },
    /// Set limits over those of the manifest: `memory=16MiB`; `memory=` takes one back
    Limits { name: String, limits: Vec<String> },
    /// Change the configuration: `key=JSON`; `key=` puts one back to its default
    Config { name: String, members: Vec<String> },
    /// Set a secret to what stands in a file, or on standard input
    Secret {
        name: String,
        secret: String,
        /// Where the secret stands
        #[arg(long)]
        file: Option<PathBuf>,
        /// Forget it
        #[arg(long)]
        clear: bool,
    },
    /// Print what a plugin logged on the running server
    Logs {
        name: String,
        /// Go on with what it logs from now on
        #[arg(long, short)]
        follow: bool,
    },
    /// Print in which order plugins are asked: `status-filter`, `events`, `notification-filter`, `fanout`, `decorate` …
    Order { hook: String },
    /// Run a command of a plugin on the running server
    Run {
        name: String,
        command: String,
        /// What it is given, in JSON
        #[arg(default_value = "{}")]
        args: String,
    },
    /// Unload a plugin, and forget what was accepted, granted and configured; its tables stay
    Uninstall {
        name: String,
        /// Drop all that it keeps, too, once its rows are written to a file
        #[arg(long)]
        purge: bool,
    },
}

pub(super) async fn run(app: &App, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Author(_) => unreachable!("done without the app"),
        Command::List => list(app, output).await,
        Command::Inspect { name } => inspect(app, &name, output).await,
        Command::Enable { name } => change(app, &name, "enable", json!({}), output).await,
        Command::Disable { name } => change(app, &name, "disable", json!({}), output).await,
        Command::Reload { name } => change(app, &name, "reload", json!({}), output).await,
        Command::Rollback { name } => change(app, &name, "rollback", json!({}), output).await,
        Command::Retry { name } => retry(app, &name, output).await,
        Command::Grant { name } => change(app, &name, "grant", json!({}), output).await,
        Command::Limits { name, limits } => {
            let limits = pairs(&limits, |text| text.parse::<u32>().map_or_else(|_| text.into(), Value::from))?;
            change(app, &name, "limits", limits.into(), output).await
        }
        Command::Config { name, members } => {
            let members = pairs(&members, |text| serde_json::from_str(text).unwrap_or_else(|_| text.into()))?;
            change(app, &name, "config", members.into(), output).await
        }
        Command::Secret { name, secret, file, clear } => {
            let value = if clear { Value::Null } else { read_secret(file.as_deref())?.into() };
            change(app, &name, "secrets", json!({"name": secret, "value": value}), output).await
        }
        Command::Logs { name, follow } => logs(app, &name, follow, output).await,
        Command::Order { hook } => order(app, &hook, output).await,
        Command::Run { name, command, args } => command_of(app, &name, &command, &args, output).await,
        Command::Uninstall { name, purge } => uninstall(app, &name, purge, output).await,
    }
}

async fn list(app: &App, output: Output) -> Result<(), Failure> {
    let all = match socket::get(app, "/api/admin/plugins").await? {
        Some(answer) => answer,
        None => {
            let all = admin::list(app).await?;
            serde_json::to_value(all.iter().map(|known| Plugin::new(app, known)).collect::<Vec<_>>())
                .map_err(Failure::new)?
        }
    };
    output.answer(&all, || words::list(&all))
}

async fn inspect(app: &App, name: &str, output: Output) -> Result<(), Failure> {
    let detail = match socket::get(app, &format!("/api/admin/plugins/{name}")).await? {
        Some(answer) => answer,
        None => detail(app, name).await?,
    };
    output.answer(&detail, || words::detail(&detail))
}

async fn detail(app: &App, name: &str) -> Result<Value, Failure> {
    let known = admin::find(app, name).await?;
    let outbox = admin::outbox(app, known.plugin.id).await?;
    serde_json::to_value(Detail::new(app, &known, &outbox)).map_err(Failure::new)
}

/// Changes what is wanted, and says what became of it.
async fn change(app: &App, name: &str, what: &str, body: Value, output: Output) -> Result<(), Failure> {
    let path = format!("/api/admin/plugins/{name}/{what}");
    if let Some(detail) = socket::post(app, &path, &body).await? {
        return output.answer(&detail, || words::changed(&detail));
    }
    write(app, name, what, body).await?;
    if what != "disable" {
        life::check(app, name).await.map_err(Failure::new)?;
    }
    let detail = detail(app, name).await?;
    output.answer(&detail, || {
        format!("{}No server runs here: the next one that starts follows.\n", words::wanted(&detail))
    })
}

async fn write(app: &App, name: &str, what: &str, body: Value) -> Result<(), Failure> {
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let members = body.as_object().cloned().unwrap_or_default();
    match what {
        "enable" => admin::enable(app, name).await?,
        "disable" => admin::disable(app, name).await?,
        "reload" => admin::accept(app, name).await?,
        "rollback" => admin::rollback(app, name).await?,
        "grant" => admin::grant(app, name).await?,
        "limits" => admin::set_limits(app, name, members).await?,
        "config" => admin::configure(app, name, members).await?,
        "secrets" => admin::set_secret(app, name, &text("name").unwrap_or_default(), text("value")).await?,
        other => unreachable!("{other} is one of the commands above"),
    };
    Ok(())
}

async fn logs(app: &App, name: &str, follow: bool, output: Output) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let path = format!("/api/admin/plugins/{name}/logs?after={after}");
        let lines = socket::get(app, &path).await?.ok_or_else(no_server)?;
        for line in lines.as_array().into_iter().flatten() {
            output.answer(line, || words::log(line))?;
            after = line["number"].as_u64().unwrap_or(after);
        }
        if !follow {
            return Ok(());
        }
        tokio::time::sleep(FOLLOW).await;
    }
}

async fn order(app: &App, hook: &str, output: Output) -> Result<(), Failure> {
    let placed = admin::order(app, hook).await?;
    let rows: Vec<OrderRow> = placed.into_iter().map(OrderRow::from).collect();
    output.answer(&rows, || words::order(&rows))
}

async fn command_of(app: &App, name: &str, command: &str, args: &str, output: Output) -> Result<(), Failure> {
    let args: Value =
        serde_json::from_str(args).map_err(|error| Failure::usage(format!("the arguments are no JSON: {error}")))?;
    let path = format!("/api/admin/plugins/{name}/run");
    let answer = socket::post(app, &path, &json!({"command": command, "args": args})).await?.ok_or_else(no_server)?;
    output.answer(&answer, || format!("{answer:#}\n"))
}

async fn retry(app: &App, name: &str, output: Output) -> Result<(), Failure> {
    let events = admin::retry(app, name).await?;
    output.answer(&json!({"name": name, "events": events}), || format!("{name} is told of {events} events again."))
}

async fn uninstall(app: &App, name: &str, purge: bool, output: Output) -> Result<(), Failure> {
    let path = format!("/api/admin/plugins/{name}/uninstall");
    let answer = match socket::post(app, &path, &json!({"purge": purge})).await? {
        Some(answer) => answer,
        None => {
            let dump = admin::uninstall(app, name, purge).await?;
            serde_json::to_value(Uninstalled::new(name.to_owned(), purge, dump.as_deref())).map_err(Failure::new)?
        }
    };
    output.answer(&answer, || match answer["dump"].as_str() {
        Some(dump) => {
            format!("{name} is unloaded, and everything that it kept is gone; {dump} has what was in its tables.")
        }
        None => format!("{name} is unloaded and forgotten; its tables stay."),
    })
}

fn no_server() -> Failure {
    Failure::new("no server runs here that could be asked")
}

/// `key=value` each; an empty value is null.
fn pairs(texts: &[String], read: fn(&str) -> Value) -> Result<Map<String, Value>, Failure> {
    let pair = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| Failure::usage(format!("{text:?} is not key=value")))?;
        Ok((key.to_owned(), if value.is_empty() { Value::Null } else { read(value) }))
    };
    if texts.is_empty() {
        return Err(Failure::usage("say what to set, as key=value"));
    }
    texts.iter().map(pair).collect()
}

fn read_secret(file: Option<&std::path::Path>) -> Result<String, Failure> {
    let text = match file {
        Some(path) => {
            std::fs::read_to_string(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?
        }
        None => std::io::read_to_string(std::io::stdin()).map_err(Failure::new)?,
    };
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

//! `rookery plugin`: manages the plugins of this server.
//!
//! When a server runs here, commands go over its admin socket, so its answer is printed verbatim. Otherwise the desired
//! state is written to the database and the package is checked as a server would check it; the next server to start
//! applies it. Commands for plugin authors are in the crate `rookery_author`.

mod consent;
mod install;
mod words;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Subcommand;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::socket;
use model::Staff;
use plugins::Cx;
use plugins::admin::entity::{Detail, OrderRow, Plugin, Uninstalled};
use plugins::{admin, life};
use terminal::{Failure, Output};

/// How often `logs --follow` polls the server.
const FOLLOW: Duration = Duration::from_millis(500);

/// How often a plugin's command that goes on says how far it is.
const PROGRESS: Duration = Duration::from_secs(1);

/// Time after which a command prints the reason of its wait: a plugin is compiled before it serves.
const SLOW: Duration = Duration::from_secs(10);

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[cfg(feature = "author")]
    #[command(flatten)]
    Author(rookery_author::Command),
    /// List all plugins with their state
    List,
    /// Print the details of a plugin: routes, pages, hooks, limits and peak usage, failures, history
    Inspect { name: String },
    /// Install a plugin from a file, a URL, or an index; shows its key and permissions, and asks before it trusts them
    Install {
        /// A file or a URL that ends in .plugin; with --from, the plugin's name
        what: String,
        /// URL of an index: the newest package of the plugin that this server can load
        #[arg(long, value_name = "URL")]
        from: Option<String>,
        #[command(flatten)]
        terms: install::Arguments,
    },
    /// Upgrade a plugin from where it came, or from a file or URL; asks before it grants new permissions
    Upgrade {
        name: String,
        /// A file, or the URL of a package or an index
        from: Option<String>,
        #[command(flatten)]
        terms: install::Arguments,
    },
    /// Verify the signature of a package: a file, or the package of an installed plugin
    Verify {
        /// A file, or the plugin's name
        what: String,
        /// Public key to verify with: the key itself, or a file
        #[arg(long)]
        key: Option<String>,
    },
    /// Enable a plugin: shows its routes, pages, hooks and permissions, and asks before it grants them
    Enable {
        name: String,
        /// Grant its permissions without confirmation
        #[arg(long, short)]
        yes: bool,
    },
    /// Disable a plugin; its tables are kept
    Disable { name: String },
    /// Load the changed package, and accept it
    Reload { name: String },
    /// Roll back to the previous package
    Rollback { name: String },
    /// Deliver a plugin's dead letters again
    Retry { name: String },
    /// Grant the permissions that the newest package requests, or only the named ones: `core:read`
    Grant { name: String, permissions: Vec<String> },
    /// Revoke all permissions, or the named ones; a package that asks for one of them stops serving
    Revoke { name: String, permissions: Vec<String> },
    /// Override limits of the manifest: `memory=16MiB`; `memory=` removes an override
    Limits { name: String, limits: Vec<String> },
    /// Print the keys of the configuration, or change them: `key=JSON`; `key=` restores the default
    Config { name: String, members: Vec<String> },
    /// Set a secret from a file, or from standard input
    Secret {
        name: String,
        secret: String,
        /// File that contains the secret
        #[arg(long)]
        file: Option<PathBuf>,
        /// Delete the secret
        #[arg(long)]
        clear: bool,
    },
    /// Print a plugin's log on the running server
    Logs {
        name: String,
        /// Keep printing new lines
        #[arg(long, short)]
        follow: bool,
    },
    /// Print the order in which a hook calls plugins: `status-filter`, `events`, `notification-filter`, `decorate` …
    Order { hook: String },
    /// Run a plugin's command on the running server
    Run {
        name: String,
        command: String,
        /// Arguments of the command, as JSON
        #[arg(default_value = "{}")]
        args: String,
    },
    /// Remove a plugin with its grants and configuration; its tables, feeds and notifications are kept
    Uninstall {
        name: String,
        /// Also drop its tables, after exporting their rows to a file, and delete its feeds and notifications
        #[arg(long)]
        purge: bool,
    },
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        #[cfg(feature = "author")]
        Command::Author(_) => unreachable!("done without a server"),
        Command::List => list(cx, output).await,
        Command::Inspect { name } => inspect(cx, &name, output).await,
        Command::Install { what, from, terms } => install::run(cx, &what, from.as_deref(), &terms, output).await,
        Command::Upgrade { name, from, terms } => {
            Box::pin(install::upgrade(cx, &name, from.as_deref(), &terms, output)).await
        }
        Command::Verify { what, key } => install::verify(cx, &what, key.as_deref(), output).await,
        Command::Enable { name, yes } => {
            let agreed = consent::obtain(cx, &name, yes, output).await?;
            change(cx, &name, "enable", agreed, output).await
        }
        Command::Disable { name } => change(cx, &name, "disable", json!({}), output).await,
        Command::Reload { name } => change(cx, &name, "reload", json!({}), output).await,
        Command::Rollback { name } => change(cx, &name, "rollback", json!({}), output).await,
        Command::Retry { name } => retry(cx, &name, output).await,
        Command::Grant { name, permissions } => {
            change(cx, &name, "grant", json!({ "permissions": permissions }), output).await
        }
        Command::Revoke { name, permissions } => {
            change(cx, &name, "revoke", json!({ "permissions": permissions }), output).await
        }
        Command::Limits { name, limits } => {
            let limits = pairs(&limits, |text| text.parse::<u32>().map_or_else(|_| text.into(), Value::from))?;
            change(cx, &name, "limits", limits.into(), output).await
        }
        Command::Config { name, members } if members.is_empty() => {
            let keys = admin::config_keys(cx, &name).await?;
            output.respond(&keys, || words::config(&name, &keys))
        }
        Command::Config { name, members } => {
            let members = pairs(&members, |text| serde_json::from_str(text).unwrap_or_else(|_| text.into()))?;
            change(cx, &name, "config", members.into(), output).await
        }
        Command::Secret { name, secret, file, clear } => {
            let value = if clear { Value::Null } else { read_secret(file.as_deref())?.into() };
            change(cx, &name, "secrets", json!({"name": secret, "value": value}), output).await
        }
        Command::Logs { name, follow } => logs(cx, &name, follow, output).await,
        Command::Order { hook } => order(cx, &hook, output).await,
        Command::Run { name, command, args } => command_of(cx, &name, &command, &args, output).await,
        Command::Uninstall { name, purge } => uninstall(cx, &name, purge, output).await,
    }
}

async fn list(cx: &Cx, output: Output) -> Result<(), Failure> {
    let all = match socket::get(cx, "/api/admin/plugins").await? {
        Some(answer) => answer,
        None => {
            let all = admin::list(cx).await?;
            serde_json::to_value(all.iter().map(|known| Plugin::new(cx, known)).collect::<Vec<_>>())
                .map_err(Failure::new)?
        }
    };
    let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
    output.list(all, "There is no plugin.", words::row)
}

async fn inspect(cx: &Cx, name: &str, output: Output) -> Result<(), Failure> {
    let detail = looked_up(cx, name).await?;
    output.respond(&detail, || words::detail(&detail))
}

/// The details of a plugin, from the server that runs here or else from the database.
async fn looked_up(cx: &Cx, name: &str) -> Result<Value, Failure> {
    match socket::get(cx, &format!("/api/admin/plugins/{name}")).await? {
        Some(answer) => Ok(answer),
        None => detail(cx, name).await,
    }
}

async fn detail(cx: &Cx, name: &str) -> Result<Value, Failure> {
    let known = admin::find(cx, name).await?;
    let outbox = admin::outbox(cx, &known.plugin).await?;
    serde_json::to_value(Detail::new(cx, &known, &outbox)).map_err(Failure::new)
}

/// Changes the desired state of a plugin, and prints the result.
async fn change(cx: &Cx, name: &str, what: &str, body: Value, output: Output) -> Result<(), Failure> {
    let path = format!("/api/admin/plugins/{name}/{what}");
    if let Some(detail) = ask_to_load(cx, name, &path, &body, output).await? {
        return output.respond(&detail, || words::changed(&detail));
    }
    write(cx, name, what, body).await?;
    let partly = what == "grant" && !admin::find(cx, name).await?.missing.is_empty();
    if !matches!(what, "disable" | "revoke") && !partly {
        life::check(cx, name).await.map_err(Failure::new)?;
    }
    let detail = detail(cx, name).await?;
    output.respond(&detail, || {
        format!("{}No server runs here: the next one that starts follows.\n", words::desired(&detail))
    })
}

/// The server's answer once it loaded the plugin or could not; `None` when no server runs here.
async fn ask_to_load(cx: &Cx, name: &str, path: &str, body: &Value, output: Output) -> Result<Option<Value>, Failure> {
    let answer = socket::post(cx, path, body);
    tokio::pin!(answer);
    if let Ok(answer) = timeout(SLOW, &mut answer).await {
        return answer;
    }
    output.warn(&format!("the server is still loading {name}: this command waits for what becomes of it"));
    answer.await
}

async fn write(cx: &Cx, name: &str, what: &str, body: Value) -> Result<(), Failure> {
    let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| body.get(key).and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default();
    let members = body.as_object().cloned().unwrap_or_default();
    match what {
        "enable" => admin::enable_shown(cx, &Staff::operator(), name, text("digest").as_deref()).await?,
        "disable" => admin::disable(cx, &Staff::operator(), name).await?,
        "reload" => admin::accept(cx, &Staff::operator(), name).await?,
        "rollback" => admin::rollback(cx, &Staff::operator(), name).await?,
        "grant" => {
            admin::grant_some(cx, &Staff::operator(), name, &list("permissions"), text("digest").as_deref()).await?
        }
        "revoke" => admin::revoke(cx, &Staff::operator(), name, &list("permissions")).await?,
        "limits" => admin::set_limits(cx, &Staff::operator(), name, members).await?,
        "config" => admin::configure(cx, &Staff::operator(), name, members).await?,
        "secrets" => {
            admin::set_secret(cx, &Staff::operator(), name, &text("name").unwrap_or_default(), text("value")).await?
        }
        other => unreachable!("{other} is one of the commands above"),
    };
    Ok(())
}

async fn logs(cx: &Cx, name: &str, follow: bool, output: Output) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let path = format!("/api/admin/plugins/{name}/logs?after={after}");
        let lines = socket::get(cx, &path).await?.ok_or_else(no_server)?;
        if !follow {
            let lines = lines.as_array().map(Vec::as_slice).unwrap_or_default();
            return output.list(lines, &format!("{name} has written nothing."), words::log);
        }
        // What follows has no end: each line is JSON by itself.
        for line in lines.as_array().into_iter().flatten() {
            output.respond(line, || words::log(line))?;
            after = line["number"].as_u64().unwrap_or(after);
        }
        tokio::time::sleep(FOLLOW).await;
    }
}

async fn order(cx: &Cx, hook: &str, output: Output) -> Result<(), Failure> {
    let placed = admin::order(cx, hook).await?;
    let rows: Vec<OrderRow> = placed.into_iter().map(OrderRow::from).collect();
    output.list(&rows, "No plugin is asked there.", words::place)
}

async fn command_of(cx: &Cx, name: &str, command: &str, args: &str, output: Output) -> Result<(), Failure> {
    let args: Value =
        serde_json::from_str(args).map_err(|error| Failure::usage(format!("the arguments are no JSON: {error}")))?;
    let path = format!("/api/admin/plugins/{name}/run");
    let mut body = json!({"command": command, "args": args});
    let mut printed: Option<Instant> = None;
    loop {
        let mut answer = socket::post(cx, &path, &body).await?.ok_or_else(no_server)?;
        let Some(args) = admin::next_step(&mut answer) else {
            return output.respond(&answer, || format!("{answer:#}\n"));
        };
        if let Some(progress) =
            answer["progress"].as_str().filter(|_| printed.is_none_or(|at| at.elapsed() >= PROGRESS))
        {
            output.progress(progress);
            printed = Some(Instant::now());
        }
        body["args"] = args;
    }
}

async fn retry(cx: &Cx, name: &str, output: Output) -> Result<(), Failure> {
    let path = format!("/api/admin/plugins/{name}/retry");
    let events = match socket::post(cx, &path, &json!({})).await? {
        Some(answer) => answer["events"].as_u64().unwrap_or_default(),
        None => admin::retry(cx, &Staff::operator(), name).await?,
    };
    output.respond(&json!({"name": name, "events": events}), || format!("{name} receives {events} events again."))
}

async fn uninstall(cx: &Cx, name: &str, purge: bool, output: Output) -> Result<(), Failure> {
    let path = format!("/api/admin/plugins/{name}/uninstall");
    let answer = match socket::post(cx, &path, &json!({"purge": purge})).await? {
        Some(answer) => answer,
        None => {
            let dump = plugins::install::uninstall(cx, &Staff::operator(), name, purge).await?;
            serde_json::to_value(Uninstalled::new(name.to_owned(), purge, dump.as_deref())).map_err(Failure::new)?
        }
    };
    output.respond(&answer, || match answer["dump"].as_str() {
        Some(dump) => {
            format!(
                "{name} is unloaded and its data is deleted; {dump} has the rows of its tables. A job is deleting its feeds and \
                 notifications."
            )
        }
        None => format!(
            "{name} is unloaded and forgotten; its tables, feeds and notifications stay: \
             `rookery plugin uninstall {name} --purge` deletes them."
        ),
    })
}

fn no_server() -> Failure {
    Failure::new("no server runs here that could be asked")
}

/// Parses `key=value` arguments; an empty value is null.
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

//! `/api/admin/plugins`: plugins for an admin; the same over the server's own socket (`http::socket`).
//!
//! What changes answers with the plugin as it is then; one that is not accepted is 422 with its sentence, verbatim.

use axum::extract::State;
use rookery_plugin_host::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::App;
use crate::entity::plugin::{Detail, LogLine, OrderRow, Plugin, Uninstalled};
use crate::error::{Error, Result};
use crate::http::extract::auth::{Admin, AdminRead, AdminWrite};
use crate::http::extract::{Params, Path};
use crate::http::json::Json;
use crate::plugins::{self, admin};

/// `GET /api/admin/plugins`
pub async fn index(State(app): State<App>, _: Admin<AdminRead>) -> Result<Json> {
    let all = admin::list(&app).await?;
    Json::of(&all.iter().map(|known| Plugin::new(&app, known)).collect::<Vec<_>>())
}

/// `GET /api/admin/plugins/{name}`
pub async fn show(State(app): State<App>, _: Admin<AdminRead>, Path(name): Path<String>) -> Result<Json> {
    detail(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/enable`
pub async fn enable(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    admin::enable(&app, &name).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/disable`
pub async fn disable(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    admin::disable(&app, &name).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/reload`
pub async fn reload(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    admin::accept(&app, &name).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/rollback`
pub async fn rollback(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    admin::rollback(&app, &name).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/grant`
pub async fn grant(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    admin::grant(&app, &name).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/limits`
pub async fn limits(
    State(app): State<App>,
    _: Admin<AdminWrite>,
    Path(name): Path<String>,
    Params(limits): Params<Map<String, Value>>,
) -> Result<Json> {
    admin::set_limits(&app, &name, limits).await?;
    reloaded(&app, &name).await
}

/// `POST /api/admin/plugins/{name}/config`
pub async fn config(
    State(app): State<App>,
    _: Admin<AdminWrite>,
    Path(name): Path<String>,
    Params(members): Params<Map<String, Value>>,
) -> Result<Json> {
    admin::configure(&app, &name, members).await?;
    reloaded(&app, &name).await
}

/// A secret to set; without a value it is forgotten.
#[derive(Debug, Deserialize)]
pub struct Secret {
    name: Option<String>,
    value: Option<String>,
}

/// `POST /api/admin/plugins/{name}/secrets`
pub async fn secrets(
    State(app): State<App>,
    _: Admin<AdminWrite>,
    Path(name): Path<String>,
    Params(secret): Params<Secret>,
) -> Result<Json> {
    let Some(named) = secret.name else { return Err(Error::missing("name")) };
    admin::set_secret(&app, &name, &named, secret.value).await?;
    reloaded(&app, &name).await
}

/// How many events are told again.
#[derive(Debug, Serialize)]
struct Retried {
    events: u64,
}

/// `POST /api/admin/plugins/{name}/retry`
pub async fn retry(State(app): State<App>, _: Admin<AdminWrite>, Path(name): Path<String>) -> Result<Json> {
    Json::of(&Retried { events: admin::retry(&app, &name).await? })
}

/// A command and what it is given.
#[derive(Debug, Deserialize)]
pub struct Run {
    command: Option<String>,
    #[serde(default)]
    args: Value,
}

/// `POST /api/admin/plugins/{name}/run`
pub async fn run(
    State(app): State<App>,
    _: Admin<AdminWrite>,
    Path(name): Path<String>,
    Params(run): Params<Run>,
) -> Result<Json> {
    let Some(command) = run.command else { return Err(Error::missing("command")) };
    Json::of(&admin::run(&app, &name, &command, &run.args).await?)
}

/// Whether tables are dropped as well.
#[derive(Debug, Deserialize)]
pub struct Uninstall {
    #[serde(default)]
    purge: bool,
}

/// `POST /api/admin/plugins/{name}/uninstall`
pub async fn uninstall(
    State(app): State<App>,
    _: Admin<AdminWrite>,
    Path(name): Path<String>,
    Params(params): Params<Uninstall>,
) -> Result<Json> {
    let dump = admin::uninstall(&app, &name, params.purge).await?;
    Json::of(&Uninstalled::new(name, params.purge, dump.as_deref()))
}

/// From which line on.
#[derive(Debug, Deserialize)]
pub struct After {
    #[serde(default)]
    after: Option<String>,
}

/// `GET /api/admin/plugins/{name}/logs`
pub async fn logs(
    State(app): State<App>,
    _: Admin<AdminRead>,
    Path(name): Path<String>,
    Params(params): Params<After>,
) -> Result<Json> {
    admin::find(&app, &name).await?;
    let after = params.after.as_deref().unwrap_or("0").parse();
    let lines = app.plugins.logs.after(&name, after.map_err(|_| Error::invalid("after: is the number of a line"))?);
    Json::of(&lines.iter().map(LogLine::from).collect::<Vec<_>>())
}

/// `GET /api/admin/plugin_order/{hook}`
pub async fn order(State(app): State<App>, _: Admin<AdminRead>, Path(hook): Path<String>) -> Result<Json> {
    let placed = admin::order(&app, &hook).await?;
    Json::of(&placed.into_iter().map(OrderRow::from).collect::<Vec<_>>())
}

async fn reloaded(app: &App, name: &str) -> Result<Json> {
    plugins::reload(app, name).await.map_err(|fault| verbatim(&fault))?;
    detail(app, name).await
}

fn verbatim(fault: &Fault) -> Error {
    Error::invalid(fault.to_string())
}

async fn detail(app: &App, name: &str) -> Result<Json> {
    let known = admin::find(app, name).await?;
    let outbox = admin::outbox(app, known.plugin.id).await?;
    Json::of(&Detail::new(app, &known, &outbox))
}

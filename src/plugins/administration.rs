//! `/api/admin/plugins`: plugin administration over HTTP, also served on the server's admin socket.
//!
//! A change returns the plugin in its new state; a plugin that could not be loaded is 422 with the reason verbatim.

use rookery_plugin_host::LoadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::admin::entity::{Detail, LogLine, OrderRow, Plugin, Uninstalled};
use crate::install::verify::Verified;
use crate::install::{self, Review, Source, Terms};
use crate::{Cx, admin};
use context::Error;
use crypto::signature::PublicKey;
use entity::Schema;
use model::params::required;
use rookery_http::Result;
use rookery_http::extract::auth::{AdminRead, AdminWrite, ManagePlugins, StaffAuth};
use rookery_http::extract::{Params, Path};
use rookery_http::json::Json;

// Without a schema in the contract.
impl Schema for Plugin {}
impl Schema for Detail {}
impl Schema for Uninstalled {}
impl Schema for Review {}
impl Schema for Verified {}
impl Schema for LogLine {}
impl Schema for OrderRow {}
impl Schema for Retried {}

/// `GET /api/admin/plugins`
pub async fn index(cx: Cx, _: StaffAuth<AdminRead, ManagePlugins>) -> Result<Json<Vec<Plugin>>> {
    let all = admin::list(&cx).await?;
    Json::of(&all.iter().map(|known| Plugin::new(&cx, known)).collect::<Vec<_>>())
}

/// `GET /api/admin/plugins/{name}`
pub async fn show(cx: Cx, _: StaffAuth<AdminRead, ManagePlugins>, Path(name): Path<String>) -> Result<Json<Detail>> {
    detail(&cx, &name).await
}

/// The permissions and package that an admin agreed to.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Agreed {
    /// The digest of the package that they were shown; any when it is left out.
    #[serde(default)]
    digest: Option<String>,
    /// Single permissions to grant; all of them when it is left out.
    #[serde(default)]
    permissions: Vec<String>,
}

/// `POST /api/admin/plugins/{name}/enable`
pub async fn enable(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(agreed): Params<Agreed>,
) -> Result<Json<Detail>> {
    admin::enable_shown(&cx, &staff, &name, agreed.digest.as_deref()).await?;
    reloaded(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/disable`
pub async fn disable(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
) -> Result<Json<Detail>> {
    admin::disable(&cx, &staff, &name).await?;
    reloaded(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/reload`
pub async fn reload(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
) -> Result<Json<Detail>> {
    admin::accept(&cx, &staff, &name).await?;
    reloaded(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/rollback`
pub async fn rollback(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
) -> Result<Json<Detail>> {
    admin::rollback(&cx, &staff, &name).await?;
    reloaded(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/grant`
pub async fn grant(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(agreed): Params<Agreed>,
) -> Result<Json<Detail>> {
    let plugin = admin::grant_some(&cx, &staff, &name, &agreed.permissions, agreed.digest.as_deref()).await?;
    // With some of the permissions still missing there is nothing to load.
    let whole = admin::find(&cx, &name).await?.missing.is_empty();
    if plugin.enabled && whole { reloaded(&cx, &name).await } else { detail(&cx, &name).await }
}

/// The permissions that are revoked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Revoked {
    /// All without any.
    #[serde(default)]
    permissions: Vec<String>,
}

/// `POST /api/admin/plugins/{name}/revoke`
///
/// A package that asks for one of them stops serving.
pub async fn revoke(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(revoked): Params<Revoked>,
) -> Result<Json<Detail>> {
    admin::revoke(&cx, &staff, &name, &revoked.permissions).await?;
    // A reload fails for the missing permission, which is intended here.
    let _ = crate::reload(&cx, &name).await;
    detail(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/limits`
pub async fn limits(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(limits): Params<Map<String, Value>>,
) -> Result<Json<Detail>> {
    admin::set_limits(&cx, &staff, &name, limits).await?;
    reloaded(&cx, &name).await
}

/// `POST /api/admin/plugins/{name}/config`
pub async fn config(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(members): Params<Map<String, Value>>,
) -> Result<Json<Detail>> {
    admin::configure(&cx, &staff, &name, members).await?;
    reloaded(&cx, &name).await
}

/// A secret to set; without a value it is deleted.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Secret {
    #[schemars(transform = required)]
    name: Option<String>,
    value: Option<String>,
}

/// `POST /api/admin/plugins/{name}/secrets`
pub async fn secrets(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(secret): Params<Secret>,
) -> Result<Json<Detail>> {
    let Some(named) = secret.name else { return Err(Error::missing("name").into()) };
    admin::set_secret(&cx, &staff, &name, &named, secret.value).await?;
    reloaded(&cx, &name).await
}

/// Number of events that are retried.
#[derive(Debug, Serialize)]
pub struct Retried {
    events: u64,
}

/// `POST /api/admin/plugins/{name}/retry`
pub async fn retry(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
) -> Result<Json<Retried>> {
    Json::of(&Retried { events: admin::retry(&cx, &staff, &name).await? })
}

/// A command and its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Run {
    #[schemars(transform = required)]
    command: Option<String>,
    /// Any JSON, as the command takes it.
    #[serde(default)]
    args: Value,
}

/// `POST /api/admin/plugins/{name}/run`
///
/// One step of the command: an answer with `continue` asks for the next, with that as `args`.
pub async fn run(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(run): Params<Run>,
) -> Result<Json<Value>> {
    let Some(command) = run.command else { return Err(Error::missing("command").into()) };
    Json::of(&admin::run(&cx, &staff, &name, &command, &run.args).await?)
}

/// Whether the plugin's data is purged as well.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Uninstall {
    #[serde(default)]
    purge: bool,
}

/// `POST /api/admin/plugins/{name}/uninstall`
pub async fn uninstall(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(params): Params<Uninstall>,
) -> Result<Json<Uninstalled>> {
    let dump = install::uninstall(&cx, &staff, &name, params.purge).await?;
    Json::of(&Uninstalled::new(name, params.purge, dump.as_deref()))
}

/// A package to install.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Install {
    /// The URL of a package or of an index; where the present package came from when it is left out.
    #[serde(default)]
    from: Option<String>,
    /// The public key that it must be signed with, also in the place of the one that is trusted.
    #[serde(default)]
    key: Option<String>,
    /// The public key that the index must be signed with, also in the place of the one that is trusted.
    #[serde(default)]
    index_key: Option<String>,
    /// The digest of the package that the admin agreed to; needed for a key or permissions that are new.
    #[serde(default)]
    digest: Option<String>,
    /// Takes a package without a signature, and an index without one that had one before.
    #[serde(default)]
    unsigned: bool,
    /// Takes a version before the present one, and an index that was signed before one that was used.
    #[serde(default)]
    downgrade: bool,
}

impl Install {
    /// A file of the server's machine is only for the command line, which has put it where it belongs.
    fn request(self) -> context::Result<install::Request> {
        let read = |name: &str, key: Option<String>| {
            let key = key.as_deref().map(PublicKey::parse).transpose();
            key.map_err(|error| Error::invalid(format!("{name}: {error}")))
        };
        let (key, index_key) = (read("key", self.key)?, read("index_key", self.index_key)?);
        let from = self.from.as_deref().map(Source::parse).transpose()?;
        let terms = Terms { key, index_key, unsigned: self.unsigned, downgrade: self.downgrade };
        Ok(install::Request { from, digest: self.digest, terms })
    }
}

/// `POST /api/admin/plugins/{name}/review`
///
/// What would be installed, to be agreed to by its digest; changes nothing.
pub async fn review(
    cx: Cx,
    _: StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(wanted): Params<Install>,
) -> Result<Json<Review>> {
    Json::of(&install::look(&cx, &name, wanted.request()?).await?)
}

/// `POST /api/admin/plugins/{name}/install`
///
/// Installs a plugin, or upgrades it.
pub async fn install(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManagePlugins>,
    Path(name): Path<String>,
    Params(wanted): Params<Install>,
) -> Result<Json<Detail>> {
    install::run(&cx, &staff, &name, wanted.request()?).await?;
    reloaded(&cx, &name).await
}

/// `GET /api/admin/plugins/{name}/verify`
pub async fn verify(
    cx: Cx,
    _: StaffAuth<AdminRead, ManagePlugins>,
    Path(name): Path<String>,
) -> Result<Json<Verified>> {
    Json::of(&install::verify::plugin(&cx, &name, None).await?)
}

/// The number after which log lines are returned.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct After {
    /// The number of a line; 0 when it is left out.
    #[serde(default)]
    after: Option<String>,
}

/// `GET /api/admin/plugins/{name}/logs`
pub async fn logs(
    cx: Cx,
    _: StaffAuth<AdminRead, ManagePlugins>,
    Path(name): Path<String>,
    Params(params): Params<After>,
) -> Result<Json<Vec<LogLine>>> {
    admin::find(&cx, &name).await?;
    let after = params.after.as_deref().unwrap_or("0").parse();
    let lines = cx.plugins.logs.after(&name, after.map_err(|_| Error::invalid("after: is the number of a line"))?);
    Json::of(&lines.iter().map(LogLine::from).collect::<Vec<_>>())
}

/// `GET /api/admin/plugin_order/{hook}`
pub async fn order(
    cx: Cx,
    _: StaffAuth<AdminRead, ManagePlugins>,
    Path(hook): Path<String>,
) -> Result<Json<Vec<OrderRow>>> {
    let placed = admin::order(&cx, &hook).await?;
    Json::of(&placed.into_iter().map(OrderRow::from).collect::<Vec<_>>())
}

async fn reloaded(cx: &Cx, name: &str) -> Result<Json<Detail>> {
    crate::reload(cx, name).await.map_err(|fault| verbatim(&fault))?;
    detail(cx, name).await
}

fn verbatim(fault: &LoadError) -> Error {
    Error::invalid(fault.to_string())
}

async fn detail(cx: &Cx, name: &str) -> Result<Json<Detail>> {
    let known = admin::find(cx, name).await?;
    let outbox = admin::outbox(cx, &known.plugin).await?;
    Json::of(&Detail::new(cx, &known, &outbox))
}

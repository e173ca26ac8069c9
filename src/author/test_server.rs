//! A throw-away server with one plugin: the real server code on a database in a temporary folder.
//!
//! Used by `rookery plugin check`, `test`, `bench` and `dev`. Requests go through the router without a network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use serde_json::{Map, Value};
use tower::ServiceExt as _;

use super::project::{self, Project};
use config::{Config, executable, secrets};
use model::AccountId;
use model::clock::Clock;
use plugin_package::Package;
use plugins::life::{self, desired};
use plugins::{Cx, settings};
use rookery_http::router::Server;
use service::sign_up::{self, NewAccount};
use service::{oauth, token};
use terminal::Failure;

const SCOPES: &str = "read write follow push profile";

/// Maximum size of a response body.
const ANSWER_MAX: usize = 16 << 20;

/// A temporary folder, deleted on drop.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The throw-away server.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) cx: Cx,
    pub(crate) name: String,
    router: Server,
    _streams: rookery_server::Streaming,
    people: BTreeMap<String, (AccountId, String)>,
    folder: Folder,
}

#[derive(Clone, Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| String::from_utf8_lossy(&self.body).into_owned().into())
    }
}

/// A request to send.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) token: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Stage {
    /// Starts a server without accounts and plugins. `keys` are further configuration variables (`ROOKERY_…`).
    pub(crate) async fn open(project: &Project, clock: Clock, keys: &[(&str, &str)]) -> Result<Self, Failure> {
        let folder = Folder(std::env::temp_dir().join(format!("rookery-plugin-{}", crypto::random_text(12))));
        std::fs::create_dir_all(&folder.0).map_err(Failure::new)?;
        let path = |name: &str| folder.0.join(name).display().to_string();
        let (data, database, plugins) = (path("data"), format!("sqlite://{}", path("rookery.db")), path("plugins"));
        let cache = project.work().join("cache").display().to_string();
        let key = key();
        let own = [
            ("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test"),
            ("ROOKERY_SERVER_DEVELOPMENT", "true"),
            ("ROOKERY_SECRETS_KEY", &key),
            ("ROOKERY_STORAGE_DATA_DIR", &data),
            ("ROOKERY_DATABASE_URL", &database),
            ("ROOKERY_RATE_LIMITS_ENABLED", "false"),
            ("ROOKERY_PLUGINS_EMBEDDED", "false"),
            ("ROOKERY_PLUGINS_DIR", &plugins),
            ("ROOKERY_PLUGINS_CACHE_DIR", &cache),
            ("ROOKERY_PLUGINS_WATCH", "false"),
        ];
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        all.extend(own.iter().chain(keys).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let config = Config::load(None, all.into_iter())?;
        let executable = executable().map_err(Failure::new)?;
        let cx = Cx::of(&rookery_server::open(config, clock, &executable).await?)?;
        let streams = rookery_server::start_streams(&cx);
        let router = rookery_server::router(&cx, &streams.hub);
        Ok(Self { cx, _streams: streams, name: project.name().to_owned(), router, people: BTreeMap::new(), folder })
    }

    /// Loads or reloads the plugin, granting all permissions that it requests.
    ///
    /// # Errors
    /// The stage of loading that failed, and its error message.
    pub(crate) async fn load(&self, package: &Package) -> Result<(), Failure> {
        let folder = self.folder.0.join("plugins").join(&self.name);
        std::fs::create_dir_all(self.folder.0.join("plugins")).map_err(Failure::new)?;
        project::write(package, &folder)?;
        let wanted: Vec<String> = package.manifest.requested().into_iter().collect();
        let known = store::plugin::find(&self.cx.db, &self.name).await?.is_some();
        if !known {
            desired::install(&self.cx, package, true).await?;
        }
        desired::change(&self.cx, &self.name, |plugin| {
            plugin.enabled = true;
            plugin.granted.0.clone_from(&wanted);
            desired::accept(plugin, package);
            Ok(())
        })
        .await?;
        life::reload(&self.cx, &self.name).await.map_err(Failure::new)?;
        Ok(())
    }

    /// Sets values of the plugin's configuration.
    pub(crate) async fn configure(&self, members: &Map<String, Value>) -> Result<(), Failure> {
        let members = members.clone();
        desired::change(&self.cx, &self.name, |plugin| {
            plugin.config.0.extend(members);
            plugin.config_version += 1;
            Ok(())
        })
        .await?;
        life::reload(&self.cx, &self.name).await.map_err(Failure::new)?;
        Ok(())
    }

    /// Sets members of a person's settings for the plugin; null resets one to its default.
    pub(crate) async fn set_settings(&self, account: AccountId, members: &Map<String, Value>) -> Result<(), Failure> {
        let registry = self.cx.registry();
        let active = registry.find(&self.name).filter(|active| active.settings.is_some());
        let active = active.ok_or_else(|| Failure::usage("settings: plugin.toml has no [settings]"))?;
        let stored = store::plugin_setting::list(&self.cx.db, active.id, &[account]).await?.pop();
        let before = stored.map(|(_, stored)| stored.0).unwrap_or_default();
        let change = settings::prepare(active, before, members)?;
        let mut tx = self.cx.db.begin().await?;
        settings::apply(&mut tx, active, account, change).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Creates an account with a token for all scopes.
    pub(crate) async fn account(&mut self, name: &str) -> Result<(), Failure> {
        self.cx.clock.advance(chrono::Duration::seconds(1));
        let mut tx = self.cx.db.begin().await?;
        let new = NewAccount {
            username: name.to_owned(),
            email: format!("{name}@example.test"),
            password_hash: None,
            confirmed: true,
            approved: true,
            role_id: None,
            locale: None,
            time_zone: None,
            app: None,
            reason: None,
        };
        let id = sign_up::create(&self.cx, &mut tx, new).await?;
        tx.commit().await?;
        let declared = self.cx.extensions().scopes().into_iter().map(|scope| scope.name);
        let scopes: Vec<String> = [SCOPES.to_owned()].into_iter().chain(declared).collect();
        let token = self.token(Some(id), &scopes.join(" ")).await?;
        self.people.insert(name.to_owned(), (id, token));
        Ok(())
    }

    /// Creates a token with the given scopes.
    pub(crate) async fn token(&self, account: Option<AccountId>, scopes: &str) -> Result<String, Failure> {
        let scopes = oauth::read_scopes(&self.cx, scopes);
        let scopes = scopes.map_err(|word| Failure::usage(format!("scopes: there is no scope {word:?}")))?;
        let mut tx = self.cx.db.begin().await?;
        let token = token::mint(&self.cx, &mut tx, None, account, &scopes).await?;
        tx.commit().await?;
        Ok(token.expose().to_owned())
    }

    /// The account `name` and its token.
    ///
    /// # Errors
    /// When there is no such account.
    pub(crate) fn person(&self, name: &str) -> Result<&(AccountId, String), Failure> {
        self.people.get(name).ok_or_else(|| Failure::usage(format!("there is no [[account]] called {name}")))
    }

    /// All accounts: name, id and token.
    pub(crate) fn people(&self) -> impl Iterator<Item = (&str, AccountId, &str)> {
        self.people.iter().map(|(name, (id, token))| (name.as_str(), *id, token.as_str()))
    }

    /// Sends a request through all layers of the server.
    pub(crate) async fn send(&self, sent: &Sent) -> Result<TestResponse, Failure> {
        let mut request =
            Request::builder().method(sent.method.clone()).uri(&sent.path).header(header::HOST, "example.test");
        if let Some(token) = &sent.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if !sent.body.is_empty() {
            request = request.header(header::CONTENT_TYPE, sent.content_type);
        }
        for (name, value) in &sent.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Body::from(sent.body.clone()))
            .map_err(|error| Failure::usage(format!("{} {} is no request: {error}", sent.method, sent.path)))?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let header = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = parts.headers.iter().map(header).collect();
        let body = to_bytes(body, ANSWER_MAX).await.map_err(Failure::new)?.to_vec();
        Ok(TestResponse { status: parts.status.as_u16(), headers, body })
    }

    /// Runs all due jobs and event deliveries, until none is left.
    pub(crate) async fn settle(&self) -> Result<(), Failure> {
        loop {
            let jobs = worker::drain(&self.cx).await?;
            if jobs + plugins::hooks::dispatch::drain(&self.cx).await? == 0 {
                return Ok(());
            }
        }
    }

    /// The plugin's log, and the failures of its calls with backtraces.
    pub(crate) fn story(&self) -> String {
        let mut story = String::new();
        for line in self.cx.plugins.logs.after(&self.name, 0) {
            story.push_str(&format!("      {} {}\n", line.level.as_str(), line.message));
        }
        for failed in &self.cx.plugins.observed.of(&self.name).failures {
            if !failed.backtrace.is_empty() {
                story.push_str(&format!("      backtrace of {} {}\n", failed.kind, failed.name));
            }
            for frame in failed.backtrace.iter().take(12) {
                story.push_str(&format!("        at {frame}\n"));
            }
        }
        story
    }

    /// Closes the database.
    /// The statements of the plugin, each with the columns that it returns.
    pub(crate) fn statements(&self) -> Vec<(String, Vec<String>)> {
        let registry = self.cx.registry();
        let statements = registry.find(&self.name).and_then(|active| active.sql.as_ref());
        let statements = statements.map(plugins::sql::Statements::all).unwrap_or_default();
        statements.into_iter().map(|statement| (statement.name.clone(), statement.columns().to_vec())).collect()
    }

    pub(crate) async fn close(self) {
        self.cx.close().await;
    }

    /// The temporary folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }
}

/// The key that signs compiled components in a plugin's folder, which spare the next throw-away server the compilation.
///
/// It is kept in the author's home, so that native code in a folder from somewhere else is not trusted.
fn key() -> String {
    let folder = std::env::home_dir().map(|home| home.join(".cache/rookery/plugins"));
    let kept = folder.and_then(|folder| secrets::in_folder(&folder).ok());
    kept.map_or_else(|| crypto::random_text(32), |secret| secret.expose().to_owned())
}

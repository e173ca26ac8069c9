//! A throw-away server with one plugin: the real server on a database in a temporary folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use serde_json::Value;
use tower::ServiceExt as _;

use super::project::{self, Project};
use crate::app::App;
use crate::cli::output::Failure;
use crate::plugins::{Package, desired, life};
use crate::service::sign_up::{self, NewAccount};
use crate::service::token;
use config::{Config, executable, secrets};
use model::clock::Clock;
use model::{AccountId, Scopes};

/// Every scope.
const SCOPES: &str = "read write follow push profile";

/// The most that is read of an answer.
const ANSWER_MAX: usize = 16 << 20;

/// A folder that goes with its owner.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The server.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) app: App,
    pub(super) name: String,
    router: Router,
    people: BTreeMap<String, (AccountId, String)>,
    folder: Folder,
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| String::from_utf8_lossy(&self.body).into_owned().into())
    }
}

/// A request as its test writes it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) token: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
}

impl Stage {
    /// Starts a server without people and without plugins. `cache` is where compiled components are kept.
    pub(super) async fn open(project: &Project, clock: Clock, keys: &[(&str, &str)]) -> Result<Self, Failure> {
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
        let app = App::start(config, clock, &executable).await?;
        let router = crate::http::router::router(app.clone());
        Ok(Self { app, name: project.name().to_owned(), router, people: BTreeMap::new(), folder })
    }

    /// Loads the plugin, with everything that it asks for, or what became of its files since.
    ///
    /// # Errors
    /// The stage and the sentence.
    pub(super) async fn load(&self, package: &Package) -> Result<(), Failure> {
        let folder = self.folder.0.join("plugins").join(&self.name);
        std::fs::create_dir_all(self.folder.0.join("plugins")).map_err(Failure::new)?;
        project::write(package, &folder)?;
        let wanted: Vec<String> = package.manifest.wanted().into_iter().collect();
        let known = store::plugin::find(&self.app.db, &self.name).await?.is_some();
        if !known {
            desired::install(&self.app, package, true).await?;
        }
        desired::change(&self.app, &self.name, |plugin| {
            plugin.enabled = true;
            plugin.granted.0.clone_from(&wanted);
            desired::accept(plugin, package);
            Ok(())
        })
        .await?;
        life::reload(&self.app, &self.name).await.map_err(Failure::new)?;
        Ok(())
    }

    /// Sets members of the plugin's configuration.
    pub(super) async fn configure(&self, members: &serde_json::Map<String, Value>) -> Result<(), Failure> {
        let members = members.clone();
        desired::change(&self.app, &self.name, |plugin| {
            plugin.config.0.extend(members);
            plugin.config_version += 1;
            Ok(())
        })
        .await?;
        life::reload(&self.app, &self.name).await.map_err(Failure::new)?;
        Ok(())
    }

    /// Makes an account with a token of every scope.
    pub(super) async fn account(&mut self, name: &str) -> Result<(), Failure> {
        self.app.clock.advance(chrono::Duration::seconds(1));
        let mut tx = self.app.db.begin().await?;
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
        let id = sign_up::create(&self.app, &mut tx, new).await?;
        tx.commit().await?;
        let token = self.token(Some(id), SCOPES).await?;
        self.people.insert(name.to_owned(), (id, token));
        Ok(())
    }

    /// A token of these scopes.
    pub(super) async fn token(&self, account: Option<AccountId>, scopes: &str) -> Result<String, Failure> {
        let scopes = Scopes::parse(scopes).map_err(|error| Failure::usage(format!("scopes: {error}")))?;
        let mut tx = self.app.db.begin().await?;
        let token = token::mint(&self.app, &mut tx, None, account, &scopes).await?;
        tx.commit().await?;
        Ok(token.expose().to_owned())
    }

    /// The account called `name` and its token.
    ///
    /// # Errors
    /// When the test has no such account.
    pub(super) fn person(&self, name: &str) -> Result<&(AccountId, String), Failure> {
        self.people.get(name).ok_or_else(|| Failure::usage(format!("there is no [[account]] called {name}")))
    }

    /// All of them.
    pub(super) fn people(&self) -> impl Iterator<Item = (&str, AccountId, &str)> {
        self.people.iter().map(|(name, (id, token))| (name.as_str(), *id, token.as_str()))
    }

    /// Sends a request through every layer of the server.
    pub(super) async fn send(&self, sent: &Sent) -> Result<Answer, Failure> {
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
        Ok(Answer { status: parts.status.as_u16(), headers, body })
    }

    /// Does all work that is due: jobs, and what plugins are told.
    pub(super) async fn settle(&self) -> Result<(), Failure> {
        loop {
            let jobs = crate::jobs::worker::drain(&self.app).await?;
            if jobs + crate::plugins::hooks::dispatch::drain(&self.app).await? == 0 {
                return Ok(());
            }
        }
    }

    /// What the plugin logged, and the failures of its calls with their backtraces.
    pub(super) fn story(&self) -> String {
        let mut story = String::new();
        for line in self.app.plugins.logs.after(&self.name, 0) {
            story.push_str(&format!("      {} {}\n", line.level.as_str(), line.message));
        }
        for failed in &self.app.plugins.observed.of(&self.name).failures {
            story.push_str(&format!("      {} {} {}: {}\n", failed.kind, failed.name, failed.ended, failed.message));
            for frame in failed.backtrace.iter().take(12) {
                story.push_str(&format!("        at {frame}\n"));
            }
        }
        story
    }

    /// Closes the database.
    pub(super) async fn close(self) {
        self.app.db.close().await;
    }

    /// The temporary folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder.0
    }
}

/// What signs the compiled components that throw-away servers leave in a plugin's folder, so that the next one need not
/// compile again. It is kept with the author's own files: a folder from elsewhere brings no native code.
fn key() -> String {
    let folder = std::env::home_dir().map(|home| home.join(".cache/rookery/plugins"));
    let kept = folder.and_then(|folder| secrets::in_folder(&folder).ok());
    kept.map_or_else(|| crypto::random_text(32), |secret| secret.expose().to_owned())
}

//! The one harness: a server on a database of its own with a fixed clock, and clients that speak HTTP to it.

mod browser;
mod cli;
mod client;
mod database;
mod log;
mod mailbox;
mod moderation;
mod push_service;
mod reading;
mod rows;
mod site;
mod stream;
mod verbs;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use ::database::{Db, Engine};
use axum::body::Body;
use axum::http::Request;
use chrono::{DateTime, Duration, Utc};
use config::Config;
use crypto::{Secret, key_pair};
use model::clock::Clock;
use model::{AccountId, StatusId};
use rookery_http::router::Server;
use rookery_server::Cx;
use service::sign_up::{self, NewAccount};
use service::{oauth, search, signing_key, token};
use tower::ServiceExt as _;

pub use browser::{Browser, PASSWORD, form_fields};
#[cfg(feature = "plugins")]
pub use cli::CommandOutput;
pub use client::{Answer, Client, RequestBuilder};
pub use database::Database as TestDatabase;
pub use log::Log;
pub use push_service::PushService;
#[cfg(feature = "plugins")]
pub use reading::ids;
pub use reading::{accts, id, path};
pub use site::Site;
pub use stream::{Event, Events, Listening, Socket};
pub use verbs::{Published, account_path, status_path};

/// Every scope: what a test's people hold unless it says otherwise.
pub const ALL_SCOPES: &str = "read write follow push profile";

/// Keys of a server that shares what plugins are compiled to with other tests: a folder, and the secret that vouches for it.
pub const COMPILED: [(&str, &str); 2] = [
    ("ROOKERY_PLUGINS_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugin-cache")),
    ("ROOKERY_SECRETS_KEY", "bm90LWEtc2VjcmV0LW5vdC1hLXNlY3JldC1ub3QtYS0="),
];

/// That of all people that a test makes: to generate one for each took a quarter of the suite's time.
static KEY_PAIR: LazyLock<(String, Secret)> = LazyLock::new(|| key_pair::generate().unwrap());

/// A server under test. Cheap to clone; its database goes with the last clone.
#[derive(Clone)]
pub struct TestApp {
    pub app: Cx,
    /// Its own among the servers of this process.
    pub number: usize,
    router: Server,
    pub streams: Arc<rookery_server::Streaming>,
    _folder: Arc<tempfile::TempDir>,
    _database: Arc<database::Database>,
}

impl TestApp {
    /// With the default configuration, rate limits and link previews off, `example.test` as the domain, and 2026-01-15 12:00 UTC.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With configuration keys as environment variables, such as `("ROOKERY_ACCESS_SINGLE_USER", "true")`.
    pub async fn with(keys: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = database::Database::create(folder.path()).await;
        let clock = Clock::fixed("2026-01-15T12:00:00Z".parse::<DateTime<Utc>>().unwrap());
        Self::on(Arc::new(database), folder, clock, keys).await
    }

    /// Another server on the same database, and by the same clock, with files of its own, a secret key among them.
    pub async fn beside(&self, keys: &[(&str, &str)]) -> Self {
        Self::on(Arc::clone(&self._database), tempfile::tempdir().unwrap(), self.app.clock.clone(), keys).await
    }

    async fn on(
        database: Arc<database::Database>,
        folder: tempfile::TempDir,
        clock: Clock,
        keys: &[(&str, &str)],
    ) -> Self {
        let data_dir = folder.path().to_str().unwrap().to_owned();
        let defaults = [
            ("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test"),
            ("ROOKERY_STORAGE_DATA_DIR", data_dir.as_str()),
            ("ROOKERY_DATABASE_URL", database.url.as_str()),
            ("ROOKERY_RATE_LIMITS_ENABLED", "false"),
            // A test that wants them brings a site of its own: see `site`.
            ("ROOKERY_PREVIEWS_ENABLED", "false"),
            // Whether the machine has it or not: a test that needs it names the one of the tests.
            ("ROOKERY_MEDIA_FFMPEG", "none"),
            ("ROOKERY_MEDIA_FFPROBE", "none"),
            // A busy machine is no reason for a test to fail.
            ("ROOKERY_PLUGINS_TRANSACTION_TIMEOUT_MS", "20000"),
            ("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "20000"),
            ("ROOKERY_PLUGINS_CONTENDED_MIGRATION_MS", "60000"),
            ("ROOKERY_DATABASE_ACQUIRE_TIMEOUT_SECONDS", "60"),
        ];
        let mut environment: std::collections::BTreeMap<String, String> =
            defaults.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        environment.extend(keys.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let config = Config::load(None, environment.into_iter()).unwrap();
        let app = rookery_server::open(config, clock, Path::new(env!("CARGO_BIN_EXE_rookery"))).await.unwrap();
        // Machines that run tests have much else to do.
        rookery_server::platform::scale_hook_time_limits(&app, 400);
        let streams = Arc::new(rookery_server::start_own_streams(&app));
        let router = rookery_server::router(&app, &streams.hub);
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self { app, number, router, streams, _folder: Arc::new(folder), _database: database }
    }

    /// Makes confirmed and approved accounts, each with a token of [`ALL_SCOPES`]. The clock moves a second for each.
    pub async fn accounts<const N: usize>(&self, names: [&str; N]) -> [Client; N] {
        let mut clients = Vec::with_capacity(N);
        for name in names {
            clients.push(self.account(name).await);
        }
        clients.try_into().unwrap_or_else(|_| unreachable!("as many clients as names"))
    }

    /// Makes one confirmed and approved account with a token of [`ALL_SCOPES`].
    pub async fn account(&self, name: &str) -> Client {
        self.tick();
        let mut tx = self.app.db.begin().await.unwrap();
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
        let id = sign_up::create(&self.app, &mut tx, new).await.unwrap();
        let (public, private) = &*KEY_PAIR;
        let sealed = signing_key::seal(&self.app, id, private).unwrap();
        store::account::set_keys(&mut tx, id, public, &sealed).await.unwrap();
        tx.commit().await.unwrap();
        let token = self.token(Some(id), ALL_SCOPES).await;
        Client::new(self.clone(), Some(id), name, Some(token))
    }

    /// Gives a local account a password to sign in with.
    pub async fn set_password(&self, name: &str, password: &str) {
        let hash = crypto::hash_password(password.to_owned().into()).await.unwrap();
        let account = store::account::find_local(&self.app.db, name).await.unwrap().unwrap();
        let mut tx = self.app.db.begin().await.unwrap();
        store::user::set_password(&mut tx, account.id, &hash).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// A client without a token.
    pub fn anonymous(&self) -> Client {
        Client::new(self.clone(), None, "", None)
    }

    /// A client whose token belongs to an application and to nobody.
    pub async fn application(&self, scopes: &str) -> Client {
        let token = self.token(None, scopes).await;
        Client::new(self.clone(), None, "", Some(token))
    }

    /// A token of `account` with `scopes`.
    pub async fn token(&self, account: Option<AccountId>, scopes: &str) -> String {
        let mut tx = self.app.db.begin().await.unwrap();
        let scopes = oauth::read_scopes(&self.app, scopes).unwrap();
        let token = token::mint(&self.app, &mut tx, None, account, &scopes).await.unwrap();
        tx.commit().await.unwrap();
        token.expose().to_owned()
    }

    /// Moves the clock by a second.
    pub fn tick(&self) {
        self.app.clock.advance(Duration::seconds(1));
    }

    /// Moves the time of time limits, which is not the clock's: by so much, and from there it goes on. On a runtime of
    /// one thread alone.
    pub async fn time_passes(&self, time: std::time::Duration) {
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    }

    /// Waits until the server has noted, beside its answers, who was here: statements that a count must not meet.
    pub async fn noted(&self) {
        while !self.app.recording_uses.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }

    /// Makes `person` one who was just here, with the token read since: neither is a part of what their next request costs.
    pub async fn known(&self, person: &Client) {
        for _ in 0..2 {
            person.get("/api/v1/preferences").ok().await;
            self.noted().await;
        }
    }

    /// How many statements `work` costs, and what it gives. What the server notes beside its answers is counted as well if
    /// `work` is the reason for it, and not if something before was.
    pub async fn cost<T>(&self, work: impl Future<Output = T>) -> (u64, T) {
        self.noted().await;
        let before = self.db().statements();
        let given = work.await;
        self.noted().await;
        (self.db().statements() - before, given)
    }

    /// Does all queued work that is due, plugins' too.
    pub async fn run_jobs(&self) {
        loop {
            let jobs = worker::drain(&self.app).await.unwrap();
            let events = rookery_server::platform::drain(&self.app).await.unwrap();
            if jobs + events == 0 {
                return;
            }
        }
    }

    /// Brings statuses that were written to the database by themselves into the full-text index.
    pub async fn index_statuses(&self) {
        let mut before = StatusId::from(i64::MAX);
        loop {
            let mut tx = self.app.db.begin().await.unwrap();
            let done = search::index::fill(&self.app, &mut tx, before).await.unwrap();
            tx.commit().await.unwrap();
            let Some(last) = done.last() else { return };
            before = *last;
        }
    }

    /// Jobs that a program beside this server queued are due by the clock on the wall: they are made due by the test's.
    pub async fn make_jobs_due(&self) {
        self.execute(&format!("UPDATE jobs SET run_at = {}", self.now_sql())).await;
    }

    /// How many statements read again what was read before, the grant of a token or the heads of statuses: on SQLite
    /// these are in memory.
    pub fn reread_cost(&self) -> u64 {
        match self.db().engine() {
            Engine::Sqlite => 0,
            Engine::Postgres => 1,
        }
    }

    /// The database, to look behind the API.
    pub fn db(&self) -> &Db {
        &self.app.db
    }

    /// The whole server's service.
    fn service(&self) -> Server {
        self.router.clone()
    }

    /// As [`TestApp::send`], without reading the body, which may not end.
    pub async fn open(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a request through every layer of the server.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = Answer::read(self.open(request).await).await;
        crate::platform::openapi::hold(self, &method, &path, &answer);
        answer
    }
}

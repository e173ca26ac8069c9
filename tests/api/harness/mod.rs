//! The test harness: a server on a separate database with a fixed clock, and clients that speak HTTP to it.

mod browser;
mod cli;
mod client;
mod counters;
mod database;
mod letter;
pub mod liar;
mod log;
mod mailbox;
mod moderation;
mod network;
mod objects;
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
use context::Cx;
use crypto::{Secret, key_pair};
use model::clock::Clock;
use model::{AccountId, StatusId};
use rookery_http::router::Server;
use service::sign_up::{self, NewAccount};
use service::{oauth, search, signing_key, token};
use tower::ServiceExt as _;

use crate::bucket::BucketServer;

pub use browser::{Browser, PASSWORD, form_fields};
pub use cli::CommandOutput;
pub use client::{Answer, Client, RequestBuilder};
pub use counters::Counters;
pub use database::Database as TestDatabase;
pub use letter::Letter;
pub use liar::Liar;
pub use log::Log;
pub use network::{Peer, settle};
pub use push_service::PushService;
pub use reading::{accts, id, ids, path};
pub use site::Site;
pub use stream::{Event, Events, Listening, Socket};
pub use verbs::{Published, account_path, status_path};

/// Every scope: the default of test accounts.
pub const ALL_SCOPES: &str = "read write follow push profile";

/// Configuration keys of a server that shares compiled plugins with other tests: a folder, and the secret that
/// authenticates its files.
pub const COMPILED: [(&str, &str); 2] = [
    ("ROOKERY_PLUGINS_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugin-cache")),
    ("ROOKERY_SECRETS_KEY", "bm90LWEtc2VjcmV0LW5vdC1hLXNlY3JldC1ub3QtYS0="),
];

/// Configuration keys of a server whose test enables the plugins that it needs.
pub const NO_PLUGIN_YET: [(&str, &str); 3] = [("ROOKERY_PLUGINS_EMBEDDED", "false"), COMPILED[0], COMPILED[1]];

/// Key pair of all test accounts: generating one for each took a quarter of the suite's time.
static KEY_PAIR: LazyLock<(String, Secret)> = LazyLock::new(|| key_pair::generate().unwrap());

/// A server under test. Cheap to clone; its database is dropped with the last clone.
#[derive(Clone)]
pub struct TestApp {
    pub app: Cx,
    /// Unique among the servers of this process.
    pub number: usize,
    router: Server,
    pub streams: Arc<rookery_server::Streaming>,
    /// Where its files are, unless they are in its folder.
    bucket: Option<Arc<BucketServer>>,
    _folder: Arc<tempfile::TempDir>,
    _database: Arc<database::Database>,
}

/// A secret key that no server of the tests has by itself.
pub const OTHER_SECRET: &str = "another secret that is long enough for this test";

impl TestApp {
    /// With the default configuration, rate limits and link previews off, `example.test` as the domain, and
    /// 2026-01-15 12:00 UTC.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// As [`TestApp::new`], without the plugin platform.
    pub async fn core() -> Self {
        Self::with(&[("ROOKERY_PLUGINS_ENABLED", "false")]).await
    }

    /// With configuration keys as environment variables, such as `("ROOKERY_ACCESS_SINGLE_USER", "true")`.
    pub async fn with(keys: &[(&str, &str)]) -> Self {
        let folder = database::folder();
        let bucket = objects::by_environment(folder.path());
        Self::fresh(folder, bucket, keys).await
    }

    /// With a database of its own and these files.
    async fn fresh(folder: tempfile::TempDir, bucket: Option<Arc<BucketServer>>, keys: &[(&str, &str)]) -> Self {
        let database = database::Database::create(folder.path()).await;
        let clock = Clock::fixed("2026-01-15T12:00:00Z".parse::<DateTime<Utc>>().unwrap());
        Self::on(Arc::new(database), folder, bucket, clock, keys).await
    }

    /// Another server with the same database, bucket, clock and secret key, unless `keys` name another, and with a separate
    /// folder.
    pub async fn beside(&self, keys: &[(&str, &str)]) -> Self {
        let config = &self.app.config;
        let key = match &config.secrets.key {
            Some(key) => key.expose().to_owned(),
            None => std::fs::read_to_string(config.storage.data_dir.join("secret.key")).unwrap().trim_end().to_owned(),
        };
        let mut all = vec![("ROOKERY_SECRETS_KEY", key.as_str())];
        all.extend_from_slice(keys);
        let (database, bucket) = (Arc::clone(&self._database), self.bucket.clone());
        Self::on(database, database::folder(), bucket, self.app.clock.clone(), &all).await
    }

    /// With an own `domain`, which others cannot reach, and configuration keys.
    pub async fn named(domain: &str, keys: &[(&str, &str)]) -> Self {
        Self::with_domain(domain, false, keys).await
    }

    /// With an own `domain`; `in_file`: on SQLite, also when the other tests use PostgreSQL.
    pub(super) async fn with_domain(domain: &str, in_file: bool, keys: &[(&str, &str)]) -> Self {
        let folder = database::folder();
        let database = match in_file {
            true => database::Database::in_file(folder.path()).await,
            false => database::Database::create(folder.path()).await,
        };
        let clock = Clock::fixed("2026-01-15T12:00:00Z".parse::<DateTime<Utc>>().unwrap());
        let mut all = vec![("ROOKERY_SERVER_LOCAL_DOMAIN", domain)];
        all.extend_from_slice(keys);
        let bucket = objects::by_environment(folder.path());
        Self::on(Arc::new(database), folder, bucket, clock, &all).await
    }

    /// The whole server's service, for a listener.
    pub(super) fn served(&self) -> Server {
        self.router.clone()
    }

    async fn on(
        database: Arc<database::Database>,
        folder: tempfile::TempDir,
        bucket: Option<Arc<BucketServer>>,
        clock: Clock,
        keys: &[(&str, &str)],
    ) -> Self {
        let data_dir = folder.path().to_str().unwrap().to_owned();
        let defaults = [
            ("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test"),
            ("ROOKERY_STORAGE_DATA_DIR", data_dir.as_str()),
            ("ROOKERY_DATABASE_URL", database.url.as_str()),
            ("ROOKERY_RATE_LIMITS_ENABLED", "false"),
            // Tests that need previews start a site: see `site`.
            ("ROOKERY_PREVIEWS_ENABLED", "false"),
            // Independent of the machine: a test that needs the programs configures their paths.
            ("ROOKERY_MEDIA_FFMPEG", "none"),
            ("ROOKERY_MEDIA_FFPROBE", "none"),
            // Long enough for a busy machine.
            ("ROOKERY_PLUGINS_TRANSACTION_TIMEOUT_MS", "20000"),
            ("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "20000"),
            ("ROOKERY_PLUGINS_CONTENDED_MIGRATION_MS", "60000"),
            ("ROOKERY_DATABASE_ACQUIRE_TIMEOUT_SECONDS", "60"),
        ];
        let mut environment: std::collections::BTreeMap<String, String> =
            defaults.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let of_bucket = bucket.iter().flat_map(|bucket| objects::keys(bucket));
        environment.extend(of_bucket.map(|(name, value)| (name.to_owned(), value.to_owned())));
        environment.extend(keys.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let config = Config::load(None, environment.into_iter()).unwrap();
        let app = rookery_server::open(config, clock, Path::new(env!("CARGO_BIN_EXE_rookery"))).await.unwrap();
        // Machines that run tests are busy.
        rookery_server::platform::scale_hook_time_limits(&app, 400);
        let streams = Arc::new(rookery_server::start_own_streams(&app));
        let router = rookery_server::router(&app, &streams.hub);
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self { app, number, router, streams, bucket, _folder: Arc::new(folder), _database: database }
    }

    /// Creates confirmed and approved accounts, each with a token of [`ALL_SCOPES`]. Advances the clock by a second
    /// for each.
    pub async fn accounts<const N: usize>(&self, names: [&str; N]) -> [Client; N] {
        let mut clients = Vec::with_capacity(N);
        for name in names {
            clients.push(self.account(name).await);
        }
        clients.try_into().unwrap_or_else(|_| unreachable!("as many clients as names"))
    }

    /// Creates one confirmed and approved account with a token of [`ALL_SCOPES`].
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

    /// As [`accounts`](Self::accounts), with the ids of [`named_account`](Self::named_account).
    pub async fn named_accounts<const N: usize>(&self, names: [&str; N]) -> [Client; N] {
        let mut clients = Vec::with_capacity(N);
        for name in names {
            clients.push(self.named_account(name).await);
        }
        clients.try_into().unwrap_or_else(|_| unreachable!("as many clients as names"))
    }

    /// As [`account`](Self::account), with the id `/users/name` of accounts from before ids had numbers.
    pub async fn named_account(&self, name: &str) -> Client {
        let client = self.account(name).await;
        let uri = self.app.urls.named_actor(name);
        self.set_account(
            &client,
            &format!(
                "uri = '{uri}', inbox_url = '{uri}/inbox', outbox_url = '{uri}/outbox',
                 followers_url = '{uri}/followers', following_url = '{uri}/following',
                 featured_url = '{uri}/collections/featured'"
            ),
        )
        .await;
        client
    }

    /// Sets the password of a local account.
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

    /// A client whose token belongs to an application without an account.
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

    /// Advances the clock by a second.
    pub fn tick(&self) {
        self.app.clock.advance(Duration::seconds(1));
    }

    /// Advances the time of time limits, which is not the clock of the server, and lets it run on from there.
    /// Requires a current-thread runtime.
    pub async fn time_passes(&self, time: std::time::Duration) {
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    }

    /// Waits until the server has recorded the activity of callers, which it does after responses: these statements
    /// must not be counted.
    pub async fn noted(&self) {
        while !self.app.recording_uses.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }

    /// Records the activity of `person` and loads their token, so that neither adds to the cost of their next
    /// request.
    pub async fn known(&self, person: &Client) {
        for _ in 0..2 {
            person.get("/api/v1/preferences").ok().await;
            self.noted().await;
        }
    }

    /// Number of statements that `work` costs, and its result. Statements that the server runs after responses are
    /// counted if `work` caused them, and not if an earlier request did.
    pub async fn cost<T>(&self, work: impl Future<Output = T>) -> (u64, T) {
        self.noted().await;
        let before = self.db().statements();
        let given = work.await;
        self.noted().await;
        (self.db().statements() - before, given)
    }

    /// Runs all due jobs, including jobs of plugins.
    pub async fn run_jobs(&self) {
        loop {
            let jobs = worker::drain(&self.app).await.unwrap();
            let events = rookery_server::platform::drain(&self.app).await.unwrap();
            if jobs + events == 0 {
                return;
            }
        }
    }

    /// Indexes statuses that were inserted directly into the database.
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

    /// Makes all jobs due: jobs queued by another process use the system clock instead of the clock of the test.
    pub async fn make_jobs_due(&self) {
        self.execute(&format!("UPDATE jobs SET run_at = {}", self.now_sql())).await;
    }

    /// Number of statements that re-read the grant of a token or the heads of statuses: SQLite servers cache them.
    pub fn reread_cost(&self) -> u64 {
        match self.db().engine() {
            Engine::Sqlite => 0,
            Engine::Postgres => 1,
        }
    }

    /// The context of the plugin platform.
    #[cfg(feature = "plugins")]
    pub fn plugins(&self) -> plugins::Cx {
        plugins::Cx::of(&self.app).unwrap()
    }

    /// Direct access to the database.
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

//! The context that functions of the core take: the server's services, and the state of one request.
//!
//! An entry point creates one for each request or job with [`Cx::begin`]; state that must not outlive the request
//! (its id, its pinned extensions, its spent rate limits, its origin) is passed in this argument, never in a
//! task-local.

use std::net::IpAddr;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::Semaphore;

use crate::browser::BrowserUser;
use crate::budget::Budget;
use crate::caches::Caches;
use crate::change::Live;
pub use crate::configured::{bucket, converter, db_options, storage};
use crate::configured::{sandbox, urls};
use crate::error::{Error, Result};
use crate::extension::Extensions;
use crate::federation::{Federation, Step};
use crate::hosts::{self, Hosts};
use crate::limits::{Limits, Standing};
use crate::messages::Language;
use crate::node::{self, Node};
use crate::origin::Origin;
pub use crate::recording_uses::RecordingUses;
pub use crate::request_id::RequestId;
use crate::starting::Starting;
use crate::turns::Turns;
use config::Config;
use crypto::Keys;
use crypto::push::Vapid;
use database::Db;
use mail::Mailer;
use media::storage::Storage;
use media::{Converter, Sandbox};
use model::clock::{Clock, Ids};
use model::domain_policy::DomainPolicy;
use model::instance::Rule;
use model::ip_block::{IpBlocks, IpSeverity};
use model::urls::Urls;
use model::{Emojis, Settings};

/// Most concurrent requests to the translation service.
const TRANSLATION_REQUESTS: usize = 8;
/// Most concurrent fetches of files from one host.
const FETCHES_OF_HOST: usize = 6;
/// Most files of other servers that are passed on at the same time; a quarter of them from one host.
const PASSING: usize = 128;

/// The server's services, and the state of one request. Cloning copies two pointers.
#[derive(Clone, Debug)]
pub struct Cx {
    services: Arc<Services>,
    scope: Arc<Scope>,
}

/// The target of [`Cx`]'s `Deref`: the same for the whole life of a server.
#[derive(Debug)]
pub struct Services {
    /// Configuration read at the start.
    pub config: Config,
    pub db: Db,
    pub clock: Clock,
    pub ids: Ids,
    /// The node whose number is part of the ids.
    pub node: Node,
    /// Committed changes, for listeners in this process.
    pub live: Live,
    /// Derives and checks tokens, sessions and links.
    pub keys: Keys,
    /// The URLs of this server.
    pub urls: Urls,
    /// Rows and renderings in memory.
    pub caches: Caches,
    /// Tokens whose use is being recorded.
    pub recording_uses: RecordingUses,
    /// Permits for concurrent requests to the translation service; further requests are rejected.
    pub translation_requests: Semaphore,
    /// Plugins that are being loaded while the core serves.
    pub starting: Starting,
    /// The server is shutting down: it reports that it is not ready.
    pub stopping: AtomicBool,
    /// Uploaded and cached files.
    pub storage: Storage,
    /// Decodes images.
    pub sandbox: Sandbox,
    /// Converts video and audio.
    pub converter: Converter,
    /// The counters of rate limits.
    pub limits: Limits,
    pub mail: Mailer,
    /// The only client for requests to other servers.
    pub outbound: outbound::Client,
    /// Concurrency and back-off of sites that pages are fetched from.
    pub page_hosts: Hosts,
    /// Back-off of hosts that files are fetched from.
    pub media_hosts: Hosts,
    /// One fetch of a file at a time.
    pub remote_files: Turns,
    /// Fetches of files from one host.
    pub remote_hosts: Turns,
    /// Bytes of copies that this process stored since it looked at their budget.
    pub remote_bytes: AtomicU64,
    /// Files that are passed on, all in all, and of one host.
    pub passing: Turns,
    pub passing_hosts: Turns,
    /// Concurrency and back-off of push services.
    pub push_hosts: Hosts,
    /// Other servers: what they are sent, and what is found there.
    pub federation: Arc<dyn Federation>,
    /// Signs pushes; `None` disables push, since the stored key pair cannot be read.
    pub vapid: Option<Vapid>,
    settings: ArcSwap<Loaded>,
    /// Held while the data that an admin changes is read, so that an older read never replaces a newer one.
    reloading: tokio::sync::Mutex<()>,
}

/// Data that an admin changes while the server runs, as last read from the database.
#[derive(Clone, Debug, Default)]
struct Loaded {
    generation: i64,
    settings: Arc<Settings>,
    emojis: Arc<Emojis>,
    rules: Arc<Vec<Rule>>,
    domain_policy: Arc<DomainPolicy>,
    ip_blocks: Arc<IpBlocks>,
    words: Arc<crate::words::WordLists>,
}

/// The state of one request, job or command.
#[derive(Clone, Debug)]
struct Scope {
    extensions: Arc<dyn Extensions>,
    request_id: Option<RequestId>,
    /// The address of the client.
    client: Option<IpAddr>,
    origin: Origin,
    notes: Arc<Mutex<Notes>>,
    /// What may be caused at other servers; `None` where people of this server are the cause.
    budget: Option<Arc<Budget>>,
    /// Where the steps of lookups are recorded, if they are.
    steps: Option<Arc<Mutex<Vec<Step>>>>,
}

/// Values collected during a request and read when its response is finished.
#[derive(Clone, Debug, Default)]
struct Notes {
    spent: Option<Standing>,
    language: Option<Language>,
    browser: BrowserUser,
}

impl Scope {
    fn new(extensions: Arc<dyn Extensions>) -> Self {
        let origin = Origin::default();
        Self { extensions, request_id: None, client: None, origin, notes: Arc::default(), budget: None, steps: None }
    }
}

impl Deref for Cx {
    type Target = Services;
    fn deref(&self) -> &Services {
        &self.services
    }
}

impl Cx {
    /// Opens the database of `config`, migrates its schema and reads the settings. `executable` is this program,
    /// which runs again to decode images (see [`Sandbox::new`]).
    ///
    /// # Errors
    /// When the database, the secret key or the media folder is not available.
    pub async fn open(
        config: Config,
        clock: Clock,
        executable: &Path,
        extensions: Arc<dyn Extensions>,
        federation: Arc<dyn Federation>,
    ) -> Result<Self> {
        for folder in [&config.storage.data_dir, &config.storage.media_dir] {
            config::folder::make_private(folder).map_err(|error| closed(folder, &error))?;
        }
        let db = Db::open(&db_options(&config)).await?;
        database::migrate::run(&db).await?;
        let secret = crate::secret::load(&config, &db).await?;
        let (node, ids) = node::open(&db, &clock).await?;
        let keys = Keys::new(secret.expose().as_bytes());
        let vapid = crate::vapid::open(&db, &keys, clock.now()).await?;
        let services = Arc::new(Services {
            urls: urls(&config, &keys),
            storage: storage(&config, &keys).map_err(Error::internal)?,
            keys,
            caches: Caches::default(),
            recording_uses: RecordingUses::default(),
            translation_requests: Semaphore::new(TRANSLATION_REQUESTS),
            limits: Limits::default(),
            outbound: outbound::Client::new(&config.federation.allow_private_addresses),
            page_hosts: Hosts::new(hosts::PAGE_REQUESTS),
            media_hosts: Hosts::new(usize::MAX),
            remote_files: Turns::new(1),
            remote_hosts: Turns::new(FETCHES_OF_HOST),
            remote_bytes: AtomicU64::new(0),
            passing: Turns::new(PASSING),
            passing_hosts: Turns::new(PASSING / 4),
            push_hosts: Hosts::new(hosts::PUSH_REQUESTS),
            federation,
            vapid,
            mail: Mailer::new(&config).map_err(Error::internal)?,
            live: Live::default(),
            starting: Starting::default(),
            stopping: AtomicBool::new(false),
            settings: ArcSwap::default(),
            reloading: tokio::sync::Mutex::default(),
            sandbox: sandbox(&config, executable),
            converter: converter(&config, executable),
            config,
            db,
            clock,
            ids,
            node,
        });
        let cx = Self { services, scope: Arc::new(Scope::new(extensions)) };
        cx.reload().await?;
        Ok(cx)
    }

    /// Releases the leases of this process in the database, waits for running statements and closes every connection.
    pub async fn close(&self) {
        if let Err(error) = self.node.release().await {
            tracing::debug!(%error, "the number of this process for ids is left to expire");
        }
        self.db.close().await;
    }

    /// The context of a new request or job: pins its extensions and starts with no spent rate limits.
    #[must_use]
    pub fn begin(&self, request_id: Option<RequestId>) -> Self {
        let scope = Scope { request_id, ..Scope::new(self.scope.extensions.pinned()) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// As [`Cx::begin`], for a request of the client at the address `client`.
    #[must_use]
    pub fn begin_request(&self, request_id: RequestId, client: IpAddr) -> Self {
        let scope =
            Scope { request_id: Some(request_id), client: Some(client), ..Scope::new(self.scope.extensions.pinned()) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// The same context, whose requests to other servers take from `budget`.
    #[must_use]
    pub fn spending(&self, budget: Budget) -> Self {
        let scope = Scope { budget: Some(Arc::new(budget)), ..Scope::clone(&self.scope) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// The budget of requests to other servers, if this context has one.
    #[must_use]
    pub fn budget(&self) -> Option<&Budget> {
        self.scope.budget.as_deref()
    }

    /// The same context, which records the steps of lookups at other servers.
    #[must_use]
    pub fn recording_steps(&self) -> Self {
        let scope = Scope { steps: Some(Arc::default()), ..Scope::clone(&self.scope) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// Records a step of a lookup, if this context records them. A step is recorded once in a row.
    pub fn step(&self, name: &'static str, passed: bool, text: impl FnOnce() -> String) {
        let Some(steps) = &self.scope.steps else { return };
        let step = Step { name, passed, text: text() };
        let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }

    /// The steps that this context recorded so far.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let recorded = self.scope.steps.as_ref();
        recorded.map(|steps| steps.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// The same context with `origin` as the cause of its operations.
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        let scope = Scope { origin, ..Scope::clone(&self.scope) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// The same context with other extensions: the current ones, if a request waited for them.
    #[must_use]
    pub fn with_extensions(&self, extensions: Arc<dyn Extensions>) -> Self {
        let scope = Scope { extensions, ..Scope::clone(&self.scope) };
        Self { services: Arc::clone(&self.services), scope: Arc::new(scope) }
    }

    /// The extensions: pinned in a request or a job, otherwise the current ones.
    #[must_use]
    pub fn extensions(&self) -> &Arc<dyn Extensions> {
        &self.scope.extensions
    }

    /// The id of the current request; `None` outside of a request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.scope.request_id.as_ref().map(RequestId::as_str)
    }

    /// The address of the client of the current request; `None` outside of a request.
    #[must_use]
    pub fn client(&self) -> Option<IpAddr> {
        self.scope.client
    }

    /// The severity of the block that covers the client's address; `None` without a block, and outside of a request.
    #[must_use]
    pub fn client_block(&self) -> Option<IpSeverity> {
        self.scope.client.and_then(|client| self.settings.load().ip_blocks.severity(client, self.clock.now()))
    }

    /// The plugins that caused the operations of this context.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.scope.origin
    }

    /// Records the standing of a rate limit that a service spent, for the response headers: the lowest remaining
    /// count wins.
    pub fn note_spent(&self, standing: Standing) {
        let mut notes = self.notes();
        if notes.spent.is_none_or(|before| standing.remaining <= before.remaining) {
            notes.spent = Some(standing);
        }
    }

    /// The lowest standing among the rate limits spent by services for this request.
    #[must_use]
    pub fn spent(&self) -> Option<Standing> {
        self.notes().spent
    }

    /// The language of the page being rendered: the one set by [`Cx::speak`], otherwise the server's default.
    #[must_use]
    pub fn language(&self) -> Language {
        self.notes().language.or_else(|| Language::of(self.config.server.locale.as_str())).unwrap_or_default()
    }

    /// Sets the language of this request's page, replacing an earlier choice.
    pub fn speak(&self, language: Language) {
        self.notes().language = Some(language);
    }

    /// The user of the browser that sent this request, as far as the request asked.
    #[must_use]
    pub fn browser_user(&self) -> BrowserUser {
        self.notes().browser.clone()
    }

    /// Records the user of the browser, for the header of the page.
    pub fn note_browser_user(&self, user: BrowserUser) {
        self.notes().browser = user;
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.scope.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.load().settings)
    }

    /// The compiled patterns of the settings, as last read.
    #[must_use]
    pub fn words(&self) -> Arc<crate::words::WordLists> {
        Arc::clone(&self.settings.load().words)
    }

    /// Grows with every change that an admin makes while the server runs; as last read.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.settings.load().generation
    }

    /// This server's own emojis.
    #[must_use]
    pub fn emojis(&self) -> Arc<Emojis> {
        Arc::clone(&self.settings.load().emojis)
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> Arc<Vec<Rule>> {
        Arc::clone(&self.settings.load().rules)
    }

    /// The policy about other servers.
    #[must_use]
    pub fn domain_policy(&self) -> Arc<DomainPolicy> {
        Arc::clone(&self.settings.load().domain_policy)
    }

    /// Drops cached rows that another process may have changed; true when settings, rules, emojis, the domain policy or
    /// blocked networks changed and were read again. On failure the previous values stay.
    pub async fn invalidate(&self) -> Result<bool> {
        self.db.notice_other_processes().await?;
        self.reload().await
    }

    /// Reads settings, rules, emojis, the domain policy and blocked networks again if they changed since they were last
    /// read; true when they did. On failure the previous values stay.
    pub async fn reload(&self) -> Result<bool> {
        let _one_at_a_time = self.reloading.lock().await;
        let generation = store::settings::generation(&self.db).await?;
        if generation == self.settings.load().generation {
            return Ok(false);
        }
        let settings = Arc::new(store::settings::load(&self.db).await?);
        let words = crate::words::WordLists::reload(&self.words(), &self.settings(), &settings);
        let emojis = store::emoji::list_local_enabled(&self.db).await?;
        let by_shortcode = emojis.into_iter().map(|emoji| (emoji.shortcode.clone(), emoji)).collect();
        let emojis = Arc::new(Emojis { by_shortcode, generation });
        let rules = Arc::new(store::instance::rules(&self.db).await?);
        let domain_policy = Arc::new(store::domain_policy::load(&self.db).await?);
        let ip_blocks = Arc::new(store::ip_block::load(&self.db).await?);
        self.settings.store(Arc::new(Loaded { generation, settings, emojis, rules, domain_policy, ip_blocks, words }));
        Ok(true)
    }
}

fn closed(folder: &Path, error: &std::io::Error) -> Error {
    Error::internal(format!("{} cannot be made, or closed to other users: {error}", folder.display()))
}

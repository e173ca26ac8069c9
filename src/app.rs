//! Everything a use case needs, in one cheap handle: configuration, database, clock, ids, events, caches.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::ArcSwap;

use crate::entity::cache::Cache;
use crate::error::{Error, Result};
use crate::event::Events;
use crate::plugins::Plugins;
use crate::service::instance::Figures;
use crate::service::limits::Limits;
use config::{Config, Scheme};
use crypto::Keys;
use mail::Mailer;
use media::Sandbox;
use media::storage::Storage;
use model::clock::{Clock, Ids};
use model::instance::Rule;
use model::urls::Urls;
use model::{Emojis, Settings};
use store::{Db, db};

/// The server's parts. Cloning copies a pointer.
#[derive(Clone, Debug)]
pub struct App(Arc<Parts>);

/// What [`App`] derefs to.
#[derive(Debug)]
pub struct Parts {
    /// What an admin set before the start.
    pub config: Config,
    /// The database.
    pub db: Db,
    /// The time.
    pub clock: Clock,
    /// New ids.
    pub ids: Ids,
    /// What happened, for whoever listens in this process.
    pub events: Events,
    /// Derives and checks tokens, sessions and links.
    pub keys: Keys,
    /// Addresses of this server's things.
    pub urls: Urls,
    /// Rendered entities.
    pub cache: Cache,
    /// Figures of the whole server.
    pub figures: Figures,
    /// The server was asked to stop: it is not ready for more.
    pub stopping: AtomicBool,
    /// Uploaded and cached files.
    pub storage: Storage,
    /// Where images are decoded.
    pub sandbox: Sandbox,
    /// How often anyone did something lately.
    pub limits: Limits,
    /// Where mail goes.
    pub mail: Mailer,
    /// The one way out to other servers.
    pub fetch: outbound::Client,
    /// What runs beyond the core.
    pub plugins: Plugins,
    live: ArcSwap<Live>,
}

/// What an admin changes while the server runs, as last read from the database.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Grows with every change.
    pub generation: i64,
    /// The settings.
    pub settings: Arc<Settings>,
    /// This server's own emojis.
    pub emojis: Arc<Emojis>,
    /// The rules, in order.
    pub rules: Arc<Vec<Rule>>,
}

impl Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Opens the database of `config`, brings its schema up to date and reads the settings. `executable` is this
    /// program, which is run again to decode images (see [`Sandbox::new`]).
    ///
    /// # Errors
    /// When the database, the secret key or the folder of media cannot be had.
    pub async fn start(config: Config, clock: Clock, executable: &Path) -> Result<Self> {
        let db = Db::open(&db_options(&config)).await?;
        store::migrate::run(&db).await?;
        Self::with_db(config, clock, db, executable).await
    }

    /// As [`App::start`], on a database that is open and up to date.
    ///
    /// # Errors
    /// When the database, the secret key or the folder of media cannot be had.
    pub async fn with_db(config: Config, clock: Clock, db: Db, executable: &Path) -> Result<Self> {
        let secret = config::secrets::load_or_create(&config).map_err(Error::internal)?;
        std::fs::create_dir_all(&config.storage.media_dir).map_err(Error::internal)?;
        let ids = Ids::new(clock.clone(), 0);
        let app = Self(Arc::new(Parts {
            urls: urls(&config),
            keys: Keys::new(secret.expose().as_bytes()),
            cache: Cache::default(),
            limits: Limits::default(),
            fetch: outbound::Client::new(&config.federation.allow_private_addresses),
            plugins: Plugins::new(clock.clone(), config.server.development),
            mail: Mailer::new(&config).map_err(Error::internal)?,
            events: Events::default(),
            figures: Figures::default(),
            stopping: AtomicBool::new(false),
            live: ArcSwap::default(),
            storage: Storage::open(&config.storage.media_dir).map_err(Error::internal)?,
            sandbox: sandbox(&config, executable),
            config,
            db,
            clock,
            ids,
        }));
        app.reload().await?;
        Ok(app)
    }

    /// The settings of now.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.live.load().settings)
    }

    /// Grows with every change of what an admin decides while the server runs; as last read.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.live.load().generation
    }

    /// This server's own emojis of now.
    #[must_use]
    pub fn emojis(&self) -> Arc<Emojis> {
        Arc::clone(&self.live.load().emojis)
    }

    /// The rules of now, in order.
    #[must_use]
    pub fn rules(&self) -> Arc<Vec<Rule>> {
        Arc::clone(&self.live.load().rules)
    }

    /// Reads settings, rules and emojis again if they changed since the last look; true when they did.
    ///
    /// # Errors
    /// When the database does; what was read before stays.
    pub async fn reload(&self) -> Result<bool> {
        let generation = store::settings::generation(&self.db).await?;
        if generation == self.live.load().generation {
            return Ok(false);
        }
        let settings = Arc::new(store::settings::load(&self.db).await?);
        let emojis = store::emoji::list_local_enabled(&self.db).await?;
        let by_shortcode = emojis.into_iter().map(|emoji| (emoji.shortcode.clone(), emoji)).collect();
        let emojis = Arc::new(Emojis { by_shortcode, generation });
        let rules = Arc::new(store::instance::rules(&self.db).await?);
        self.live.store(Arc::new(Live { generation, settings, emojis, rules }));
        Ok(true)
    }
}

/// How `config` says to reach the database.
#[must_use]
pub fn db_options(config: &Config) -> db::Options {
    db::Options {
        url: config.database.url.expose().to_owned(),
        max_connections: config.database.max_connections,
        acquire_timeout: Duration::from_secs(config.database.acquire_timeout_seconds),
    }
}

fn sandbox(config: &Config, executable: &Path) -> Sandbox {
    let timeout = Duration::from_secs(config.media.decode_timeout_seconds);
    Sandbox::new(executable).with_limits(config.media.max_concurrent_decodes, timeout)
}

fn urls(config: &Config) -> Urls {
    let scheme = match config.server.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    Urls {
        origin: format!("{scheme}://{}", config.server.web_domain),
        local_domain: config.server.local_domain.as_str().to_owned(),
        web_domain: config.server.web_domain.as_str().to_owned(),
    }
}

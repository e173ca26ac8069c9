//! The core's context with the plugins beside it, and the plugins as the core's port for extensions.
//!
//! A [`Session`] implements the core's port: the plugins of this process, pinned to one [`Registry`] for the length of
//! a request or job. [`Cx`] is a core context together with its session, which everything in this crate takes.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::{Plugins, Registry};
use context::extension::Extensions;
use context::{Error, Origin, Result};
use model::job::Lane;

/// The core's context, and the plugins that it was made with.
#[derive(Clone, Debug)]
pub struct Cx {
    core: context::Cx,
    /// The plugins of this process.
    pub plugins: Arc<Plugins>,
    session: Arc<Session>,
}

impl Deref for Cx {
    type Target = context::Cx;
    fn deref(&self) -> &context::Cx {
        &self.core
    }
}

impl Cx {
    /// The context `core`, whose extensions are plugins.
    ///
    /// # Errors
    /// [`Error::Internal`] when they are something else, which is a bug.
    pub fn of(core: &context::Cx) -> Result<Self> {
        Self::find(core).ok_or_else(|| Error::internal("this server was made without plugins"))
    }

    /// As [`Cx::of`]; `None` on a server without the platform.
    #[must_use]
    pub fn find(core: &context::Cx) -> Option<Self> {
        let extensions: Arc<dyn Any + Send + Sync> = Arc::clone(core.extensions()) as _;
        let session = extensions.downcast::<Session>().ok()?;
        Some(Self { core: core.clone(), plugins: Arc::clone(&session.plugins), session })
    }

    /// The registry of this request or job, or the latest one outside of both.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.session.registry()
    }

    /// As [`context::Cx::begin`].
    #[must_use]
    pub fn begin(&self) -> Self {
        self.on(Arc::new(self.session.pin()))
    }

    /// The same request on the registry of now, where it waited for another generation; its budget for hooks goes on.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let Session { plugins, pinned } = &*self.session;
        let spent = pinned.as_ref().map_or_else(Arc::default, |pinned| Arc::clone(&pinned.spent));
        let pinned = Some(Pinned { registry: plugins.latest(), spent });
        self.on(Arc::new(Session { plugins: Arc::clone(plugins), pinned }))
    }

    /// As [`context::Cx::with_origin`].
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        Self { core: self.core.with_origin(origin), ..self.clone() }
    }

    /// The context of a request; for layers and handlers of this crate.
    ///
    /// # Errors
    /// 500, as for [`Cx::of`].
    pub fn of_request(extensions: &axum::http::Extensions) -> rookery_http::Result<Self> {
        Ok(Self::of(&*rookery_http::Cx::of(extensions)?)?)
    }

    fn on(&self, session: Arc<Session>) -> Self {
        let core = self.core.with_extensions(Arc::clone(&session) as _);
        Self { core, plugins: Arc::clone(&self.plugins), session }
    }

    /// What hooks may still take of this request's time; outside of one everything.
    #[must_use]
    pub fn hook_time_left(&self) -> Duration {
        let spent = self.session.pinned.as_ref().map_or(0, |pinned| pinned.spent.load(Ordering::Relaxed));
        self.plugins.hook_limits.remaining_after(Duration::from_micros(spent))
    }

    /// Waits for `work`, at the expense of the request's time for hooks.
    pub async fn spend_hook_time<F: Future>(&self, work: F) -> F::Output {
        let began = Instant::now();
        let output = work.await;
        if let Some(pinned) = &self.session.pinned {
            let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            pinned.spent.fetch_add(took, Ordering::Relaxed);
        }
        output
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Cx {
    type Rejection = rookery_http::ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> rookery_http::Result<Self> {
        Self::of_request(&parts.extensions)
    }
}

impl rookery_http::operation::Describe for Cx {}

/// The plugins of this process as the core sees them.
#[derive(Debug)]
pub struct Session {
    pub(crate) plugins: Arc<Plugins>,
    /// None outside of requests and jobs.
    pinned: Option<Pinned>,
}

/// What belongs to one request or job.
#[derive(Debug)]
struct Pinned {
    registry: Arc<Registry>,
    /// Microseconds that hooks took so far.
    spent: Arc<AtomicU64>,
}

impl Session {
    /// `plugins` as they are at any time.
    #[must_use]
    pub fn new(plugins: Arc<Plugins>) -> Self {
        Self { plugins, pinned: None }
    }

    fn pin(&self) -> Self {
        let pinned = Pinned { registry: self.plugins.latest(), spent: Arc::default() };
        Self { plugins: Arc::clone(&self.plugins), pinned: Some(pinned) }
    }

    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.pinned.as_ref().map_or_else(|| self.plugins.latest(), |pinned| Arc::clone(&pinned.registry))
    }

    /// Asks `question` about the registry, which is not cloned where one is pinned.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Registry) -> T) -> T {
        match &self.pinned {
            Some(pinned) => question(&pinned.registry),
            None => question(&self.plugins.latest()),
        }
    }
}

impl Extensions for Session {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(self.pin())
    }

    fn generation(&self) -> u64 {
        self.ask(|registry| registry.generation)
    }

    fn has_pages(&self) -> bool {
        true
    }
}

/// The lane of all jobs of plugins.
pub(crate) const LANE: Lane = Lane::Plugin;

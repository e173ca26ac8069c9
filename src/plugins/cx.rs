//! The core's context with the plugins beside it, and the plugins as the core's port for extensions.
//!
//! A [`Session`] is what the core holds behind its port: the plugins of this process, pinned to one [`Registry`] for the
//! length of a request or job. [`Cx`] is a core context together with its session, which everything in this crate takes.

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::{Map, Value};

use crate::manifest::{Manifest, Moment};
use crate::{Plugins, Registry, hooks, jobs, routes};
use database::Tx;
use model::job::Lane;
use model::notification::NotificationKind;
use model::{AccountId, Actor, StatusId};
use rookery_core::change::{self, Change};
use rookery_core::extension::Notice;
use rookery_core::extension::{
    Admission, CleanupException, DeclaredScope, Decorations, Described, Document, Extensions, Judgement, MarkedPage,
    NotificationTraits, PendingStatus, Target, Topic, Versions,
};
use rookery_core::messages::Language;
use rookery_core::queue::{Done, Failure};
use rookery_core::{Error, Origin, Result};
use store::job::JobRow;

/// The core's context, and the plugins that it was made with.
#[derive(Clone, Debug)]
pub struct Cx {
    core: rookery_core::Cx,
    /// The plugins of this process.
    pub plugins: Arc<Plugins>,
    session: Arc<Session>,
}

impl Deref for Cx {
    type Target = rookery_core::Cx;
    fn deref(&self) -> &rookery_core::Cx {
        &self.core
    }
}

impl Cx {
    /// The context `core`, whose extensions are plugins.
    ///
    /// # Errors
    /// [`Error::Internal`] when they are something else, which is a bug.
    pub fn of(core: &rookery_core::Cx) -> Result<Self> {
        let extensions: Arc<dyn Any + Send + Sync> = Arc::clone(core.extensions()) as _;
        let session = extensions.downcast::<Session>();
        let session = session.map_err(|_| Error::internal("this server was made without plugins"))?;
        Ok(Self { core: core.clone(), plugins: Arc::clone(&session.plugins), session })
    }

    /// The registry of this request or job, or that of now outside of one.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.session.registry()
    }

    /// As [`rookery_core::Cx::begin`].
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

    /// As [`rookery_core::Cx::with_origin`].
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        Self { core: self.core.with_origin(origin), ..self.clone() }
    }

    /// The context of a request; for layers and handlers of this crate.
    ///
    /// # Errors
    /// 500, as for [`Cx::of`].
    pub fn of_request(extensions: &axum::http::Extensions) -> http::Result<Self> {
        Ok(Self::of(&*http::Cx::of(extensions)?)?)
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
    type Rejection = http::ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> http::Result<Self> {
        Self::of_request(&parts.extensions)
    }
}

impl http::operation::Describe for Cx {}

/// The plugins of this process as the core sees them.
#[derive(Debug)]
pub struct Session {
    plugins: Arc<Plugins>,
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

    fn registry(&self) -> Arc<Registry> {
        self.pinned.as_ref().map_or_else(|| self.plugins.latest(), |pinned| Arc::clone(&pinned.registry))
    }

    /// Asks `question` about the registry, which is not cloned where one is pinned.
    fn ask<T>(&self, question: impl FnOnce(&Registry) -> T) -> T {
        match &self.pinned {
            Some(pinned) => question(&pinned.registry),
            None => question(&self.plugins.latest()),
        }
    }
}

#[async_trait]
impl Extensions for Session {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(self.pin())
    }

    fn generation(&self) -> u64 {
        self.ask(|registry| registry.generation)
    }

    fn channel_generation(&self, name: &str) -> Option<u64> {
        self.ask(|registry| Some(registry.hooks.channel(name)?.active.generation))
    }

    async fn open_channel(
        &self,
        cx: &rookery_core::Cx,
        actor: &Arc<Actor>,
        name: &str,
        params: Vec<(String, String)>,
    ) -> Result<Vec<Topic>> {
        hooks::open_channel(&Cx::of(cx)?, actor, name, params).await
    }

    fn openapi_paths(&self) -> Map<String, Value> {
        self.ask(|registry| routes::openapi::paths(&registry.routes, registry.hooks.channels()))
    }

    fn openapi_entities(&self) -> Map<String, Value> {
        self.ask(|registry| routes::openapi::entities(&registry.routes))
    }

    fn listens_to(&self, kind: change::ChangeKind) -> bool {
        self.plugins.run_elsewhere() || self.ask(|registry| hooks::listens_to(registry, kind))
    }

    async fn record(&self, cx: &rookery_core::Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
        if !self.plugins.run_elsewhere() && self.ask(|registry| registry.hooks.listeners().is_empty()) {
            return Ok(());
        }
        hooks::record(&Cx::of(cx)?, tx, changes).await
    }

    fn filters_drafts(&self) -> bool {
        self.ask(|registry| !registry.hooks.at(Moment::StatusFilter).is_empty())
    }

    fn owns_visibility(&self, word: &str) -> bool {
        self.ask(|registry| registry.hooks.at(Moment::StatusFilter).iter().any(|hook| hook.has_kind(word)))
    }

    fn visibilities(&self) -> Vec<String> {
        self.ask(|registry| {
            registry.hooks.at(Moment::StatusFilter).iter().flat_map(|hook| hook.kinds.clone()).collect()
        })
    }

    fn visibility_title(&self, word: &str, language: Language) -> Option<String> {
        self.ask(|registry| {
            let hooks = registry.plugins.iter().flat_map(|active| &active.manifest.hooks);
            let titles = hooks.filter(|hook| hook.on == Moment::StatusFilter).find_map(|hook| hook.titles.get(word))?;
            titles.get(language.code()).or_else(|| titles.get("en")).cloned()
        })
    }

    async fn filter_draft(
        &self,
        cx: &rookery_core::Cx,
        actor: &Actor,
        draft: PendingStatus,
        params: &Map<String, Value>,
        visibility: Option<&str>,
    ) -> Result<PendingStatus> {
        hooks::filter(&Cx::of(cx)?, actor, draft, params, visibility).await
    }

    fn sign_up_params(&self) -> Vec<String> {
        self.ask(|registry| {
            registry.hooks.at(Moment::SignUp).iter().flat_map(|hook| hook.params.iter().cloned()).collect()
        })
    }

    async fn judge_sign_up(&self, cx: &rookery_core::Cx, params: &Map<String, Value>) -> Result<Option<Admission>> {
        hooks::sign_up::judge(&Cx::of(cx)?, params).await
    }

    async fn claim_sign_up(
        &self,
        cx: &rookery_core::Cx,
        admission: &Admission,
        params: &Map<String, Value>,
        account: AccountId,
    ) -> Result<Option<(Tx, Admission)>> {
        hooks::sign_up::claim(&Cx::of(cx)?, admission, params, account).await
    }

    fn decorates(&self, kind: &str) -> bool {
        self.ask(|registry| registry.hooks.decorators(kind).next().is_some())
    }

    async fn decorate(
        &self,
        cx: &rookery_core::Cx,
        viewer: Option<&Actor>,
        kind: &str,
        targets: Vec<Target>,
        versions: &[Versions],
    ) -> Decorations {
        match Cx::of(cx) {
            Ok(cx) => hooks::decorate(&cx, viewer, kind, targets, versions).await,
            Err(_) => Decorations::default(),
        }
    }

    fn notification_types(&self) -> Vec<String> {
        self.ask(|registry| registry.hooks.notification_names().map(str::to_owned).collect())
    }

    fn notification_type(&self, name: &str) -> Option<NotificationTraits> {
        self.ask(|registry| {
            let declared = registry.hooks.notification(name)?;
            let (groupable, filterable) = (declared.groupable, declared.filterable);
            Some(NotificationTraits { groupable, filterable, from_self: false })
        })
    }

    fn notification_title(&self, name: &str, language: Language) -> Option<String> {
        self.ask(|registry| {
            let titles = &registry.hooks.notification(name)?.titles;
            titles.get(language.code()).or_else(|| titles.get("en")).cloned()
        })
    }

    fn judges(&self, kind: &NotificationKind, origin: &Origin) -> bool {
        self.ask(|registry| hooks::judges(registry, kind, origin))
    }

    async fn judge(&self, cx: &rookery_core::Cx, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
        match Cx::of(cx) {
            Ok(cx) => hooks::judge(&cx, notices).await,
            Err(_) => vec![Judgement::default(); notices.len()],
        }
    }

    fn search_words(&self) -> Vec<String> {
        self.ask(hooks::search_words)
    }

    async fn marked(
        &self,
        cx: &rookery_core::Cx,
        viewer: AccountId,
        word: Option<&str>,
        statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        hooks::marked(&Cx::of(cx)?, viewer, word, statuses).await
    }

    async fn list_marked(
        &self,
        cx: &rookery_core::Cx,
        viewer: AccountId,
        word: Option<&str>,
        page: MarkedPage,
    ) -> Result<Vec<StatusId>> {
        hooks::list_marked(&Cx::of(cx)?, viewer, word, page).await
    }

    fn cleanup_exceptions(&self) -> Vec<CleanupException> {
        self.ask(hooks::exceptions)
    }

    async fn kept_from_cleanup(
        &self,
        cx: &rookery_core::Cx,
        account: AccountId,
        chosen: &BTreeMap<String, i64>,
        statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        hooks::kept(&Cx::of(cx)?, account, chosen, statuses).await
    }

    async fn describe(&self, cx: &rookery_core::Cx, document: Document, json: String) -> Described {
        match Cx::of(cx) {
            Ok(cx) => hooks::instance::described(&cx, document, json).await,
            Err(_) => Described { text: json, complete: false },
        }
    }

    async fn job_kinds(&self, cx: &rookery_core::Cx) -> Result<Vec<String>> {
        let registry = self.registry();
        if registry.plugins.is_empty() {
            return Ok(Vec::new());
        }
        let cx = Cx::of(cx)?;
        jobs::schedule(&cx, &registry).await?;
        Ok(jobs::kinds(&cx, &registry))
    }

    fn scopes(&self) -> Vec<DeclaredScope> {
        self.ask(|registry| {
            let mut plugins: Vec<_> = registry.plugins.iter().collect();
            plugins.sort_unstable_by_key(|active| active.name());
            declared(plugins.into_iter().map(|active| &active.manifest))
        })
    }

    async fn stored_scopes(&self, cx: &rookery_core::Cx) -> Result<Vec<DeclaredScope>> {
        if !self.plugins.run_elsewhere() {
            return Ok(self.scopes());
        }
        let stored = store::plugin::list_manifests(&cx.db).await?;
        let manifests: Vec<_> = stored.iter().filter_map(|(_, text, _)| crate::manifest::parse(text).ok()).collect();
        Ok(declared(manifests.iter()))
    }

    fn has_pages(&self) -> bool {
        true
    }

    fn owns_job(&self, kind: &str) -> bool {
        jobs::plugin_of(kind).is_some()
    }

    async fn run_job(&self, cx: &rookery_core::Cx, row: JobRow) -> Result<Done, Failure> {
        jobs::run(&Cx::of(cx)?, row).await
    }
}

/// The scopes of these manifests; of two with the same name the first counts.
fn declared<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Vec<DeclaredScope> {
    let mut scopes: Vec<DeclaredScope> = Vec::new();
    for scope in manifests.flat_map(|manifest| &manifest.scopes) {
        if !scopes.iter().any(|known| known.name == scope.name) {
            scopes.push(DeclaredScope { name: scope.name.clone(), description: scope.description.clone() });
        }
    }
    scopes
}

/// The lane of all jobs of plugins.
pub(crate) const LANE: Lane = Lane::Plugin;

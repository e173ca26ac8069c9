//! A loaded plugin: one method for each function that the contract lets a plugin export.
//!
//! Reached from `src/plugins`, which chooses the function and uses the result. All calls go through
//! `call`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::bindings::exports::{
    activity_filter, activity_handler, decorate, events, jobs, lifecycle, notification_filter, pages, routes, sign_up,
    status_filter,
};
use crate::bindings::imports::feeds::Entry;
use crate::bindings::imports::types::{CallContext, Failure, Status};
use crate::byte_size::ByteSize;
use crate::call::{CallRequest, GuestFuture, Runner, one_line};
use crate::contract::{Export, Import};
use crate::error::CallError;
use crate::host::Host;
use crate::instance::Live;
use crate::limits::Limits;
use crate::part::Part;
use crate::plugin_metrics::{BreakerReport, CallKind, Stats};
use crate::pool::Pool;
use crate::validate::Interfaces;

/// Everything that [`Engine::load`](crate::Engine::load) needs of a plugin.
#[derive(Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Package {
    pub name: String,
    pub version: String,
    pub wasm: Arc<[u8]>,
    /// The exports that the manifest declares; `lifecycle` and `instance-info` need no declaration.
    pub exports: BTreeSet<Export>,
    /// The imports that the manifest asks for and the admin granted.
    pub granted: BTreeSet<Import>,
    pub limits: Limits,
    pub environment: lifecycle::Environment,
}

/// One generation of a loaded plugin. Cheap to clone.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    version: String,
    interfaces: Interfaces,
    runner: Runner,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("name", &self.name()).field("version", &self.version()).finish_non_exhaustive()
    }
}

/// One method for each exported function: takes a [`Host`] for this call alone, and the parameters of the contract.
#[expect(missing_docs, clippy::missing_errors_doc, reason = "documented by the contract; errors are CallError")]
impl Plugin {
    pub async fn self_test(&self, host: Arc<dyn Host>) -> Result<(), CallError> {
        if !self.interfaces().exports.contains(&Export::Lifecycle) {
            return Ok(());
        }
        let order = CallRequest { host, kind: CallKind::Lifecycle, name: "self-test", bytes: 0 };
        self.call(order, |live| {
            Box::pin(async move {
                let answer = live.lifecycle()?.call_self_test(&mut live.store).await?;
                Ok(answer.map_err(|text| Failure {
                    status: 500,
                    code: "self-test".to_owned(),
                    message: one_line(&text),
                    detail: None,
                }))
            })
        })
        .await
    }

    pub async fn route(&self, host: Arc<dyn Host>, request: routes::Request) -> Result<routes::Response, CallError> {
        let (name, bytes) = (request.route.clone(), request.total_bytes());
        let order = CallRequest { host, kind: CallKind::Route, name: &name, bytes };
        self.call(order, move |live| {
            Box::pin(async move { live.routes()?.call_handle(&mut live.store, &request).await })
        })
        .await
    }

    pub async fn status_filter(
        &self,
        host: Arc<dyn Host>,
        context: CallContext,
        draft: status_filter::Draft,
    ) -> Result<status_filter::Verdict, CallError> {
        let order = hook(host, Export::StatusFilter, context.total_bytes() + draft.total_bytes());
        self.call(order, move |live| {
            Box::pin(async move { live.status_filter()?.call_before_save(&mut live.store, &context, &draft).await })
        })
        .await
    }

    pub async fn judge_sign_up(
        &self,
        host: Arc<dyn Host>,
        context: CallContext,
        params: String,
    ) -> Result<Option<sign_up::Admission>, CallError> {
        let order = hook(host, Export::SignUp, context.total_bytes() + params.total_bytes());
        self.call(order, move |live| {
            Box::pin(async move { live.sign_up()?.call_judge(&mut live.store, &context, &params).await })
        })
        .await
    }

    pub async fn claim_sign_up(
        &self,
        host: Arc<dyn Host>,
        context: CallContext,
        params: String,
        account: i64,
    ) -> Result<Option<sign_up::Admission>, CallError> {
        let order = hook(host, Export::SignUp, context.total_bytes() + params.total_bytes());
        self.call(order, move |live| {
            Box::pin(async move { live.sign_up()?.call_claim(&mut live.store, &context, &params, account).await })
        })
        .await
    }

    pub async fn page(&self, host: Arc<dyn Host>, request: pages::Request) -> Result<pages::View, CallError> {
        let (name, bytes) = (request.page.clone(), request.total_bytes());
        let order = CallRequest { host, kind: CallKind::Route, name: &name, bytes };
        self.call(order, move |live| Box::pin(async move { live.pages()?.call_show(&mut live.store, &request).await }))
            .await
    }

    pub async fn submit(
        &self,
        host: Arc<dyn Host>,
        request: pages::Request,
        submission: pages::Submission,
    ) -> Result<pages::Outcome, CallError> {
        let (name, bytes) = (request.page.clone(), request.total_bytes() + submission.total_bytes());
        let order = CallRequest { host, kind: CallKind::Route, name: &name, bytes };
        self.call(order, move |live| {
            Box::pin(async move { live.pages()?.call_submit(&mut live.store, &request, &submission).await })
        })
        .await
    }

    pub async fn events(&self, host: Arc<dyn Host>, batch: Vec<events::Event>) -> Result<(), CallError> {
        self.call(hook(host, Export::Events, batch.total_bytes()), move |live| {
            Box::pin(async move { live.events()?.call_handle(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn notification_filter(
        &self,
        host: Arc<dyn Host>,
        batch: Vec<notification_filter::Draft>,
    ) -> Result<Vec<u8>, CallError> {
        self.call(hook(host, Export::NotificationFilter, batch.total_bytes()), move |live| {
            Box::pin(async move { live.notification_filter()?.call_judge(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn activities_inbound(
        &self,
        host: Arc<dyn Host>,
        batch: Vec<activity_filter::Envelope>,
    ) -> Result<Vec<activity_filter::Verdict>, CallError> {
        self.call(hook(host, Export::ActivityFilter, batch.total_bytes()), move |live| {
            Box::pin(async move { live.activity_filter()?.call_inbound(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn activities_outbound(
        &self,
        host: Arc<dyn Host>,
        batch: Vec<activity_filter::Envelope>,
    ) -> Result<Vec<activity_filter::Verdict>, CallError> {
        self.call(hook(host, Export::ActivityFilter, batch.total_bytes()), move |live| {
            Box::pin(async move { live.activity_filter()?.call_outbound(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn activities_handle(
        &self,
        host: Arc<dyn Host>,
        batch: Vec<activity_handler::Incoming>,
    ) -> Result<Vec<Result<(), Failure>>, CallError> {
        self.call(hook(host, Export::ActivityHandler, batch.total_bytes()), move |live| {
            Box::pin(async move { live.activity_handler()?.call_handle(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn fanout(&self, host: Arc<dyn Host>, batch: Vec<Status>) -> Result<Vec<Entry>, CallError> {
        self.call(hook(host, Export::Fanout, batch.total_bytes()), move |live| {
            Box::pin(async move { live.fanout()?.call_select(&mut live.store, &batch).await })
        })
        .await
    }

    pub async fn decorate(
        &self,
        host: Arc<dyn Host>,
        viewer: Option<i64>,
        kind: &str,
        targets: Vec<decorate::Target>,
    ) -> Result<Vec<decorate::Extra>, CallError> {
        let kind = kind.to_owned();
        self.call(hook(host, Export::Decorate, targets.total_bytes()), move |live| {
            Box::pin(async move { live.decorate()?.call_decorate(&mut live.store, viewer, &kind, &targets).await })
        })
        .await
    }

    pub async fn channel(
        &self,
        host: Arc<dyn Host>,
        context: CallContext,
        channel: &str,
        params: Vec<(String, String)>,
    ) -> Result<Vec<String>, CallError> {
        let channel = channel.to_owned();
        self.call(hook(host, Export::Channels, context.total_bytes() + params.total_bytes()), move |live| {
            Box::pin(async move { live.channels()?.call_subscribe(&mut live.store, &context, &channel, &params).await })
        })
        .await
    }

    pub async fn job(&self, host: Arc<dyn Host>, task: jobs::Task) -> Result<jobs::Outcome, CallError> {
        let (name, bytes) = (task.kind.clone(), task.total_bytes());
        let order = CallRequest { host, kind: CallKind::Job, name: &name, bytes };
        self.call(order, move |live| Box::pin(async move { live.jobs()?.call_run(&mut live.store, &task).await })).await
    }

    pub async fn instance_info(&self, host: Arc<dyn Host>, document: &str) -> Result<Vec<(String, String)>, CallError> {
        let document = document.to_owned();
        self.call(hook(host, Export::InstanceInfo, document.total_bytes()), move |live| {
            Box::pin(async move { live.instance_info()?.call_contribute(&mut live.store, &document).await })
        })
        .await
    }

    pub async fn command(
        &self,
        host: Arc<dyn Host>,
        context: CallContext,
        name: &str,
        args: String,
    ) -> Result<String, CallError> {
        let command = name.to_owned();
        let order =
            CallRequest { host, kind: CallKind::Command, name, bytes: context.total_bytes() + args.total_bytes() };
        self.call(order, move |live| {
            Box::pin(async move { live.admin()?.call_command(&mut live.store, &context, &command, &args).await })
        })
        .await
    }
}

/// The call of a hook, whose name is the name of its interface.
fn hook(host: Arc<dyn Host>, export: Export, bytes: usize) -> CallRequest<'static> {
    CallRequest { host, kind: CallKind::Hook, name: export.name(), bytes }
}

impl Plugin {
    pub(crate) fn new(version: String, interfaces: Interfaces, runner: Runner) -> Self {
        Self(Arc::new(Inner { version, interfaces, runner }))
    }

    async fn call<R: ByteSize + Send>(
        &self,
        order: CallRequest<'_>,
        work: impl for<'a> FnOnce(&'a mut Live) -> GuestFuture<'a, R> + Send,
    ) -> Result<R, CallError> {
        self.0.runner.call(order, work).await
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.runner.plugin
    }

    /// The version of its package.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// The interfaces that it imports and exports.
    pub fn interfaces(&self) -> &Interfaces {
        &self.0.interfaces
    }

    /// The limits it was loaded with.
    pub fn limits(&self) -> &Limits {
        &self.0.runner.template.limits
    }

    /// Its counters so far.
    pub fn stats(&self) -> Stats {
        let runner = &self.0.runner;
        let sum = |count: fn(&Pool) -> u32| runner.pools().iter().map(|pool| u64::from(count(pool))).sum();
        let (idle, running, waiting) = (sum(Pool::idle), sum(Pool::running), sum(Pool::waiting));
        Stats { idle, running, waiting, ..runner.metrics.stats() }
    }

    /// Whether the plugin's statements may run where the server runs them without a call.
    ///
    /// # Errors
    /// [`CallErrorKind::Open`](crate::CallErrorKind::Open) while `part` is refused because it kept the database busy.
    #[expect(clippy::result_large_err, reason = "errors are few, and returned immediately")]
    pub fn check_database(&self, part: Part) -> Result<(), CallError> {
        self.0.runner.check_database(part)
    }

    /// Counts time that a statement or transaction of `part` took of the database. Beyond its limit
    /// ([`Limits::database`]) calls of that part end with [`CallErrorKind::Open`](crate::CallErrorKind::Open) for a while.
    pub fn used_database(&self, part: Part, time: Duration) {
        self.0.runner.metrics.used_database(part, time);
    }

    /// The circuit breakers of every route, hook, job and command that was called so far, and the breakers of
    /// database time that opened within the last hour.
    pub fn breakers(&self) -> Vec<BreakerReport> {
        self.0.runner.metrics.breakers()
    }

    /// Drains this generation. For up to `grace`, calls may still begin and finish, so that a request stays with the
    /// generation with which it began; the drain ends sooner when nothing runs and no other clone of this plugin is
    /// left. Then calls that still run are cancelled, and later ones are refused.
    pub async fn drain(&self, grace: Duration) {
        let over = || Arc::strong_count(&self.0) == 1;
        let [pool, hooks, filters] = self.0.runner.pools();
        tokio::join!(pool.drain(grace, over), hooks.drain(grace, over), filters.drain(grace, over));
    }
}

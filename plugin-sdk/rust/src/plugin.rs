//! The trait [`Plugin`], which `#[plugin]` implements and which may as well be implemented by hand, and its adapters to
//! the exports of the contract.

use crate::contract::types::{CallContext, Failure, Fields, Json, Status};
use crate::contract::{
    activity_filter, activity_handler, admin, channels, decorate, events, fanout, feeds, instance_info, jobs,
    lifecycle, notification_filter, pages, routes, sign_up, status_filter,
};
use crate::{Context, Error, Extras, Id, Output, Result, SignUp};

/// The files of the package that native tests use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Package {
    /// `plugin.toml`
    pub manifest: &'static str,
    /// The file of named statements.
    pub statements: &'static str,
    /// Migrations: file name and text, in order.
    pub migrations: &'static [(&'static str, &'static str)],
    /// Schemas of configuration and settings.
    pub schemas: (&'static str, &'static str),
}

/// A plugin: one function for each export of the contract. Override the functions that the manifest declares, then
/// export them: `rookery_plugin::export!(MyPlugin: routes, events);`. The attribute macros do both.
#[expect(unused_variables, reason = "defaults that ignore their parameters")]
#[expect(clippy::missing_errors_doc, reason = "each as the contract has it")]
pub trait Plugin: 'static {
    /// Its package.
    const PACKAGE: Package;

    /// See `lifecycle.init`.
    fn init(environment: &lifecycle::Environment) -> Result<(), String> {
        Ok(())
    }
    /// See `lifecycle.self-test`.
    fn self_test() -> Result<(), String> {
        Ok(())
    }
    /// See `routes.handle`.
    fn route(request: routes::Request) -> Result<Output> {
        Err(Error::NotFound)
    }
    /// See `events.handle`.
    fn events(batch: &[events::Event]) -> Result<()> {
        Ok(())
    }
    /// See `fanout.select`.
    fn fanout(batch: &[Status]) -> Result<Vec<feeds::Entry>> {
        Ok(Vec::new())
    }
    /// See `decorate.decorate`.
    fn decorate(viewer: Option<crate::Id>, kind: &str, targets: &[decorate::Target]) -> Result<Extras> {
        Ok(Extras::new())
    }
    /// See `status-filter.before-save`.
    fn status_filter(ctx: &crate::Context, draft: &status_filter::Draft) -> Result<status_filter::Verdict> {
        Ok(status_filter::Verdict::Pass)
    }
    /// See `sign-up.judge`.
    fn sign_up_judge(ctx: &Context, sign_up: &SignUp) -> Result<Option<sign_up::Admission>> {
        Ok(None)
    }
    /// See `sign-up.claim`.
    fn sign_up_claim(ctx: &Context, sign_up: &SignUp, account: Id) -> Result<Option<sign_up::Admission>> {
        Ok(None)
    }
    /// See `notification-filter.judge`.
    fn notification_filter(batch: &[notification_filter::Draft]) -> Result<Vec<u8>> {
        Ok(vec![0; batch.len()])
    }
    /// See `activity-filter.inbound`.
    fn activity_inbound(batch: &[activity_filter::Envelope]) -> Result<Vec<activity_filter::Verdict>> {
        Ok(vec![activity_filter::Verdict::Pass; batch.len()])
    }
    /// See `activity-filter.outbound`.
    fn activity_outbound(batch: &[activity_filter::Envelope]) -> Result<Vec<activity_filter::Verdict>> {
        Ok(vec![activity_filter::Verdict::Pass; batch.len()])
    }
    /// See `activity-handler.handle`.
    fn activity_handler(batch: &[activity_handler::Incoming]) -> Result<Vec<Result<(), Failure>>> {
        Ok(batch.iter().map(|_| Ok(())).collect())
    }
    /// See `channels.subscribe`.
    fn channels(ctx: &crate::Context, channel: &str, params: &[(String, String)]) -> Result<Vec<String>> {
        Err(Error::NotFound)
    }
    /// See `jobs.run`.
    fn job(task: &jobs::Task) -> Result<jobs::Outcome> {
        Ok(jobs::Outcome::GiveUp(format!("there is no job {}", task.kind)))
    }
    /// See `pages.show`.
    fn page(ctx: &Context, request: &pages::Request) -> Result<pages::View> {
        Err(Error::NotFound)
    }
    /// See `pages.submit`.
    fn submit(ctx: &Context, request: &pages::Request, submission: &pages::Submission) -> Result<pages::Outcome> {
        Err(Error::NotFound)
    }
    /// See `instance-info.contribute`.
    fn instance_info(document: &str) -> Result<Fields> {
        Ok(Vec::new())
    }
    /// See `admin.command`: `args` and the answer are JSON.
    fn command(ctx: &crate::Context, name: &str, args: &str) -> Result<String> {
        Err(Error::NotFound)
    }
}

/// The result of a handler.
pub trait Reply {
    /// As an [`Output`].
    fn reply(self) -> Result<Output>;
}

impl Reply for Output {
    fn reply(self) -> Result<Output> {
        Ok(self)
    }
}

impl Reply for () {
    fn reply(self) -> Result<Output> {
        Output::empty()
    }
}

/// Has panics written to the plugin's log with their place, since a component has no standard error. The host takes the
/// last such line for the reason of the trap that follows.
#[cfg(target_arch = "wasm32")]
fn report_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let payload = panic.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panicked");
            let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
            crate::log::error(&format!("panicked{}: {text}", place.unwrap_or_default()), &[]);
        }));
    });
}

/// In native tests a panic is the test's.
#[cfg(not(target_arch = "wasm32"))]
fn report_panics() {}

impl<P: Plugin> lifecycle::Guest for P {
    fn init(environment: lifecycle::Environment) -> Result<(), String> {
        report_panics();
        <P as Plugin>::init(&environment)
    }
    fn self_test() -> Result<(), String> {
        report_panics();
        <P as Plugin>::self_test()
    }
}

impl<P: Plugin> routes::Guest for P {
    fn handle(request: routes::Request) -> Result<routes::Response, Failure> {
        report_panics();
        Ok(P::route(request)?.into_response())
    }
}

impl<P: Plugin> events::Guest for P {
    fn handle(batch: Vec<events::Event>) -> Result<(), Failure> {
        report_panics();
        Ok(P::events(&batch)?)
    }
}

impl<P: Plugin> fanout::Guest for P {
    fn select(batch: Vec<Status>) -> Result<Vec<feeds::Entry>, Failure> {
        report_panics();
        Ok(P::fanout(&batch)?)
    }
}

impl<P: Plugin> decorate::Guest for P {
    fn decorate(
        viewer: Option<i64>,
        kind: String,
        targets: Vec<decorate::Target>,
    ) -> Result<Vec<decorate::Extra>, Failure> {
        report_panics();
        Ok(<P as Plugin>::decorate(viewer.map(crate::Id), &kind, &targets)?.into_list())
    }
}

impl<P: Plugin> status_filter::Guest for P {
    fn before_save(ctx: CallContext, draft: status_filter::Draft) -> Result<status_filter::Verdict, Failure> {
        report_panics();
        Ok(P::status_filter(&crate::Context::new(ctx), &draft)?)
    }
}

impl<P: Plugin> sign_up::Guest for P {
    fn judge(ctx: CallContext, params: Json) -> Result<Option<sign_up::Admission>, Failure> {
        report_panics();
        Ok(P::sign_up_judge(&Context::new(ctx), &SignUp::new(params))?)
    }
    fn claim(ctx: CallContext, params: Json, account: i64) -> Result<Option<sign_up::Admission>, Failure> {
        report_panics();
        Ok(P::sign_up_claim(&Context::new(ctx), &SignUp::new(params), Id(account))?)
    }
}

impl<P: Plugin> pages::Guest for P {
    fn show(request: pages::Request) -> Result<pages::View, Failure> {
        report_panics();
        Ok(P::page(&Context::new(request.ctx.clone()), &request)?)
    }
    fn submit(request: pages::Request, submission: pages::Submission) -> Result<pages::Outcome, Failure> {
        report_panics();
        Ok(<P as Plugin>::submit(&Context::new(request.ctx.clone()), &request, &submission)?)
    }
}

impl<P: Plugin> notification_filter::Guest for P {
    fn judge(batch: Vec<notification_filter::Draft>) -> Result<Vec<u8>, Failure> {
        report_panics();
        Ok(P::notification_filter(&batch)?)
    }
}

impl<P: Plugin> activity_filter::Guest for P {
    fn inbound(batch: Vec<activity_filter::Envelope>) -> Result<Vec<activity_filter::Verdict>, Failure> {
        report_panics();
        Ok(P::activity_inbound(&batch)?)
    }
    fn outbound(batch: Vec<activity_filter::Envelope>) -> Result<Vec<activity_filter::Verdict>, Failure> {
        report_panics();
        Ok(P::activity_outbound(&batch)?)
    }
}

impl<P: Plugin> activity_handler::Guest for P {
    fn handle(batch: Vec<activity_handler::Incoming>) -> Result<Vec<Result<(), Failure>>, Failure> {
        report_panics();
        Ok(P::activity_handler(&batch)?)
    }
}

impl<P: Plugin> channels::Guest for P {
    fn subscribe(ctx: CallContext, channel: String, params: Vec<(String, String)>) -> Result<Vec<String>, Failure> {
        report_panics();
        Ok(P::channels(&crate::Context::new(ctx), &channel, &params)?)
    }
}

impl<P: Plugin> jobs::Guest for P {
    fn run(task: jobs::Task) -> Result<jobs::Outcome, Failure> {
        report_panics();
        Ok(P::job(&task)?)
    }
}

impl<P: Plugin> instance_info::Guest for P {
    fn contribute(document: String) -> Result<Fields, Failure> {
        report_panics();
        Ok(P::instance_info(&document)?)
    }
}

impl<P: Plugin> admin::Guest for P {
    fn command(ctx: CallContext, name: String, args: Json) -> Result<Json, Failure> {
        report_panics();
        Ok(<P as Plugin>::command(&crate::Context::new(ctx), &name, &args)?)
    }
}

/// Exports the interfaces that a plugin implements: `export!(MyPlugin: routes, events);`.
#[macro_export]
macro_rules! export {
    ($plugin:ident: $($interface:ident),* $(,)?) => {
        $(
            #[cfg(target_arch = "wasm32")]
            const _: () = {
                $crate::bindings::$interface::export!($plugin with_types_in $crate::bindings::$interface);
            };
        )*
    };
}

//! The functions of the plugin under test, and the methods with which tests call them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Fake;
use crate::contract::types::{CallContext, Caller, Fields, Status};
use crate::contract::{
    decorate, events, feeds, jobs, lifecycle, notification_filter, pages, routes, sign_up, status_filter,
};
use crate::{Context, Error, Extras, Id, Output, Plugin, Result, SignUp};

/// The functions of a plugin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    init: fn(&lifecycle::Environment) -> Result<(), String>,
    self_test: fn() -> Result<(), String>,
    pub(super) route: fn(routes::Request) -> Result<Output>,
    events: fn(&[events::Event]) -> Result<()>,
    fanout: fn(&[Status]) -> Result<Vec<feeds::Entry>>,
    decorate: fn(Option<Id>, &str, &[decorate::Target]) -> Result<Extras>,
    status_filter: fn(&Context, &status_filter::Draft) -> Result<status_filter::Verdict>,
    pub(super) sign_up_judge: fn(&Context, &SignUp) -> Result<Option<sign_up::Admission>>,
    pub(super) sign_up_claim: fn(&Context, &SignUp, Id) -> Result<Option<sign_up::Admission>>,
    pub(super) page: fn(&Context, &pages::Request) -> Result<pages::View>,
    pub(super) submit: fn(&Context, &pages::Request, &pages::Submission) -> Result<pages::Outcome>,
    notification_filter: fn(&[notification_filter::Draft]) -> Result<Vec<u8>>,
    job: fn(&jobs::Task) -> Result<jobs::Outcome>,
    command: fn(&Context, &str, &str) -> Result<String>,
    instance_info: fn(&str) -> Result<Fields>,
}

/// A plugin without any function.
struct Nothing;

impl Plugin for Nothing {
    const PACKAGE: crate::Package = crate::Package { manifest: "", statements: "", migrations: &[], schemas: ("", "") };
}

impl Calls {
    pub(super) fn of<P: Plugin>() -> Self {
        Self {
            init: P::init,
            self_test: P::self_test,
            route: P::route,
            events: P::events,
            fanout: P::fanout,
            decorate: P::decorate,
            status_filter: P::status_filter,
            sign_up_judge: P::sign_up_judge,
            sign_up_claim: P::sign_up_claim,
            page: P::page,
            submit: P::submit,
            notification_filter: P::notification_filter,
            job: P::job,
            command: P::command,
            instance_info: P::instance_info,
        }
    }

    pub(super) fn none() -> Self {
        Self::of::<Nothing>()
    }
}

/// The context of a call by `account`.
pub(super) fn context(account: Option<i64>, scopes: &[String], role: u8) -> CallContext {
    let caller =
        Caller { account, token: None, scopes: scopes.to_vec(), role, locale: "en".into(), app: Some("Test".into()) };
    CallContext { request_id: "test".into(), caller, budget_ms: 5_000 }
}

impl Fake {
    /// Runs `work` as `caller` in one transaction, which is rolled back unless `keep` accepts the result.
    pub(super) fn transaction<T>(
        &self,
        caller: Option<Caller>,
        keep: impl FnOnce(&T) -> bool,
        work: impl FnOnce() -> T,
    ) -> T {
        let before = self.state(|state| {
            state.caller = caller;
            state.database.begin();
            state.clone()
        });
        let result = work();
        let kept = keep(&result);
        self.state(|state| {
            state.database.end(kept);
            if !kept {
                let logs = std::mem::take(&mut state.logs);
                let calls = std::mem::take(&mut state.calls);
                *state = super::State { logs, calls, ..before };
            }
            state.caller = None;
        });
        result
    }

    #[expect(clippy::expect_used, reason = "a test that cannot begin must stop")]
    pub(super) fn init(&self) {
        let environment = lifecycle::Environment {
            plugin: "test".into(),
            version: "0.0.0".into(),
            host_version: env!("CARGO_PKG_VERSION").into(),
            api_version: "0.1".into(),
            instance_domain: super::fixtures::DOMAIN.into(),
            generation: 1,
            config: self.state(|state| Value::Object(state.config.clone()).to_string()),
            test: true,
        };
        (self.calls.init)(&environment).expect("the plugin refused to begin");
    }

    /// Runs the plugin's self-test; the error is its message.
    pub fn self_test(&self) -> Result<(), String> {
        self.transaction(None, |_| false, self.calls.self_test)
    }

    /// Delivers events to the plugin, in one transaction that an error rolls back.
    pub fn events(&self, batch: &[events::Event]) -> Result<()> {
        self.transaction(None, Result::is_ok, || (self.calls.events)(batch))
    }

    /// An event as the server would deliver it now.
    #[must_use]
    pub fn event(&self, kind: &str, actor: Option<Id>, subject: events::Subject) -> events::Event {
        let (seq, at) = self.state(|state| (state.next_id(), state.now));
        events::Event { seq: seq.unsigned_abs(), kind: kind.into(), at, actor: actor.map(|id| id.0), subject }
    }

    /// Calls the `fanout` hook with these statuses, and adds them to the feeds that it returns.
    ///
    /// # Panics
    /// When there is no status with one of the ids.
    #[expect(clippy::expect_used, reason = "a test's own mistake")]
    pub fn fan_out<I: Copy + Into<i64>>(&self, ids: &[I]) -> Result<Vec<feeds::Entry>> {
        let find = |id: i64| {
            self.state(|state| state.statuses.iter().find(|status| status.id == id).cloned())
                .expect("add the status first")
        };
        let batch: Vec<Status> = ids.iter().map(|id| find((*id).into())).collect();
        let entries = self.transaction(None, Result::is_ok, || (self.calls.fanout)(&batch))?;
        self.state(|state| {
            for entry in &entries {
                state.feed_mut(&entry.feed).insert(entry.status);
            }
        });
        Ok(entries)
    }

    /// Calls the `decorate` hook; returns the members that the plugin adds to each of these entities.
    ///
    /// # Panics
    /// When the plugin returns something that is not JSON.
    #[expect(clippy::expect_used, reason = "a plugin's mistake that a test must show")]
    pub fn decorate<I: Copy + Into<i64>>(
        &self,
        viewer: Option<Id>,
        kind: &str,
        ids: &[I],
    ) -> Result<Vec<BTreeMap<String, Value>>> {
        let targets: Vec<decorate::Target> = ids.iter().map(|id| self.target(kind, (*id).into())).collect();
        let extras = (self.calls.decorate)(viewer, kind, &targets)?.into_list();
        let mut members = vec![BTreeMap::new(); ids.len()];
        for extra in extras {
            for (name, value) in extra.fields {
                let value = serde_json::from_str(&value).expect("a member must be JSON");
                members[extra.index as usize].insert(name, value);
            }
        }
        Ok(members)
    }

    fn target(&self, kind: &str, id: i64) -> decorate::Target {
        let author =
            self.state(|state| state.statuses.iter().find(|status| status.id == id).map(|status| status.account));
        let owner = if kind == "status" { author.unwrap_or(id) } else { id };
        decorate::Target { id, owner, subject: None, activity: None, code: String::new() }
    }

    /// Calls `instance-info` for a document: `instance-v1`, `instance-v2` or `nodeinfo`. Returns the members that it
    /// adds.
    ///
    /// # Panics
    /// When the plugin returns something that is not JSON.
    #[expect(clippy::expect_used, reason = "a plugin's mistake that a test must show")]
    pub fn describe(&self, document: &str) -> Result<BTreeMap<String, Value>> {
        let members = (self.calls.instance_info)(document)?.into_iter();
        Ok(members.map(|(name, value)| (name, serde_json::from_str(&value).expect("a member must be JSON"))).collect())
    }

    /// Calls the `status-filter` hook with the draft of a status.
    pub fn filter(&self, draft: &status_filter::Draft) -> Result<status_filter::Verdict> {
        let call = context(Some(draft.author), &["write:statuses".to_owned()], 1);
        self.state(|state| state.caller = Some(call.caller.clone()));
        (self.calls.status_filter)(&Context::new(call), draft)
    }

    /// Calls the `notification-filter` hook; returns its verdict on each notification.
    pub fn judge(&self, batch: &[notification_filter::Draft]) -> Result<Vec<u8>> {
        (self.calls.notification_filter)(batch)
    }

    /// Runs due jobs until none is left; returns how many ran.
    ///
    /// # Panics
    /// When a job fails.
    pub fn run_jobs(&self) -> usize {
        let mut done = 0;
        loop {
            let job = self.state(|state| {
                let now = state.now;
                let due = state.jobs.iter().position(|job| job.not_before.unwrap_or(0) <= now)?;
                Some(state.jobs.remove(due))
            });
            let Some(job) = job else { return done };
            if let Err(error) = self.job(&job.kind, &job.payload) {
                panic!("job {} failed: {error}", job.kind);
            }
            done += 1;
        }
    }

    /// Runs any SQL that changes the plugin's own tables; returns how many rows it changed.
    ///
    /// # Panics
    /// When the SQL fails.
    pub fn execute(&self, text: &str) -> u64 {
        match self.state(|state| state.database.run(state, text, &[])) {
            Ok(rows) => rows.affected,
            Err(error) => panic!("{text}: {error}"),
        }
    }

    /// Runs one job, in one transaction that an error rolls back.
    pub fn job(&self, kind: &str, payload: &str) -> Result<jobs::Outcome> {
        let now = self.state(|state| state.now);
        let task = jobs::Task { id: 1, kind: kind.into(), payload: payload.into(), attempt: 1, scheduled_for: now };
        self.transaction(None, Result::is_ok, || (self.calls.job)(&task))
    }

    /// Runs a command as an admin.
    pub fn command(&self, name: &str, args: &Value) -> Result<Value> {
        let call = context(None, &[], 3);
        let answer = self.transaction(Some(call.caller.clone()), Result::is_ok, || {
            (self.calls.command)(&Context::new(call.clone()), name, &args.to_string())
        })?;
        serde_json::from_str(&answer).map_err(Error::internal)
    }
}

//! Sign-ups: a plugin may admit a sign-up although registrations are closed, or without approval, and counts it in the
//! transaction that creates the account.
//!
//! Called only for requests with a parameter that the hook names. The plugin's part of the transaction
//! comes first and is limited like every other; then the core goes on in it, so that no plugin runs while a lock of the
//! core's is held (docs/plugins.md#14-hooks, rule (a)).

use std::sync::Arc;
use std::time::Duration;

use rookery_plugin_host::Part;
use rookery_plugin_host::exports::sign_up::Admission as Judged;
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord};
use serde_json::{Map, Value};

use super::subscription::Subscription;
use crate::Cx;
use crate::call::{Call, Caller, Mode};
use crate::cx::Session;
use crate::error::no_answer;
use async_trait::async_trait;
use context::error::{Error, Result};
use context::extension::{Admission, JudgeSignUps};
use database::Tx;
use model::AccountId;
use plugin_package::manifest::{Moment, Policy};

/// The time limit of the rest of the transaction, which is the core's alone.
const CORE: Duration = Duration::from_secs(30);

#[async_trait]
impl JudgeSignUps for Session {
    fn sign_up_params(&self) -> Vec<String> {
        self.ask(|registry| {
            registry.hooks.at(Moment::SignUp).iter().flat_map(|hook| hook.params.iter().cloned()).collect()
        })
    }

    async fn judge_sign_up(&self, cx: &context::Cx, params: &Map<String, Value>) -> Result<Option<Admission>> {
        judge(&Cx::of(cx)?, params).await
    }

    async fn claim_sign_up(
        &self,
        cx: &context::Cx,
        admission: &Admission,
        params: &Map<String, Value>,
        account: AccountId,
    ) -> Result<Option<(Tx, Admission)>> {
        claim(&Cx::of(cx)?, admission, params, account).await
    }
}

/// The verdict of the first plugin that has one on a sign-up with `params`.
///
/// # Errors
/// [`Error::Plugin`] when one whose policy is `refuse` gives no answer.
pub async fn judge(cx: &Cx, params: &Map<String, Value>) -> Result<Option<Admission>> {
    let registry = cx.registry();
    for hook in registry.hooks.at(Moment::SignUp) {
        let Some(own) = own(hook, params) else { continue };
        let asked = async {
            let (caller, context) = stranger(cx, hook);
            let call = Call::new(cx, &hook.active, Part::Filters, caller, Mode::Read);
            hook.active.component.judge_sign_up(call, context, own).await
        };
        match (hook.ask_alone(cx, Some(0), Box::pin(asked)).await, hook.policy) {
            (Ok(Some(judged)), _) => return Ok(Some(admission(hook, judged))),
            (Ok(None), _) | (Err(_), Policy::Skip) => {}
            (Err(error), _) => return Err(no_answer(hook.active.name(), error.kind, Some(503))),
        }
    }
    Ok(None)
}

/// Has the plugin that gave `offered` count the sign-up; the transaction in which it did, for the account to be made in.
///
/// # Errors
/// [`Error::Plugin`] when it gives no answer, [`Error::Unavailable`] when its transaction took too long.
pub async fn claim(
    cx: &Cx,
    offered: &Admission,
    params: &Map<String, Value>,
    account: AccountId,
) -> Result<Option<(Tx, Admission)>> {
    let registry = cx.registry();
    let Some(hook) = registry.hooks.of(Moment::SignUp, offered.plugin).next() else { return Ok(None) };
    let Some(own) = own(hook, params) else { return Ok(None) };
    let (caller, context) = stranger(cx, hook);
    let call = Call::new(cx, &hook.active, Part::Filters, caller, Mode::Ambient);
    // Before the plugin's time begins: others may have to finish first.
    drop(call.ambient().await?);
    let host = Arc::clone(&call);
    let asked = async { hook.active.component.claim_sign_up(host, context, own, account.into()).await };
    // Concurrent sign-ups by one invitation wait for each other in this call: only the limits of the hook's calls apply,
    // not those of a transaction.
    let judged = cx.spend_hook_time(hook.count(cx, Box::pin(asked))).await;
    let Some(judged) = judged.map_err(|error| no_answer(hook.active.name(), error.kind, Some(503)))? else {
        return Ok(None);
    };
    let late = || Error::Unavailable("The server is busy, try again".into());
    let mut tx = call.take().await.ok_or_else(late)?;
    tx.bound(CORE, None);
    let mut admission = admission(hook, judged);
    if let Some(inviter) = admission.invited_by
        && store::user::find(&mut tx, inviter).await?.is_none()
    {
        tracing::warn!(plugin.name = hook.active.name(), "a plugin named an inviter who is no member of this server");
        admission.invited_by = None;
    }
    Ok(Some((tx, admission)))
}

/// The parameters among `params` that the hook names, as JSON; `None` without any.
fn own(hook: &Subscription, params: &Map<String, Value>) -> Option<String> {
    let given = |value: &Value| !value.is_null() && value.as_str() != Some("");
    let named = params.iter().filter(|(name, value)| hook.params.contains(name) && given(value));
    let own: Map<String, Value> = named.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!own.is_empty()).then(|| Value::Object(own).to_string())
}

/// An anonymous caller, with the language of the request.
fn stranger(cx: &Cx, hook: &Subscription) -> (Caller, CallContext) {
    let caller = Caller {
        locale: cx.language().code().to_owned(),
        request_id: cx.request_id().unwrap_or_default().to_owned(),
        ..Caller::system()
    };
    let record = CallerRecord {
        account: None,
        token: None,
        scopes: Vec::new(),
        role: caller.role,
        locale: caller.locale.clone(),
        app: None,
    };
    let budget_ms = u32::try_from(hook.timeout.min(cx.hook_time_left()).as_millis()).unwrap_or(u32::MAX);
    let context = CallContext { request_id: caller.request_id.clone(), caller: record, budget_ms };
    (caller, context)
}

fn admission(hook: &Subscription, judged: Judged) -> Admission {
    let Judged { opens, approves, invited_by } = judged;
    Admission { plugin: hook.active.id, opens, approves, invited_by: invited_by.map(AccountId::from) }
}

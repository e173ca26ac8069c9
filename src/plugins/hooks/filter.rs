//! The status filter: plugins may change or refuse a status before it is saved; each sees the changes of those before
//! it.
//!
//! No transaction is open. Verdicts are data: visibility may only narrow, only a limited status has recipients,
//! and the caller validates the text again.

use std::collections::HashSet;
use std::sync::Arc;

use rookery_plugin_host::exports::status_filter::{Change, Draft, Verdict};
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord};
use rookery_plugin_host::{CallError, CallErrorKind, Part};
use serde_json::{Map, Value};

use super::field::is_value;
use super::subscription::Subscription;
use crate::Cx;
use crate::call::{Call, Caller, Mode};
use crate::codes::{visibility_code, visibility_of};
use crate::cx::Session;
use crate::error::{is_refusal, no_answer, refused};
use crate::routes::rank;
use async_trait::async_trait;
use context::change::StatusTraits;
use context::error::Result;
use context::extension::{FilterDrafts, PendingStatus};
use context::messages::Language;
use model::{AccountId, Actor, Visibility};
use plugin_package::manifest::{Moment, Policy};

/// Most silent recipients that a filter may give to a status.
const MOST_RECIPIENTS: usize = 20_000;

#[async_trait]
impl FilterDrafts for Session {
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
        cx: &context::Cx,
        actor: &Actor,
        draft: PendingStatus,
        params: &Map<String, Value>,
        visibility: Option<&str>,
    ) -> Result<PendingStatus> {
        filter(&Cx::of(cx)?, actor, draft, params, visibility).await
    }
}

/// Calls every filter in turn. `params` are request parameters unknown to the core; `visibility` is the value the
/// client sent.
///
/// # Errors
/// [`Error::Refused`](context::Error::Refused), in the plugin's words, when a plugin refuses, by a verdict or by its
/// own failure below 500; [`Error::Plugin`](context::Error::Plugin) when one whose policy is `refuse` does not answer.
pub async fn filter(
    cx: &Cx,
    actor: &Actor,
    mut pending: PendingStatus,
    params: &Map<String, Value>,
    visibility: Option<&str>,
) -> Result<PendingStatus> {
    let registry = cx.registry();
    let person = Arc::new(actor.clone());
    for hook in registry.hooks.at(Moment::StatusFilter) {
        let traits = StatusTraits {
            visibility: pending.visibility,
            local: true,
            reblog: false,
            reply: pending.in_reply_to_id.is_some(),
            media: !pending.media.is_empty(),
        };
        if !cx.origin().allows(hook.active.id) || !hook.when.admits(&traits) {
            continue;
        }
        let draft = draft(actor, &pending, extra(hook, params, visibility));
        let asked = async {
            match call(cx, hook, &person, draft).await? {
                Verdict::Pass => Ok(Ok(None)),
                Verdict::Refuse(failure) => Ok(Err(refused(failure))),
                Verdict::Change(change) => {
                    let own = hook.owns_audience(visibility, params);
                    applied(cx, hook, pending.clone(), change, own).await.map(|now| Ok(Some(now)))
                }
            }
        };
        match (hook.ask_alone(cx, Some(actor.id.into()), Box::pin(asked)).await, hook.policy) {
            (Ok(verdict), _) => pending = verdict?.unwrap_or(pending),
            (Err(_), Policy::Skip) => {}
            (Err(error), _) => return Err(no_answer(hook.active.name(), error.kind, Some(503))),
        }
    }
    Ok(pending)
}

async fn call(cx: &Cx, hook: &Subscription, actor: &Arc<Actor>, draft: Draft) -> Result<Verdict, CallError> {
    let (caller, context) = spoken_for(cx, hook, actor);
    let call = Call::new(cx, &hook.active, Part::Filters, caller, Mode::Read);
    match hook.active.component.status_filter(call, context, draft).await {
        Err(CallError { failure: Some(failure), .. }) if is_refusal(&failure) => Ok(Verdict::Refuse(failure)),
        answer => answer,
    }
}

/// `actor` as the caller of `hook`, and the record of it for the plugin.
pub(super) fn spoken_for(cx: &Cx, hook: &Subscription, actor: &Arc<Actor>) -> (Caller, CallContext) {
    let caller = Caller {
        actor: Some(Arc::clone(actor)),
        scopes: actor.scopes.iter().map(str::to_owned).collect(),
        role: rank(Some(actor)),
        locale: actor.locale.clone().unwrap_or_else(|| cx.config.server.locale.as_str().to_owned()),
        app: None,
        request_id: cx.request_id().unwrap_or_default().to_owned(),
        author: None,
    };
    let context = CallContext {
        request_id: caller.request_id.clone(),
        caller: CallerRecord {
            account: Some(actor.id.into()),
            token: actor.token.map(i64::from),
            scopes: caller.scopes.clone(),
            role: caller.role,
            locale: caller.locale.clone(),
            app: None,
        },
        budget_ms: u32::try_from(hook.timeout.min(cx.hook_time_left()).as_millis()).unwrap_or(u32::MAX),
    };
    (caller, context)
}

/// The request parameters that the plugin declared, and `visibility` as the client sent it.
fn extra(hook: &Subscription, params: &Map<String, Value>, visibility: Option<&str>) -> String {
    let shown = params.iter().filter(|(name, _)| hook.params.contains(name));
    let mut extra: Map<String, Value> = shown.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(visibility) = visibility {
        extra.insert("visibility".to_owned(), visibility.into());
    }
    Value::Object(extra).to_string()
}

fn draft(actor: &Actor, pending: &PendingStatus, extra: String) -> Draft {
    Draft {
        author: actor.id.into(),
        text: pending.text.clone(),
        spoiler: pending.spoiler_text.clone(),
        visibility: visibility_code(pending.visibility),
        sensitive: pending.sensitive,
        language: pending.language.clone(),
        reply_to: pending.in_reply_to_id.map(i64::from),
        media: pending.media.iter().map(|id| i64::from(*id)).collect(),
        recipients: pending.recipients.iter().map(|id| i64::from(*id)).collect(),
        extra,
        editing: pending.editing.map(i64::from),
    }
}

/// `pending` with the plugin's changes; an error for a change that is forbidden or invalid. `own`: the author chose a
/// visibility that this plugin defines, or an audience that it keeps, so the plugin decides who sees it.
async fn applied(
    cx: &Cx,
    hook: &Subscription,
    mut pending: PendingStatus,
    change: Change,
    own: bool,
) -> Result<PendingStatus, CallError> {
    if let Some(kept) = change.extra {
        let object = Some(kept).filter(|kept| is_value(kept)).and_then(|kept| serde_json::from_str(&kept).ok());
        let object: Map<String, Value> = object.ok_or_else(|| wrong("extra is no JSON object of bounded size"))?;
        pending.extras.push((hook.active.id, Value::Object(object)));
    }
    pending.text = change.text.unwrap_or(pending.text);
    pending.spoiler_text = change.spoiler.unwrap_or(pending.spoiler_text);
    pending.sensitive = change.sensitive.unwrap_or(pending.sensitive);
    pending.language = change.language.or(pending.language);
    if let Some(code) = change.visibility {
        let wanted = visibility_of(code).ok_or_else(|| wrong("visibility is a number that does not exist"))?;
        if !narrows(pending.visibility, wanted) {
            return Err(wrong("visibility may only narrow"));
        }
        pending.visibility = wanted;
    }
    if let Some(scope) = change.limited_scope {
        let scope = scope.parse().map_err(|known| wrong(&format!("limited-scope: {known}")))?;
        pending.limited_scope = Some(scope);
    }
    if let Some(recipients) = change.recipients {
        if pending.visibility != Visibility::Limited {
            return Err(wrong("only a limited status gets recipients"));
        }
        let known = known(cx, &recipients).await?;
        let before: HashSet<AccountId> = pending.recipients.iter().copied().collect();
        if !own && known.iter().any(|id| !before.contains(id)) {
            return Err(wrong("recipients may only be left out, unless the visibility is the plugin's own"));
        }
        pending.recipients = known;
    }
    if change.new_conversation {
        if pending.visibility != Visibility::Limited {
            return Err(wrong("only a limited status may open a new conversation"));
        }
        pending.new_conversation = true;
    }
    Ok(pending)
}

/// The existing accounts among `recipients`.
async fn known(cx: &Cx, recipients: &[i64]) -> Result<Vec<AccountId>, CallError> {
    if recipients.len() > MOST_RECIPIENTS {
        return Err(wrong(&format!("{} recipients: at most {MOST_RECIPIENTS}", recipients.len())));
    }
    let ids: Vec<AccountId> = recipients.iter().copied().map(AccountId::from).collect();
    store::account::list_known(&cx.db, &ids).await.map_err(|error| wrong(&error.to_string()))
}

/// True when everyone who may see `to` may see `from` as well.
fn narrows(from: Visibility, to: Visibility) -> bool {
    use Visibility::{Direct, Limited, Login, Private, Public, PublicUnlisted, Unlisted};
    match to {
        Public => from == Public,
        PublicUnlisted => matches!(from, Public | PublicUnlisted),
        Login => matches!(from, Public | PublicUnlisted | Login),
        Unlisted => matches!(from, Public | PublicUnlisted | Unlisted),
        Private => matches!(from, Public | PublicUnlisted | Login | Unlisted | Private),
        Limited => from != Direct,
        Direct => true,
    }
}

fn wrong(what: &str) -> CallError {
    CallError {
        kind: CallErrorKind::Failure,
        message: what.to_owned(),
        failure: None,
        backtrace: Vec::new(),
        person: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visibility_narrows_towards_fewer_people() {
        for visibility in Visibility::ALL {
            assert!(narrows(*visibility, *visibility), "{visibility}");
            assert!(narrows(Visibility::Public, *visibility), "{visibility}");
            assert!(narrows(*visibility, Visibility::Direct), "{visibility}");
            assert_eq!(narrows(*visibility, Visibility::Public), *visibility == Visibility::Public, "{visibility}");
        }
        assert!(!narrows(Visibility::Unlisted, Visibility::Login), "it would stand on timelines");
        assert!(!narrows(Visibility::Login, Visibility::Unlisted), "anyone could see it");
        assert!(!narrows(Visibility::Direct, Visibility::Limited));
        assert!(!narrows(Visibility::Private, Visibility::Unlisted));
    }
}

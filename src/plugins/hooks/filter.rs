//! Asking plugins about a status before it is saved: each may change or refuse it, and sees what those before it changed.
//!
//! No transaction is open. What a plugin says is data: visibility only narrows unless the admin granted more, recipients
//! are added to a limited status alone, and whoever calls this checks the words again.

use std::sync::Arc;

use rookery_plugin_host::exports::status_filter::{Change, Draft, Verdict};
use rookery_plugin_host::imports::types::{CallContext, Caller as Told};
use rookery_plugin_host::{CallError, Ended};
use serde_json::{Map, Value};

use super::field::is_value;
use super::subscription::Subscription;
use super::when::Traits;
use crate::app::App;
use crate::error::Result;
use crate::http::observe;
use crate::plugins::call::{Call, Caller, Mode};
use crate::plugins::error::{no_answer, refused};
use crate::plugins::manifest::{Moment, Policy};
use crate::plugins::origin::Origin;
use crate::plugins::records::{visibility_code, visibility_of};
use crate::plugins::routes::rank;
use model::PluginId;
use model::status::LimitedScope;
use model::{AccountId, Actor, MediaId, StatusId, Visibility};

/// Most silent recipients that filters may give to a status.
const MOST_RECIPIENTS: usize = 10_000;

/// A status that is about to be saved.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the members of the contract's draft")]
pub struct Pending {
    pub text: String,
    pub spoiler_text: String,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub sensitive: bool,
    pub language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub media: Vec<MediaId>,
    /// Who gets it without being mentioned.
    pub recipients: Vec<AccountId>,
    /// The status that is edited.
    pub editing: Option<StatusId>,
    /// What plugins keep with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}

/// True when some plugin is asked about statuses.
#[must_use]
pub fn has_filters(app: &App) -> bool {
    let registry = app.plugins.current();
    !registry.plugins.is_empty() && !registry.hooks.at(Moment::StatusFilter).is_empty()
}

/// True when `word` is a visibility that a plugin means something by: the status is limited, and the plugin says to whom.
#[must_use]
pub fn has_visibility(app: &App, word: &str) -> bool {
    let registry = app.plugins.current();
    registry.hooks.at(Moment::StatusFilter).iter().any(|hook| hook.has_kind(word))
}

/// Asks every filter in turn. `params` are the request's parameters that the server itself does not know; `visibility` is
/// what the client wrote.
///
/// # Errors
/// [`Error::Refused`] in the words of the plugin that refuses, [`Error::Plugin`] when one whose answer is needed gives
/// none.
pub async fn filter(
    app: &App,
    actor: &Actor,
    mut pending: Pending,
    params: &Map<String, Value>,
    visibility: Option<&str>,
) -> Result<Pending> {
    let registry = app.plugins.current();
    let person = Arc::new(actor.clone());
    for hook in registry.hooks.at(Moment::StatusFilter) {
        let traits = Traits {
            visibility: pending.visibility,
            local: true,
            reblog: false,
            reply: pending.in_reply_to_id.is_some(),
            media: !pending.media.is_empty(),
        };
        if !Origin::current().allows(hook.active.id) || !hook.when.admits(&traits) {
            continue;
        }
        let draft = draft(actor, &pending, extra(hook, params, visibility));
        let asked = async {
            match ask(app, hook, &person, draft).await? {
                Verdict::Pass => Ok(Ok(None)),
                Verdict::Refuse(failure) => Ok(Err(refused(failure))),
                Verdict::Change(change) => {
                    let own = visibility.is_some_and(|word| hook.has_kind(word));
                    applied(app, hook, pending.clone(), change, own).await.map(|now| Ok(Some(now)))
                }
            }
        };
        match (hook.ask_alone(app, Box::pin(asked)).await, hook.policy) {
            (Ok(verdict), _) => pending = verdict?.unwrap_or(pending),
            (Err(_), Policy::Skip) => {}
            (Err(error), _) => return Err(no_answer(hook.active.name(), error.ended, Some(503))),
        }
    }
    Ok(pending)
}

async fn ask(app: &App, hook: &Subscription, actor: &Arc<Actor>, draft: Draft) -> Result<Verdict, CallError> {
    let caller = Caller {
        actor: Some(Arc::clone(actor)),
        scopes: actor.scopes.iter().map(str::to_owned).collect(),
        role: rank(Some(actor)),
        locale: actor.locale.clone().unwrap_or_else(|| app.config.server.locale.as_str().to_owned()),
        app: None,
        request_id: observe::request_id().unwrap_or_default(),
    };
    let context = CallContext {
        request_id: caller.request_id.clone(),
        caller: Told {
            account: Some(actor.id.into()),
            scopes: caller.scopes.clone(),
            role: caller.role,
            locale: caller.locale.clone(),
            app: None,
        },
        budget_ms: u32::try_from(hook.timeout.min(app.plugins.patience.left()).as_millis()).unwrap_or(u32::MAX),
    };
    let call = Call::new(app, &hook.active, caller, Mode::Read);
    hook.active.component.status_filter(call, context, draft).await
}

/// What the plugin is shown of the request: the parameters it declared, and `visibility` as it was written.
fn extra(hook: &Subscription, params: &Map<String, Value>, visibility: Option<&str>) -> String {
    let shown = params.iter().filter(|(name, _)| hook.params.contains(name));
    let mut extra: Map<String, Value> = shown.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(visibility) = visibility {
        extra.insert("visibility".to_owned(), visibility.into());
    }
    Value::Object(extra).to_string()
}

fn draft(actor: &Actor, pending: &Pending, extra: String) -> Draft {
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

/// `pending` with what a plugin changes; an error when it may not, or when it makes no sense. `own`: the person chose a
/// visibility that is the plugin's, so it is the plugin that says to whom.
async fn applied(
    app: &App,
    hook: &Subscription,
    mut pending: Pending,
    change: Change,
    own: bool,
) -> Result<Pending, CallError> {
    if let Some(kept) = change.extra {
        let object = Some(kept).filter(|kept| is_value(kept)).and_then(|kept| serde_json::from_str(&kept).ok());
        let object: Map<String, Value> = object.ok_or_else(|| wrong("extra is no JSON object of bounded size"))?;
        pending.extras.push((hook.active.id, Value::Object(object)));
    }
    pending.text = change.text.unwrap_or(pending.text);
    pending.spoiler_text = change.spoiler.unwrap_or(pending.spoiler_text);
    pending.sensitive = change.sensitive.unwrap_or(pending.sensitive);
    pending.language = change.language.or(pending.language);
    let widens = hook.active.manifest.permissions.core_write.iter().any(|name| name == "widen");
    if let Some(code) = change.visibility {
        let wanted = visibility_of(code).ok_or_else(|| wrong("visibility is a number that does not exist"))?;
        if !widens && !narrows(pending.visibility, wanted) {
            return Err(wrong("visibility may only narrow: that takes the permission core-write = [\"widen\"]"));
        }
        pending.visibility = wanted;
    }
    if let Some(scope) = change.limited_scope {
        let scope = scope.parse().map_err(|known| wrong(&format!("limited-scope: {known}")))?;
        pending.limited_scope = Some(scope);
    }
    if let Some(recipients) = change.recipients {
        if pending.visibility != Visibility::Limited && !widens {
            return Err(wrong("only a limited status gets recipients"));
        }
        let known = known(app, &recipients).await?;
        if !own && !widens && known.iter().any(|id| !pending.recipients.contains(id)) {
            return Err(wrong(
                "recipients may only be left out, unless the visibility is the plugin's own: that takes the permission \
                 core-write = [\"widen\"]",
            ));
        }
        pending.recipients = known;
    }
    Ok(pending)
}

/// Those of `recipients` that there are.
async fn known(app: &App, recipients: &[i64]) -> Result<Vec<AccountId>, CallError> {
    if recipients.len() > MOST_RECIPIENTS {
        return Err(wrong(&format!("{} recipients: at most {MOST_RECIPIENTS}", recipients.len())));
    }
    let ids: Vec<AccountId> = recipients.iter().copied().map(AccountId::from).collect();
    store::account::list_known(&app.db, &ids).await.map_err(|error| wrong(&error.to_string()))
}

/// True when nobody sees `to` who would not see `from`.
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
    CallError { ended: Ended::Failure, message: what.to_owned(), failure: None, backtrace: Vec::new() }
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

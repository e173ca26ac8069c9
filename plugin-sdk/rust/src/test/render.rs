//! Minimal rendering of responses: entities with little more than their ids.

use serde_json::{Value, json};

use super::State;
use crate::contract::routes::Output;
use crate::contract::types::Viewer;

/// The account of a viewer; `Err` for the system, from which nothing is hidden.
pub(super) fn eyes(state: &State, viewer: &Viewer) -> Result<Option<i64>, ()> {
    match viewer {
        Viewer::Caller => Ok(state.caller.as_ref().and_then(|caller| caller.account)),
        Viewer::Account(id) => Ok(Some(*id)),
        Viewer::System => Err(()),
    }
}

/// Public and unlisted statuses are visible to all, private ones to followers, the rest to the accounts they mention.
pub(super) fn visible(state: &State, viewer: Option<i64>, id: i64) -> bool {
    let Some(status) = state.statuses.iter().find(|status| status.id == id) else { return false };
    let Some(viewer) = viewer else { return matches!(status.visibility, 0 | 1 | 5) };
    if viewer == status.account || status.mentions.contains(&viewer) {
        return true;
    }
    if state.blocks.contains(&(status.account, viewer)) {
        return false;
    }
    match status.visibility {
        0 | 1 | 5 | 6 => true,
        2 => state.follows.contains(&(viewer, status.account)),
        _ => false,
    }
}

/// The body of a response; `None` is a 404.
pub(super) fn output(state: &State, viewer: Option<i64>, output: &Output) -> Option<Value> {
    Some(match output {
        Output::Empty => json!({}),
        Output::Json(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Output::Template(text) => {
            let template = serde_json::from_str(text).unwrap_or(Value::Null);
            filled(state, viewer, &template).unwrap_or(Value::Null)
        }
        Output::Status(id) => status(state, viewer, *id)?,
        Output::Account(id) => account(state, *id)?,
        Output::Statuses(ids) => ids.iter().filter_map(|id| status(state, viewer, *id)).collect(),
        Output::Accounts(ids) => ids.iter().filter_map(|id| account(state, *id)).collect(),
        Output::Bytes((_, bytes)) => String::from_utf8_lossy(bytes).into_owned().into(),
    })
}

/// A status as JSON, if the viewer may see it.
pub(super) fn status(state: &State, viewer: Option<i64>, id: i64) -> Option<Value> {
    let found = state.statuses.iter().find(|status| status.id == id).filter(|_| visible(state, viewer, id))?;
    Some(json!({ "id": id.to_string(), "content": found.text, "account": account(state, found.account) }))
}

/// An account as JSON.
pub(super) fn account(state: &State, id: i64) -> Option<Value> {
    let found = state.accounts.iter().find(|account| account.id == id)?;
    Some(json!({ "id": id.to_string(), "acct": found.acct }))
}

/// The viewer's own account as JSON, with what only they see of it.
fn credentials(state: &State, viewer: Option<i64>, id: i64) -> Option<Value> {
    let mut own = account(state, id).filter(|_| viewer == Some(id))?;
    own["source"] = json!({});
    own["role"] = json!({});
    for image in ["avatar", "header"] {
        own[image] = if state.profile_images.contains(&(id, image.to_owned())) { "its own" } else { "missing" }.into();
    }
    Some(own)
}

/// A template with its placeholders replaced; `None` for a placeholder whose entity is not visible.
fn filled(state: &State, viewer: Option<i64>, value: &Value) -> Option<Value> {
    match value {
        Value::Array(items) => Some(items.iter().filter_map(|item| filled(state, viewer, item)).collect()),
        Value::Object(members) => {
            let id = |name: &str| members.get(name)?.as_str()?.parse::<i64>().ok();
            if let Some(id) = id("$status") {
                return status(state, viewer, id);
            }
            if let Some(id) = id("$account") {
                return account(state, id);
            }
            if let Some(path) = members.get("$url").and_then(Value::as_str) {
                return Some(format!("https://{}{path}", super::fixtures::DOMAIN).into());
            }
            if let Some(id) = id("$credentials") {
                return credentials(state, viewer, id);
            }
            if let Some(id) = id("$list") {
                return Some(json!({ "id": id.to_string() }));
            }
            let filled = |value| filled(state, viewer, value).unwrap_or(Value::Null);
            Some(Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value))).collect()))
        }
        other => Some(other.clone()),
    }
}

//! The page of the audit log, for staff who may view it.

use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::Frame;
use crate::error::{Error, Result};
use crate::extract::{Paging, Params};
use crate::web::Page;
use model::{Permissions, RowId};
use service::audit::{self, AuditEntry, AuditFilter};
use service::staff;

/// The filters of the page; blank ones have no effect.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Filters {
    /// User name of a member of staff.
    account: Option<String>,
    /// One action, such as `account.suspend`, or the kind of its target, such as `account`.
    action: Option<String>,
    /// Kind of the target; needs `target_id`.
    target_type: Option<String>,
    target_id: Option<RowId>,
}

/// `GET /settings/audit_log`
///
/// # Errors
/// [`Forbidden`](context::Error::Forbidden) without the permission `view_audit_log`.
pub async fn index(frame: Frame, paging: Paging, Params(filters): Params<Filters>) -> Result<Page> {
    if !frame.person.permissions.has(Permissions::VIEW_AUDIT_LOG) {
        return Err(Error::forbidden("This action is not allowed").into());
    }
    let (account, action) = (sent(filters.account), sent(filters.action));
    let target = sent(filters.target_type).zip(filters.target_id);
    let by = match &account {
        None => Ok(None),
        Some(name) => staff::find(&frame.cx, name).await.map(|found| Some(found.id)),
    };
    let rows = match by {
        Ok(account) => {
            let target = target.clone().map(|(kind, id)| (kind, i64::from(id)));
            let filter = AuditFilter { account, action: action.clone(), target };
            audit::list(&frame.cx, &filter, &paging.cursor).await?
        }
        Err(Error::Invalid(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    let changes: Vec<Value> = rows.iter().map(|row| entry(&frame, row)).collect();
    let own = context! {
        changes,
        account => account.unwrap_or_default(),
        action => action.unwrap_or_default(),
        target_type => target.as_ref().map(|(kind, _)| kind),
        target_id => target.as_ref().map(|(_, id)| id.to_string()),
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.page("audit_log", "settings.audit_log", "settings/audit_log.html", own)
}

/// A member of the details as a name and a text.
fn detail(name: &str, value: &Json) -> [String; 2] {
    [name.replace('_', " "), plain(value)]
}

/// A value without the marks of JSON.
fn plain(value: &Json) -> String {
    match value {
        Json::Null => "–".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| detail(name, value).join(": "));
            members.collect::<Vec<_>>().join(", ")
        }
        Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

/// The value of a filter; `None` when it is blank.
fn sent(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn entry(frame: &Frame, row: &AuditEntry) -> Value {
    let details = row.details.0.as_object().filter(|details| !details.is_empty());
    context! {
        actor => row.actor_name,
        is_operator => row.account_id.is_none(),
        action => row.action,
        target => row.target_name,
        details => details.into_iter().flatten().map(|(name, value)| detail(name, value)).collect::<Vec<_>>(),
        target_url => format!("?target_type={}&target_id={}", row.target_kind, row.target_id),
        has_target => i64::from(row.target_id) != 0,
        created_iso => row.created_at.to_api(),
        created_human => frame.cx.language().minute(&row.created_at),
    }
}

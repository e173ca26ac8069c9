//! <https://docs.joinmastodon.org/entities/Account/#CredentialAccount>

use std::sync::Arc;

use serde::Serialize;

use super::account::{self, Field};
use context::Cx;
use context::caches::before_read;
use context::error::{Error, Result};
use context::json::Fragment;
use database::versions::Dependency;
use model::account::Searchability;
use model::staff::DEFAULT_ROLE;
use model::{AccountId, QuotePolicy};
use store::profile::CredentialRow;
use store::role::{AssignedRole, RolePermissions};

/// The part of an account that is visible only to its owner: source texts and posting defaults.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    pub privacy: &'static str,
    pub sensitive: bool,
    pub language: Option<String>,
    pub note: String,
    pub fields: Vec<Field>,
    pub follow_requests_count: i64,
    pub hide_collections: Option<bool>,
    pub discoverable: Option<bool>,
    pub indexable: bool,
    pub searchability: Searchability,
    pub quote_policy: QuotePolicy,
    pub attribution_domains: Vec<String>,
    /// The ids of the actors that may move here.
    pub also_known_as_uris: Vec<String>,
}

/// <https://docs.joinmastodon.org/entities/Role/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Role {
    pub id: String,
    pub name: String,
    pub permissions: String,
    pub color: String,
    pub highlighted: bool,
}

impl From<&CredentialRow> for Source {
    fn from(row: &CredentialRow) -> Self {
        let account = &row.account;
        Self {
            privacy: row.preferences.visibility(account.locked).as_str(),
            sensitive: row.preferences.default_sensitive,
            language: row.preferences.default_language.clone(),
            note: account.note.clone(),
            fields: account.fields.iter().map(Field::source).collect(),
            follow_requests_count: row.follow_requests_count,
            hide_collections: account.hide_collections,
            discoverable: account.discoverable,
            indexable: account.indexable,
            searchability: row.preferences.searchability(),
            quote_policy: row.preferences.default_quote_policy,
            attribution_domains: account.attribution_domains.0.clone(),
            also_known_as_uris: row.also_known_as.0.clone(),
        }
    }
}

impl Role {
    /// The role of a user; the default role without one.
    pub(crate) fn new(role: &AssignedRole, permissions: RolePermissions, highlighted: Option<bool>) -> Self {
        Self {
            id: role.id.unwrap_or(DEFAULT_ROLE).to_string(),
            name: role.name.clone().unwrap_or_default(),
            permissions: permissions.effective().0.to_string(),
            color: role.color.clone().unwrap_or_default(),
            highlighted: highlighted.unwrap_or_default(),
        }
    }
}

impl From<&CredentialRow> for Role {
    fn from(row: &CredentialRow) -> Self {
        Self::new(&row.role, row.permissions, row.role_highlighted)
    }
}

/// Renders the account `id` for its owner. No statement when it is cached, for as long as its rows are unchanged.
///
/// # Errors
/// [`Error::NotFound`] when it is not a local account with a user.
pub async fn show(cx: &Cx, id: AccountId) -> Result<Fragment> {
    let key = (id, account::generations(cx));
    let rows = |_: &Arc<str>| [Dependency::Account(id), Dependency::FollowRequests];
    if let Some(rendered) = cx.caches.credentials.unchanged(&cx.db, &key, rows) {
        return Ok(Fragment::from_json(&rendered));
    }
    let read = before_read(&cx.db);
    let (rendered, version) = render(cx, id).await?;
    if let Some(read) = read
        && account::is_cached(cx, id, version)
    {
        cx.caches.credentials.insert_at(key, read, rendered.as_str().into());
    }
    Ok(rendered)
}

/// The account as its owner sees it, and its version.
async fn render(cx: &Cx, id: AccountId) -> Result<(Fragment, i64)> {
    let row = store::profile::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    let mut credential = account::render_found(cx, &row.account).await?.open();
    credential.member("source", Fragment::of(&Source::from(&row))?.as_str());
    credential.member("role", Fragment::of(&Role::from(&row))?.as_str());
    Ok((credential.close(), row.account.version))
}

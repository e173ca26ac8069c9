//! <https://docs.joinmastodon.org/entities/Suggestion/>

use serde::Serialize;

use super::account::Rendered;
use context::Cx;
use context::error::{Error, Result};
use context::json::{Array, Object};
use model::AccountId;
use model::suggestion::{Source, Suggestion};

/// The members of a suggestion beside its account.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Reason<'a> {
    source: &'static str,
    sources: &'a [Source],
}

/// Renders suggestions, in the order given. No statement when all their accounts are cached.
///
/// # Errors
/// [`Error::Plugin`] when a plugin whose members are required does not respond.
pub async fn render(cx: &Cx, suggestions: &[Suggestion]) -> Result<Array> {
    let accounts = load(cx, suggestions).await?;
    let mut items = Vec::with_capacity(suggestions.len());
    for suggestion in suggestions {
        let Some(account) = accounts.get(&suggestion.account) else { continue };
        let source = legacy(suggestion.sources.first().copied());
        let reason = Reason { source, sources: &suggestion.sources };
        let reason = serde_json::to_string(&reason).map_err(Error::internal)?;
        let mut object = Object::with_capacity(account.len() + reason.len() + 16);
        object.members_of(&reason).member("account", account);
        items.push(object.close());
    }
    Ok(items.into())
}

/// Renders the accounts alone, for version 1 of the route.
///
/// # Errors
/// As [`render`].
pub async fn render_accounts(cx: &Cx, suggestions: &[Suggestion]) -> Result<Array> {
    super::account::render_in_order(cx, &versions(suggestions)).await
}

async fn load(cx: &Cx, suggestions: &[Suggestion]) -> Result<Rendered> {
    super::account::render_versions(cx, &versions(suggestions)).await
}

fn versions(suggestions: &[Suggestion]) -> Vec<(AccountId, i64)> {
    suggestions.iter().map(|suggestion| (suggestion.account, suggestion.version)).collect()
}

/// The deprecated `source` (docs/contract/rules.md#23-discovery).
fn legacy(first: Option<Source>) -> &'static str {
    match first {
        Some(Source::Featured) => "staff",
        Some(Source::MostFollowed | Source::MostInteractions) => "global",
        Some(Source::FriendsOfFriends) | None => "past_interactions",
    }
}

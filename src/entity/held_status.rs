//! Deleted statuses that the staff still sees, in the shape of <https://docs.joinmastodon.org/entities/Status/>.
//!
//! What was counted and related is gone: counts are 0, and there are no mentions, hashtags, polls, cards and quotes.

use serde::Serialize;
use serde_json::value::RawValue;

use super::account;
use super::emoji::{CustomEmoji, Palette};
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::status::Visibility;
use model::{AccountId, StatusId, Time};
use service::held_status::HeldStatus;

/// A deleted status.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shown<'a> {
    id: StatusId,
    created_at: String,
    in_reply_to_id: Option<StatusId>,
    in_reply_to_account_id: Option<AccountId>,
    sensitive: bool,
    spoiler_text: &'a str,
    visibility: &'static str,
    visibility_ex: Visibility,
    limited_scope: Option<&'static str>,
    searchability: &'static str,
    language: Option<&'a str>,
    uri: &'a str,
    url: Option<&'a str>,
    replies_count: i64,
    reblogs_count: i64,
    favourites_count: i64,
    markdown: bool,
    status_reference_ids: [i64; 0],
    status_references_count: i64,
    status_referred_by_count: i64,
    quotes_count: i64,
    quote_approval: QuoteApproval,
    edited_at: Option<String>,
    content: &'a str,
    media_attachments: &'a serde_json::Value,
    mentions: [(); 0],
    tags: [(); 0],
    emojis: Vec<CustomEmoji>,
    card: Option<()>,
    poll: Option<()>,
    account: Box<RawValue>,
    reblog: Option<()>,
}

/// A deleted status cannot be quoted.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct QuoteApproval {
    automatic: [&'static str; 0],
    manual: [&'static str; 0],
    current_user: &'static str,
}

/// Renders deleted statuses; without those whose authors are gone.
pub async fn render(cx: &Cx, held: &[HeldStatus]) -> Result<Vec<(StatusId, Fragment)>> {
    if held.is_empty() {
        return Ok(Vec::new());
    }
    let mut authors: Vec<AccountId> = held.iter().map(|held| held.account_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let domains: std::collections::HashMap<AccountId, Option<String>> =
        store::account::domains(&cx.db, &authors).await?.into_iter().collect();
    let versions = store::account::versions(&cx.db, &authors).await?;
    let accounts = account::render_versions(cx, &versions).await?;
    let domain = |held: &HeldStatus| domains.get(&held.account_id).and_then(|domain| domain.as_deref());
    let texts: Vec<_> = held
        .iter()
        .flat_map(|held| [(domain(held), held.content.as_str()), (domain(held), held.spoiler_text.as_str())])
        .collect();
    let palette = Palette::load(cx, &texts).await?;
    let mut shown = Vec::with_capacity(held.len());
    for held in held {
        let Some(account) = accounts.get(&held.account_id) else { continue };
        let account = RawValue::from_string(account.to_string()).map_err(Error::internal)?;
        let emojis = palette.of(&cx.urls, domain(held), &[&held.content, &held.spoiler_text]);
        shown.push((held.id, Fragment::of(&Shown::new(held, account, emojis))?));
    }
    Ok(shown)
}

impl<'a> Shown<'a> {
    fn new(held: &'a HeldStatus, account: Box<RawValue>, emojis: Vec<CustomEmoji>) -> Self {
        Self {
            id: held.id,
            created_at: held.created_at.to_api(),
            in_reply_to_id: None,
            in_reply_to_account_id: None,
            sensitive: held.sensitive,
            spoiler_text: &held.spoiler_text,
            visibility: held.visibility.coarse(),
            visibility_ex: held.visibility,
            limited_scope: None,
            searchability: "direct",
            language: held.language.as_deref(),
            uri: &held.uri,
            url: held.url.as_deref(),
            replies_count: 0,
            reblogs_count: 0,
            favourites_count: 0,
            markdown: false,
            status_reference_ids: [],
            status_references_count: 0,
            status_referred_by_count: 0,
            quotes_count: 0,
            quote_approval: QuoteApproval { automatic: [], manual: [], current_user: "denied" },
            edited_at: held.edited_at.map(Time::to_api),
            content: &held.content,
            media_attachments: &held.media.0,
            mentions: [],
            tags: [],
            emojis,
            card: None,
            poll: None,
            account,
            reblog: None,
        }
    }
}

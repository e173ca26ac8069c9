//! Composing a status: validation, mentions, hashtags, rendering to HTML. Shared by publishing and editing.
//!
//! Reads the database (who is mentioned), changes nothing. Spec: docs/contract/rules.md#10-statuses and
//! docs/contract/rules.md#11-html.

use std::collections::BTreeMap;
use std::time::Duration;

use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::status::Visibility;
use model::{AccountId, Actor, RowId, StatusId, TagId};
use store::mention::Mentionable;

/// The text of a status, ready to be stored.
#[derive(Debug)]
pub struct Words {
    /// The source text, trimmed, with this server's own domain removed from mentions.
    pub text: String,
    /// The rendered HTML.
    pub content: String,
    /// The content warning; empty for none.
    pub spoiler_text: String,
    /// Who is mentioned, in the order of the text, each once.
    pub mentions: Vec<AccountId>,
    /// Hashtags: normalised and as written, each once.
    pub tags: Vec<(String, String)>,
    /// The addresses of other statuses that it refers to.
    pub references: Vec<text::Reference>,
    /// How long it lasts, if it says so.
    pub lasts: Option<Duration>,
}

/// Validates and renders `text`, which may be Markdown, and `spoiler_text`. With `has_media`, the text may be empty.
///
/// # Errors
/// [`Error::Invalid`] when the status is empty or too long, or a hashtag is not allowed.
pub async fn words(
    cx: &Cx,
    actor: &Actor,
    text: &str,
    spoiler_text: &str,
    has_media: bool,
    markdown: bool,
) -> Result<Words> {
    let (mut text, mut spoiler_text) = (text.trim().to_owned(), spoiler_text.trim().to_owned());
    if text.is_empty() {
        // A content warning without text becomes the text.
        text = std::mem::take(&mut spoiler_text);
    }
    if text.is_empty() && !has_media {
        return Err(Error::invalid("Validation failed: Text can't be blank"));
    }
    check_length(cx, &text, &spoiler_text)?;
    let text = text::rewrite_local_mentions(&text, &local_domains(cx));
    let scan = if markdown { text::scan_markup(&text) } else { text::scan(&text) };
    let tags = tags(cx, &scan)?;
    let references = text::references(&text, &scan);
    let mentioned = mentioned(cx, actor.id, &scan).await?;
    let content =
        if markdown { render(cx, &text, &mentioned, text::markup_to_html) } else { to_html(cx, &text, &mentioned) };
    let lasts = text::expiry(&scan);
    let mentions = mentioned.iter().map(|account| account.id).collect();
    Ok(Words { content, spoiler_text, mentions, tags, references, lasts, text })
}

/// All domains of this server.
pub fn local_domains(cx: &Cx) -> Vec<&str> {
    let server = &cx.config.server;
    [&server.local_domain, &server.web_domain]
        .into_iter()
        .chain(&server.alternate_domains)
        .map(config::Domain::as_str)
        .collect()
}

fn check_length(cx: &Cx, text: &str, spoiler_text: &str) -> Result<()> {
    let most = cx.settings().max_characters;
    let length = text::length(text) + text::length(spoiler_text);
    if i64::try_from(length).is_ok_and(|length| length <= most) {
        return Ok(());
    }
    Err(Error::invalid(format!("Validation failed: Text character limit of {most} exceeded ({length})")))
}

fn tags(cx: &Cx, scan: &text::Scan) -> Result<Vec<(String, String)>> {
    let mut tags = BTreeMap::new();
    for tag in scan.hashtags() {
        tags.entry(tag.name.clone()).or_insert_with(|| tag.display.clone());
    }
    let settings = cx.settings();
    let refused: Vec<&str> =
        tags.keys().filter(|name| settings.disallowed_hashtags.contains(name)).map(String::as_str).collect();
    if refused.is_empty() {
        return Ok(tags.into_iter().collect());
    }
    Err(Error::invalid(format!("Validation failed: These hashtags must not be used: {}", refused.join(", "))))
}

/// The HTML of `text`, in which `mentioned` are linked.
pub(crate) fn to_html(cx: &Cx, text: &str, mentioned: &[Mentionable]) -> String {
    render(cx, text, mentioned, text::to_html)
}

fn render(
    cx: &Cx,
    text: &str,
    mentioned: &[Mentionable],
    to_html: impl Fn(&str, &text::Links<'_>) -> String,
) -> String {
    let target = |account: &Mentionable| text::MentionTarget {
        username: account.username.clone(),
        domain: account.domain.clone(),
        url: account.url.clone().unwrap_or_else(|| account.uri.clone()),
    };
    let targets: Vec<text::MentionTarget> = mentioned.iter().map(target).collect();
    to_html(text, &text::Links { web_origin: &cx.urls.origin, mentions: &targets })
}

/// The accounts mentioned in a text that `actor` may mention, in its order, each once.
pub(crate) async fn mentioned(cx: &Cx, actor: AccountId, scan: &text::Scan) -> Result<Vec<Mentionable>> {
    let mut handles: Vec<String> = Vec::new();
    for mention in scan.mentions() {
        let handle = match &mention.domain {
            None => mention.username.to_lowercase(),
            Some(domain) => format!("{}@{domain}", mention.username.to_lowercase()),
        };
        if !handles.contains(&handle) {
            handles.push(handle);
        }
    }
    if handles.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = store::mention::list_mentionable(&cx.db, actor, &handles).await?;
    let place = |account: &Mentionable| {
        let handle = match &account.domain {
            None => account.username.to_lowercase(),
            Some(domain) => format!("{}@{}", account.username.to_lowercase(), domain.to_lowercase()),
        };
        handles.iter().position(|wanted| *wanted == handle)
    };
    found.sort_by_key(place);
    Ok(found)
}

/// Stores hashtags and links them to `status`, which has none yet. They can be found when it is of a visibility that
/// anyone may read.
pub async fn save_tags(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    author: AccountId,
    visibility: Visibility,
    tags: &[(String, String)],
) -> Result<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let now = cx.clock.now();
    let names: Vec<String> = tags.iter().map(|(name, _)| name.clone()).collect();
    let known = store::tag::list_for_status(tx, &names).await?;
    let new = tags.iter().filter(|(name, _)| !known.iter().any(|(_, known, _)| known == name));
    let new: Vec<_> = new.map(|(name, display)| (cx.ids.next(), name.as_str(), display.as_str())).collect();
    if !new.is_empty() {
        store::tag::insert(tx, new, visibility.is_anonymous(), now).await?;
    }
    let known = if known.len() == tags.len() { known } else { store::tag::list_for_status(tx, &names).await? };
    let ids: Vec<TagId> = known.iter().map(|(id, ..)| *id).collect();
    if visibility.is_anonymous() && known.iter().any(|(.., public)| !public) {
        let hidden = tags.iter().filter(|(name, _)| known.iter().any(|(_, known, public)| known == name && !public));
        store::tag::publish(tx, hidden.map(|(name, display)| (name.as_str(), display.as_str())).collect()).await?;
    }
    store::tag::insert_for_status(tx, status, author, &ids).await?;
    Ok(())
}

/// Stores mentions; returns their ids, for notifications.
pub async fn save_mentions(
    cx: &Cx,
    tx: &mut Tx,
    status: StatusId,
    mentions: &[AccountId],
    silent: bool,
) -> Result<Vec<(RowId, AccountId)>> {
    let saved: Vec<(RowId, AccountId)> = mentions.iter().map(|account| (cx.ids.next(), *account)).collect();
    if !saved.is_empty() {
        store::mention::upsert(tx, status, &saved, silent).await?;
    }
    Ok(saved)
}

/// The language of a status: the first supported one of the parameter, the account's preference, the request's
/// `Accept-Language` and the server's default.
#[must_use]
pub fn language(cx: &Cx, actor: &Actor, parameter: Option<&str>, request: Option<&str>) -> Option<String> {
    let choices = [parameter, actor.preferences.default_language.as_deref(), actor.locale.as_deref()];
    choices
        .into_iter()
        .flatten()
        .find_map(text::language::resolve)
        .or_else(|| request.and_then(text::language::from_accept_language))
        .or_else(|| text::language::resolve(cx.config.server.locale.as_str()))
        .map(str::to_owned)
}

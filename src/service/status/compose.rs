//! From what someone wrote to what is stored: checks, mentions, hashtags, HTML. Shared by publishing and editing.
//!
//! Reads the database (who is mentioned), changes nothing. Spec: contract rules, sections 10 and 11.

use std::collections::BTreeMap;

use crate::app::App;
use crate::error::{Error, Result};
use model::{AccountId, Actor, RowId, StatusId, TagId};
use store::Tx;
use store::publish::Mentionable;

/// The words of a status, ready to be stored.
#[derive(Debug)]
pub struct Words {
    /// What was written, trimmed, with this server's own domain taken out of mentions.
    pub text: String,
    /// The HTML of it.
    pub content: String,
    /// The content warning; empty for none.
    pub spoiler_text: String,
    /// Who is mentioned, in the order of the text, each once.
    pub mentions: Vec<AccountId>,
    /// Hashtags: normal name and as written, each once.
    pub tags: Vec<(String, String)>,
}

/// Checks and works out `text` and `spoiler_text`. `has_media` makes an empty text good enough.
///
/// # Errors
/// [`Error::Invalid`] when there is nothing to post, too much of it, or a hashtag that must not be used.
pub async fn words(app: &App, actor: &Actor, text: &str, spoiler_text: &str, has_media: bool) -> Result<Words> {
    let (mut text, mut spoiler_text) = (text.trim().to_owned(), spoiler_text.trim().to_owned());
    if text.is_empty() {
        // A warning alone is the text.
        text = std::mem::take(&mut spoiler_text);
    }
    if text.is_empty() && !has_media {
        return Err(Error::invalid("Validation failed: Text can't be blank"));
    }
    check_length(app, &text, &spoiler_text)?;
    let text = text::rewrite_local_mentions(&text, &local_domains(app));
    let scan = text::scan(&text);
    let tags = tags(app, &scan)?;
    let mentioned = mentioned(app, actor, &scan).await?;
    let targets: Vec<text::MentionTarget> = mentioned
        .iter()
        .map(|account| text::MentionTarget {
            username: account.username.clone(),
            domain: account.domain.clone(),
            url: account.url.clone().unwrap_or_else(|| account.uri.clone()),
        })
        .collect();
    let content = text::to_html(&text, &text::Links { web_origin: &app.urls.origin, mentions: &targets });
    Ok(Words { content, spoiler_text, mentions: mentioned.iter().map(|account| account.id).collect(), tags, text })
}

/// Every domain that means this server.
pub fn local_domains(app: &App) -> Vec<&str> {
    let server = &app.config.server;
    [&server.local_domain, &server.web_domain]
        .into_iter()
        .chain(&server.alternate_domains)
        .map(config::Domain::as_str)
        .collect()
}

fn check_length(app: &App, text: &str, spoiler_text: &str) -> Result<()> {
    let most = app.settings().max_characters;
    let length = text::length(text) + text::length(spoiler_text);
    if i64::try_from(length).is_ok_and(|length| length <= most) {
        return Ok(());
    }
    Err(Error::invalid(format!("Validation failed: Text character limit of {most} exceeded ({length})")))
}

fn tags(app: &App, scan: &text::Scan) -> Result<Vec<(String, String)>> {
    let mut tags = BTreeMap::new();
    for tag in scan.hashtags() {
        tags.entry(tag.name.clone()).or_insert_with(|| tag.display.clone());
    }
    let settings = app.settings();
    let refused: Vec<&str> =
        tags.keys().filter(|name| settings.disallowed_hashtags.contains(name)).map(String::as_str).collect();
    if refused.is_empty() {
        return Ok(tags.into_iter().collect());
    }
    Err(Error::invalid(format!("Validation failed: These hashtags must not be used: {}", refused.join(", "))))
}

async fn mentioned(app: &App, actor: &Actor, scan: &text::Scan) -> Result<Vec<Mentionable>> {
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
    let mut found = store::publish::mentionable(&app.db, actor.id, &handles).await?;
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

/// Stores hashtags and gives them to `status`.
///
/// # Errors
/// When the database does.
pub async fn save_tags(
    app: &App,
    tx: &mut Tx,
    status: StatusId,
    author: AccountId,
    tags: &[(String, String)],
) -> Result<()> {
    let now = app.clock.now();
    let names: Vec<String> = tags.iter().map(|(name, _)| name.clone()).collect();
    let known = store::tag::list_by_names(&mut *tx, &names).await?;
    let new = tags.iter().filter(|(name, _)| !known.iter().any(|(_, known)| known == name));
    let new: Vec<_> = new.map(|(name, display)| (app.ids.next(), name.as_str(), display.as_str())).collect();
    if !new.is_empty() {
        store::tag::insert(tx, new, now).await?;
    }
    let known = if known.len() == tags.len() { known } else { store::tag::list_by_names(&mut *tx, &names).await? };
    let ids: Vec<TagId> = known.into_iter().map(|(id, _)| id).collect();
    store::tag::set_for_status(tx, status, author, &ids, now).await?;
    Ok(())
}

/// Stores who is mentioned; gives the mentions' own ids, for their notifications.
///
/// # Errors
/// When the database does.
pub async fn save_mentions(
    app: &App,
    tx: &mut Tx,
    status: StatusId,
    mentions: &[AccountId],
    silent: bool,
) -> Result<Vec<(RowId, AccountId)>> {
    let saved: Vec<(RowId, AccountId)> = mentions.iter().map(|account| (app.ids.next(), *account)).collect();
    if !saved.is_empty() {
        store::publish::upsert_mentions(tx, status, &saved, silent).await?;
    }
    Ok(saved)
}

/// The language of a status: the first that is supported of the parameter, the person's choices, the request's and the
/// server's own.
#[must_use]
pub fn language(app: &App, actor: &Actor, parameter: Option<&str>, request: Option<&str>) -> Option<String> {
    let choices = [parameter, actor.preferences.default_language.as_deref(), actor.locale.as_deref()];
    choices
        .into_iter()
        .flatten()
        .find_map(text::language::resolve)
        .or_else(|| request.and_then(text::language::from_accept_language))
        .or_else(|| text::language::resolve(app.config.server.locale.as_str()))
        .map(str::to_owned)
}

//! Composing a status: validation, mentions, hashtags, rendering to HTML. Shared by publishing and editing.
//!
//! Reads the database (who is mentioned), changes nothing. Spec: docs/contract/rules.md#10-statuses and
//! docs/contract/rules.md#11-html.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::poll::CheckedPoll;
use crate::rules::word;
use context::Cx;
use context::error::{Error, Result};
use context::extension::PendingStatus;
use model::{AccountId, Actor};
use serde_json::{Map, Value};
use store::mention::Mentionable;

/// The text of a status, ready to be stored.
#[derive(Debug)]
pub struct ComposedText {
    /// The source text, trimmed, with this server's own domain removed from mentions.
    pub text: String,
    /// The rendered HTML.
    pub content: String,
    /// The content warning; empty for none.
    pub spoiler_text: String,
    /// The mentioned accounts, in the order of the text, each once.
    pub mentions: Vec<AccountId>,
    /// Hashtags: normalised and as written, each once.
    pub tags: Vec<(String, String)>,
    /// The URLs of other statuses that it refers to.
    pub references: Vec<text::Reference>,
    /// How long it lasts, if the text specifies it.
    pub lasts: Option<Duration>,
}

/// The text of a status as its author sent it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// May be empty with media.
    pub text: &'a str,
    /// The content warning.
    pub spoiler_text: &'a str,
    /// Whether the status has attachments.
    pub has_media: bool,
    /// Whether the text is Markdown.
    pub markdown: bool,
}

/// Validates and renders a text.
///
/// # Errors
/// [`Error::Invalid`] when the status is empty or too long, or a hashtag is not allowed.
pub async fn words(cx: &Cx, actor: &Actor, source: Source<'_>) -> Result<ComposedText> {
    let Source { text, spoiler_text, has_media, markdown } = source;
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
    let tags = tags(cx, &scan).await?;
    let references = text::references(&text, &scan);
    let mentioned = mentioned(cx, actor.id, &scan).await?;
    let content =
        if markdown { render(cx, &text, &mentioned, text::markup_to_html) } else { to_html(cx, &text, &mentioned) };
    let lasts = text::expiry(&scan);
    let mentions = mentioned.iter().map(|account| account.id).collect();
    Ok(ComposedText { content, spoiler_text, mentions, tags, references, lasts, text })
}

/// Sends `pending`, a status with these words, to the filters of plugins; composes it again if they changed its text.
/// `params` and `visibility`: the parameters of the request for plugins.
///
/// # Errors
/// As [`words`]; [`Error::Refused`] and [`Error::Plugin`] from a plugin.
pub(super) async fn filtered(
    cx: &Cx,
    actor: &Actor,
    words: ComposedText,
    pending: PendingStatus,
    (source, params, visibility): (Source<'_>, &Map<String, Value>, Option<&str>),
) -> Result<(ComposedText, PendingStatus)> {
    if !cx.extensions().filters_drafts() {
        return Ok((words, pending));
    }
    let pending = cx.extensions().filter_draft(cx, actor, pending, params, visibility).await?;
    if (&pending.text, &pending.spoiler_text) == (&words.text, &words.spoiler_text) {
        return Ok((words, pending));
    }
    let changed = Source { text: &pending.text, spoiler_text: &pending.spoiler_text, ..source };
    Ok((self::words(cx, actor, changed).await?, pending))
}

/// Applies the word lists of the staff to a status with these words and this poll: refuses it, or makes it sensitive.
///
/// # Errors
/// [`Error::Invalid`] for a text that is not allowed.
pub(super) fn moderate(
    cx: &Cx,
    words: &mut ComposedText,
    poll: Option<&CheckedPoll>,
    sensitive: &mut bool,
) -> Result<()> {
    let options = poll.map_or(&[][..], |poll| poll.options()).iter().map(String::as_str);
    let texts: Vec<&str> = [words.text.as_str(), words.spoiler_text.as_str()].into_iter().chain(options).collect();
    if let Some(warning) = word::moderate(cx, &texts)? {
        *sensitive = true;
        if words.spoiler_text.is_empty() {
            words.spoiler_text = warning;
        }
    }
    Ok(())
}

/// Checks that `words` mention only accounts in `allowed`.
///
/// # Errors
/// [`Error::UnexpectedMentions`].
pub(super) fn check_mentions(words: &ComposedText, allowed: Option<&[AccountId]>) -> Result<()> {
    let Some(allowed) = allowed else { return Ok(()) };
    let unexpected: Vec<AccountId> =
        words.mentions.iter().copied().filter(|account| !allowed.contains(account)).collect();
    if unexpected.is_empty() { Ok(()) } else { Err(Error::UnexpectedMentions(unexpected)) }
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

/// The hashtags of a text: one statement, or none without hashtags.
///
/// # Errors
/// [`Error::Invalid`] for hashtags that the settings or a review exclude.
async fn tags(cx: &Cx, scan: &text::Scan) -> Result<Vec<(String, String)>> {
    let mut tags = BTreeMap::new();
    for tag in scan.hashtags() {
        tags.entry(tag.name.clone()).or_insert_with(|| tag.display.clone());
    }
    if tags.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = tags.keys().cloned().collect();
    let unusable = store::tag_review::list_unusable(&cx.db, &names).await?;
    let settings = cx.settings();
    let refused: Vec<&str> = names
        .iter()
        .filter(|name| settings.disallowed_hashtags.contains(name) || unusable.contains(name))
        .map(String::as_str)
        .collect();
    if refused.is_empty() {
        return Ok(tags.into_iter().collect());
    }
    Err(Error::invalid(format!("Validation failed: These hashtags must not be used: {}", refused.join(", "))))
}

/// The HTML of `text`, with links to `mentioned`.
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

/// The accounts mentioned in a text that `actor` may mention, in its order, each once. Accounts of other servers that are
/// not known yet are looked up there.
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
    let is_found = |handle: &String| found.iter().any(|account| handle_of(account) == *handle);
    let unknown: Vec<String> =
        handles.iter().filter(|handle| handle.contains('@') && !is_found(handle)).cloned().collect();
    if !unknown.is_empty() && !cx.federation.find_accounts(cx, &unknown).await?.is_empty() {
        found = store::mention::list_mentionable(&cx.db, actor, &handles).await?;
    }
    let place = |account: &Mentionable| {
        let handle = handle_of(account);
        handles.iter().position(|wanted| *wanted == handle)
    };
    found.sort_by_key(place);
    Ok(found)
}

/// The address of an account in lower case, without the domain for one of this server.
fn handle_of(account: &Mentionable) -> String {
    match &account.domain {
        None => account.username.to_lowercase(),
        Some(domain) => format!("{}@{}", account.username.to_lowercase(), domain.to_lowercase()),
    }
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

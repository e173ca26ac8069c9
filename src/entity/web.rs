//! View models of web pages and feeds: template values for accounts and statuses, built a page at a time.
//!
//! Like the API's entities: one statement per kind of row, whatever the page's length, and statuses arrive as [`Seen`].
//! A field called `*_html` is sanitised and is not escaped.

mod poll;
mod request;

pub use poll::{WebOption, WebPoll};
pub use request::{WebRequest, WebTarget, requests};

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::account;
use super::emoji::{CustomEmoji, Palette};
use context::json::media::MediaAttachment;

use context::Cx;
use context::error::Result;
use context::messages::Language;
use model::account::ActorType;
use model::{AccountId, Status, StatusId, Time, Visibility};
use service::visibility::Seen;
use store::account::AccountWithRole;

/// Longest title of a status in a feed, in characters.
const TITLE_CHARS: usize = 60;

/// The author of a status, or an account in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Author {
    #[serde(skip)]
    pub id: AccountId,
    pub display_name: String,
    pub display_name_html: String,
    pub acct: String,
    pub url: String,
    pub avatar: String,
    /// Excluded from search engines.
    #[serde(skip)]
    pub noindex: bool,
    /// The statuses may be indexed by search engines.
    #[serde(skip)]
    pub indexable: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Media {
    pub kind: model::media::MediaKind,
    pub url: Option<String>,
    pub preview_url: Option<String>,
    pub description: Option<String>,
    /// Width of the preview, in pixels.
    pub width: Option<u64>,
    /// Height of the preview, in pixels.
    pub height: Option<u64>,
    pub mime_type: String,
    pub size_bytes: i64,
}

/// A status, on a page or in a feed.
#[derive(Clone, Debug, Serialize)]
pub struct WebStatus {
    #[serde(skip)]
    pub id: StatusId,
    pub url: String,
    pub uri: String,
    pub author: Author,
    /// The first words of the text; for feeds.
    pub title: String,
    /// The whole text without markup, for link previews of the page.
    #[serde(skip)]
    pub words: String,
    pub content_html: String,
    pub spoiler_text: String,
    pub created_at_iso: String,
    pub created_at_human: String,
    pub created_at_rfc2822: String,
    pub updated_at_iso: Option<String>,
    pub edited: bool,
    pub visibility: &'static str,
    #[serde(skip)]
    pub is_public: bool,
    pub sensitive: bool,
    pub media: Vec<Media>,
    pub poll: Option<WebPoll>,
    pub replies_count: i64,
    pub reblogs_count: i64,
    pub favourites_count: i64,
    pub language: Option<String>,
    pub reblogged_by: Option<Author>,
    pub pinned: bool,
}

/// Builds a page of statuses, in the order given. Four statements, and one more when a status has a poll.
pub async fn statuses(cx: &Cx, page: &[Seen]) -> Result<Vec<WebStatus>> {
    if page.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<StatusId> = page.iter().map(|seen| seen.proper().id).collect();
    let rows = store::status::list(&cx.db, &ids).await?;
    let mut media: BTreeMap<StatusId, Vec<Media>> = BTreeMap::new();
    for row in store::media::list_for_statuses(&cx.db, &ids).await? {
        if let Some(status) = row.status_id {
            media.entry(status).or_default().push(Media::new(cx, &row));
        }
    }
    let polls = poll::of_page(cx, page).await?;
    let people = page.iter().flat_map(|seen| [seen.head().account_id, seen.proper().account_id]);
    let mut people: Vec<AccountId> = people.collect();
    people.sort_unstable();
    people.dedup();
    let accounts = store::account::list_with_roles(&cx.db, &people).await?;
    let accounts: HashMap<AccountId, model::Account> =
        accounts.into_iter().map(|row| (row.account.id, row.account)).collect();
    let palette = palette(cx, &rows, &accounts).await?;
    let rows: HashMap<StatusId, Status> = rows.into_iter().map(|status| (status.id, status)).collect();
    let shown = page.iter().filter_map(|seen| {
        let status = rows.get(&seen.proper().id)?;
        let author = accounts.get(&status.account_id)?;
        let reblogger = accounts.get(&seen.head().account_id).filter(|_| seen.original().is_some());
        let media = media.get(&status.id).cloned().unwrap_or_default();
        let mut shown = WebStatus::new(cx, &palette, status, author, media);
        shown.poll = polls.get(&status.id).cloned();
        shown.reblogged_by = reblogger.map(|account| Author::new(cx, &palette, account));
        Some(shown)
    });
    Ok(shown.collect())
}

/// Loads all emojis used in the texts and names of a page.
async fn palette(cx: &Cx, rows: &[Status], accounts: &HashMap<AccountId, model::Account>) -> Result<Palette> {
    let names = accounts.values().map(|account| (account.domain.as_deref(), account.display_name.as_str()));
    let texts = rows.iter().map(|status| {
        let author = accounts.get(&status.account_id);
        (author.and_then(|account| account.domain.as_deref()), status.content.as_str())
    });
    Palette::load(cx, &names.chain(texts).collect::<Vec<_>>()).await
}

impl WebStatus {
    fn new(cx: &Cx, palette: &Palette, status: &Status, author: &model::Account, media: Vec<Media>) -> Self {
        let words = text::plain(&status.content);
        Self {
            id: status.id,
            url: status.url.clone().unwrap_or_else(|| status.uri.clone()),
            uri: status.uri.clone(),
            title: title(cx.language(), &words, &media),
            words,
            content_html: drawn(cx, palette, author.domain.as_deref(), &status.content),
            spoiler_text: status.spoiler_text.clone(),
            created_at_iso: status.created_at.to_api_seconds(),
            created_at_human: cx.language().minute(&status.created_at),
            created_at_rfc2822: status.created_at.to_rfc2822(),
            updated_at_iso: status.edited_at.map(Time::to_api_seconds),
            edited: status.edited_at.is_some(),
            visibility: status.visibility.coarse(),
            is_public: matches!(status.visibility, Visibility::Public | Visibility::PublicUnlisted),
            sensitive: status.sensitive || author.is_sensitized(),
            media,
            poll: None,
            replies_count: status.replies_count,
            reblogs_count: status.reblogs_count,
            favourites_count: status.favourites_count,
            language: status.language.clone(),
            reblogged_by: None,
            pinned: false,
            author: Author::new(cx, palette, author),
        }
    }
}

impl Author {
    fn new(cx: &Cx, palette: &Palette, account: &model::Account) -> Self {
        let name = display_name(account);
        Self {
            id: account.id,
            display_name: name.to_owned(),
            display_name_html: drawn(cx, palette, account.domain.as_deref(), &text::escape(name)),
            acct: account.acct(),
            url: account.url.clone().unwrap_or_else(|| account.uri.clone()),
            avatar: account::Images::new(cx, account).avatar,
            noindex: account.other_settings.noindex || account.is_limited(),
            indexable: account.indexable,
        }
    }
}

impl Media {
    fn new(cx: &Cx, media: &model::MediaAttachment) -> Self {
        let shown = MediaAttachment::new(media, &cx.urls);
        let side = |name: &str| {
            let size = shown.meta.get("small").or_else(|| shown.meta.get("original"));
            size.and_then(|size| size.get(name)).and_then(serde_json::Value::as_u64)
        };
        Self {
            kind: shown.kind,
            width: side("width"),
            height: side("height"),
            mime_type: media.mime.clone(),
            size_bytes: media.size_bytes,
            url: shown.url,
            preview_url: shown.preview_url,
            description: shown.description,
        }
    }
}

/// An account, on its own page.
#[derive(Clone, Debug, Serialize)]
pub struct WebAccount {
    pub display_name: String,
    pub display_name_html: String,
    pub username: String,
    pub acct: String,
    pub url: String,
    pub uri: String,
    pub avatar: String,
    pub header: String,
    pub note_html: String,
    /// The note without markup.
    pub note_text: String,
    pub fields: Vec<WebField>,
    pub locked: bool,
    pub bot: bool,
    pub group: bool,
    pub memorial: bool,
    pub moved_to: Option<Moved>,
    pub followers_count: i64,
    pub following_count: i64,
    pub statuses_count: i64,
    pub created_at_iso: String,
    pub created_at_human: String,
    /// URLs in profile fields, published with `rel="me"`.
    #[serde(skip)]
    pub rel_me: Vec<String>,
}

/// A profile field.
#[derive(Clone, Debug, Serialize)]
pub struct WebField {
    pub name_html: String,
    pub value_html: String,
    pub verified_at_human: Option<String>,
}

/// The account that this one moved to.
#[derive(Clone, Debug, Serialize)]
pub struct Moved {
    pub acct: String,
    pub url: String,
}

/// Builds the view of `account` for its own page.
pub async fn account(cx: &Cx, account: &model::Account) -> Result<WebAccount> {
    let domain = account.domain.as_deref();
    let fields = account.fields.iter().flat_map(|field| [field.name.as_str(), field.html.as_str()]);
    let texts = [account.display_name.as_str(), account.note_html.as_str()].into_iter().chain(fields);
    let palette = Palette::load(cx, &texts.map(|text| (domain, text)).collect::<Vec<_>>()).await?;
    let moved_to = match account.moved_to_account_id {
        None => None,
        Some(id) => store::account::find(&cx.db, id)
            .await?
            .map(|account| Moved { acct: account.acct(), url: account.url.unwrap_or(account.uri) }),
    };
    let author = Author::new(cx, &palette, account);
    let settings = &account.other_settings;
    let count = |hidden: bool, count: i64| if hidden { 0 } else { count };
    Ok(WebAccount {
        display_name: author.display_name,
        display_name_html: author.display_name_html,
        username: account.username.clone(),
        acct: author.acct,
        url: author.url,
        uri: account.uri.clone(),
        avatar: author.avatar,
        header: account::Images::new(cx, account).header,
        note_html: drawn(cx, &palette, domain, &account.note_html),
        note_text: text::plain(&account.note_html),
        fields: account.fields.iter().map(|field| WebField::new(cx, &palette, domain, field)).collect(),
        locked: account.locked,
        bot: matches!(account.actor_type, ActorType::Service | ActorType::Application),
        group: account.actor_type == ActorType::Group,
        memorial: account.memorial,
        moved_to,
        followers_count: count(settings.hide_followers_count, account.followers_count),
        following_count: count(settings.hide_following_count, account.following_count),
        statuses_count: count(settings.hide_statuses_count, account.statuses_count),
        created_at_iso: account.created_at.to_api_date(),
        created_at_human: cx.language().month(&account.created_at),
        rel_me: account.fields.iter().filter_map(address).collect(),
    })
}

/// Builds the authors of `ids` without suspended accounts, in no particular order.
pub async fn authors(cx: &Cx, ids: &[AccountId]) -> Result<Vec<Author>> {
    let mut rows = store::account::list_with_roles(&cx.db, ids).await?;
    rows.retain(|row| !row.account.is_suspended());
    let names: Vec<_> =
        rows.iter().map(|row| (row.account.domain.as_deref(), row.account.display_name.as_str())).collect();
    let palette = Palette::load(cx, &names).await?;
    Ok(rows.iter().map(|AccountWithRole { account, .. }| Author::new(cx, &palette, account)).collect())
}

impl WebField {
    fn new(cx: &Cx, palette: &Palette, domain: Option<&str>, field: &model::Field) -> Self {
        Self {
            name_html: drawn(cx, palette, domain, &text::escape(&field.name)),
            value_html: drawn(cx, palette, domain, &field.html),
            verified_at_human: field.verified_at.map(|micros| cx.language().day(&Time::from_micros(micros))),
        }
    }
}

/// The URL of a local account's field whose value is just a URL.
fn address(field: &model::Field) -> Option<String> {
    let value = field.value.trim();
    let is_address = (value.starts_with("https://") || value.starts_with("http://"))
        && !value.contains(char::is_whitespace)
        && url::Url::parse(value).is_ok();
    is_address.then(|| value.to_owned())
}

fn display_name(account: &model::Account) -> &str {
    if account.display_name.is_empty() { &account.username } else { &account.display_name }
}

/// `text` as HTML, with the pictures of this server's emojis in place of their shortcodes.
#[must_use]
pub fn with_emojis(cx: &Cx, text: &str) -> String {
    drawn(cx, &Palette::of_this_server(cx), None, &text::escape(text))
}

/// Replaces shortcodes in `html` by the emoji images of `domain`.
fn drawn(cx: &Cx, palette: &Palette, domain: Option<&str>, html: &str) -> String {
    let emojis = palette.of(&cx.urls, domain, &[html]);
    if emojis.is_empty() {
        return html.to_owned();
    }
    let url = |name: &str| emojis.iter().find(|emoji| emoji.shortcode == name).map(picture);
    text::emojify(html, url)
}

fn picture(emoji: &CustomEmoji) -> &str {
    &emoji.url
}

/// The first line of a status; without text, the name of its kind.
fn title(language: Language, words: &str, media: &[Media]) -> String {
    let line = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() {
        return language.say(if media.is_empty() { "feed.status" } else { "feed.media" });
    }
    clip(line, TITLE_CHARS)
}

/// Truncates `text` to `max` characters, at a word boundary where possible.
#[must_use]
pub fn clip(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let cut = &text[..end];
    let words = cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_cut_between_words() {
        assert_eq!(clip("short", 10), "short");
        assert_eq!(clip("one two three", 9), "one two…");
        assert_eq!(clip("öööööö", 3), "ööö…");
        assert_eq!(title(Language::English, "\n first line \nsecond", &[]), "first line");
    }
}

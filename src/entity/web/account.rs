//! An account on its own web page.

use serde::Serialize;

use crate::account::Images;
use crate::emoji::{CustomEmoji, Palette};
use context::Cx;
use context::error::Result;
use model::Time;
use model::account::ActorType;

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
    let (name, images) = (display_name(account), Images::new(cx, account));
    let settings = &account.other_settings;
    let count = |hidden: bool, count: i64| if hidden { 0 } else { count };
    Ok(WebAccount {
        display_name: name.to_owned(),
        display_name_html: drawn(cx, &palette, domain, &text::escape(name)),
        username: account.username.clone(),
        acct: account.acct(),
        url: account.url.clone().unwrap_or_else(|| account.uri.clone()),
        uri: account.uri.clone(),
        avatar: images.avatar,
        header: images.header,
        note_html: drawn(cx, &palette, domain, &account.note_html),
        note_text: text::plain(&account.note_html),
        fields: account.fields.iter().map(|field| WebField::new(cx, &palette, domain, field)).collect(),
        locked: account.locked,
        bot: is_bot(account),
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

fn is_bot(account: &model::Account) -> bool {
    matches!(account.actor_type, ActorType::Service | ActorType::Application)
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

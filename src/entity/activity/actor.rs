//! The actor document of a local account.

use std::collections::BTreeSet;

use serde::Serialize;

use super::image::Image;
use super::{Files, Tag, emojis};
use crate::emoji::Palette;
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::Account;
use model::account::ActorType;

/// An actor. Collections of an archive have the names of their files.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Actor<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: ActorType,
    following: String,
    followers: String,
    inbox: String,
    outbox: String,
    featured: String,
    featured_tags: String,
    preferred_username: &'a str,
    /// The address (FEP-2c59).
    webfinger: String,
    name: &'a str,
    summary: &'a str,
    url: Option<&'a str>,
    manually_approves_followers: bool,
    discoverable: bool,
    indexable: bool,
    published: String,
    memorial: bool,
    searchable_by: [&'static str; 1],
    other_setting: Vec<PropertyValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<PublicKey<'a>>,
    tag: Vec<Tag>,
    attachment: Vec<PropertyValue<'a>>,
    endpoints: Endpoints,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    also_known_as: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suspended: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    attribution_domains: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "PropertyValue")]
struct PropertyValue<'a> {
    name: &'a str,
    value: Value<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Text(&'a str),
    Flag(bool),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicKey<'a> {
    id: String,
    owner: &'a str,
    public_key_pem: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoints {
    shared_inbox: String,
}

/// Renders the actor document of `account`, a local one, without `@context`.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn actor(cx: &Cx, account: &Account, files: Files<'_>) -> Result<Fragment> {
    let row = store::archive::find_actor(&cx.db, account.id).await?.ok_or(Error::NotFound)?;
    let shown = !account.is_suspended();
    let fields = account.fields.iter().filter(|_| shown);
    let texts: Vec<&str> = [account.display_name.as_str(), account.note_html.as_str()]
        .into_iter()
        .chain(account.fields.iter().flat_map(|field| [field.name.as_str(), field.html.as_str()]))
        .filter(|_| shown)
        .collect();
    let palette = Palette::load(cx, &texts.iter().map(|text| (None, *text)).collect::<Vec<_>>()).await?;
    let image = |key: &Option<String>, description: &str| {
        let key = key.as_deref().filter(|_| shown)?;
        Some(Image::new(files.address(key)).named(description))
    };
    let mut tag = emojis(cx, &palette, &texts);
    if shown {
        let scan = text::scan(&account.note);
        let names: BTreeSet<&str> = scan.hashtags().map(|hashtag| hashtag.name.as_str()).collect();
        tag.extend(names.into_iter().map(|name| Tag::hashtag(&cx.urls, name)));
    }
    let (uri, settings) = (account.uri.as_str(), &account.other_settings.0);
    let own = |rest: &str| format!("{uri}/{rest}");
    let flags = [
        ("noindex", settings.noindex),
        ("hide_network", account.hide_collections.unwrap_or_default()),
        ("hide_statuses_count", settings.hide_statuses_count),
        ("hide_following_count", settings.hide_following_count),
        ("hide_followers_count", settings.hide_followers_count),
        ("translatable_private", settings.translatable_private),
        ("allow_quote", settings.allow_quote),
    ];
    Fragment::of(&Actor {
        id: uri,
        kind: account.actor_type,
        following: own("following"),
        followers: own("followers"),
        inbox: own("inbox"),
        outbox: own("outbox"),
        featured: own("collections/featured"),
        featured_tags: own("collections/tags"),
        preferred_username: &account.username,
        webfinger: format!("{}@{}", account.username, cx.urls.local_domain),
        name: Some(account.display_name.as_str()).filter(|name| shown && !name.is_empty()).unwrap_or(&account.username),
        summary: if shown { &account.note_html } else { "" },
        url: account.url.as_deref(),
        manually_approves_followers: account.locked,
        discoverable: account.discoverable.unwrap_or_default(),
        indexable: account.indexable,
        published: account.created_at.to_api_midnight(),
        memorial: account.memorial,
        searchable_by: [super::PUBLIC],
        other_setting: flags.map(|(name, set)| PropertyValue { name, value: Value::Flag(set) }).into(),
        public_key: row.public_key.as_deref().map(|pem| PublicKey {
            id: format!("{uri}#main-key"),
            owner: uri,
            public_key_pem: pem,
        }),
        tag,
        attachment: fields.map(|field| PropertyValue { name: &field.name, value: Value::Text(&field.html) }).collect(),
        endpoints: Endpoints { shared_inbox: cx.urls.path("/inbox") },
        moved_to: row.moved_to.as_deref().filter(|_| shown),
        also_known_as: &row.also_known_as,
        suspended: !shown,
        attribution_domains: &account.attribution_domains,
        icon: image(&account.avatar, &account.avatar_description),
        image: image(&account.header, &account.header_description),
    })
}

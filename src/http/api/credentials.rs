//! Reading and updating the signed-in user's own account.
//!
//! Spec: <https://docs.joinmastodon.org/methods/accounts/#verify_credentials>

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{Profile, WriteAccounts};
use crate::extract::{Auth, Upload, Uploads};
use crate::json::Json;
use model::account::Searchability;
use model::params::{flag, list, text};
use model::{Actor, QuotePolicy, Visibility};

use service::profile::Changes;
use service::profile_image::Picture;

/// `GET /api/v1/accounts/verify_credentials`
pub async fn show(cx: Cx, Auth(viewer, ..): Auth<Profile>) -> Result<Json<entity::CredentialAccount>> {
    Ok(Json::new(entity::credential::show(&cx, viewer.id).await?))
}

/// Body parameters of [`update`]; absent parameters change nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CredentialParams {
    /// At most 30 characters.
    #[serde(deserialize_with = "text")]
    display_name: Option<String>,
    /// At most 500 characters; a URL counts as 23, a mention without its domain.
    #[serde(deserialize_with = "text")]
    note: Option<String>,
    /// Whether follow requests must be approved. Changing it to `false` accepts the pending requests.
    #[serde(deserialize_with = "flag")]
    locked: Option<bool>,
    #[serde(deserialize_with = "flag")]
    bot: Option<bool>,
    /// Whether the account is suggested to others.
    #[serde(deserialize_with = "flag")]
    discoverable: Option<bool>,
    /// Whether followers and followed accounts are hidden from others.
    #[serde(deserialize_with = "flag")]
    hide_collections: Option<bool>,
    /// Whether search engines may index the account's pages.
    #[serde(deserialize_with = "flag")]
    indexable: Option<bool>,
    /// Who may find the account's statuses by searching.
    #[serde(deserialize_with = "text")]
    #[schemars(with = "Option<Searchability>")]
    searchability: Option<String>,
    /// Profile fields by index, at most 6; they replace all fields, and those with a blank name are dropped.
    #[serde(deserialize_with = "fields")]
    #[schemars(with = "Option<BTreeMap<String, FieldParams>>")]
    fields_attributes: Option<Vec<FieldParams>>,
    /// Sites that may name the account as the author of their pages in link previews: domains, their subdomains included, at
    /// most 100. They replace all that there are.
    #[serde(deserialize_with = "list")]
    attribution_domains: Option<Vec<String>>,
    /// Alternative text of the avatar: at most 1,500 characters. A new avatar without has none.
    #[serde(deserialize_with = "text")]
    avatar_description: Option<String>,
    /// The same of the header.
    #[serde(deserialize_with = "text")]
    header_description: Option<String>,
    /// Whether the profile has a tab with media.
    #[serde(deserialize_with = "flag")]
    show_media: Option<bool>,
    /// Whether that tab has the media of replies too.
    #[serde(deserialize_with = "flag")]
    show_media_replies: Option<bool>,
    /// Whether the profile has a tab with featured accounts and hashtags.
    #[serde(deserialize_with = "flag")]
    show_featured: Option<bool>,
    source: Option<Source>,
}

/// The files of [`update`].
#[derive(Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(default)]
pub struct CredentialFiles {
    /// JPEG, PNG, GIF or WebP of at most 2 MiB.
    avatar: Option<Upload>,
    /// JPEG, PNG, GIF or WebP of at most 2 MiB.
    header: Option<Upload>,
}

/// Defaults for new statuses.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Source {
    /// The visibility.
    #[schemars(with = "Option<Visibility>")]
    privacy: Option<String>,
    sensitive: Option<bool>,
    /// ISO 639 code; null for none, and an unknown one is ignored.
    #[serde(deserialize_with = "clearable")]
    language: Option<String>,
    #[schemars(with = "Option<Searchability>")]
    searchability: Option<String>,
    /// Who may quote new statuses.
    #[schemars(with = "Option<QuotePolicy>")]
    quote_policy: Option<String>,
}

/// Name and value have at most 255 characters each.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct FieldParams {
    name: Option<String>,
    value: Option<String>,
}

/// `PATCH /api/v1/accounts/update_credentials`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Uploads { params, files }: Uploads<CredentialParams, CredentialFiles>,
) -> Result<Json<entity::CredentialAccount>> {
    change(&cx, &actor, params, files).await?;
    Ok(Json::new(entity::credential::show(&cx, actor.id).await?))
}

/// `GET /api/v1/profile`
pub async fn show_profile(cx: Cx, Auth(viewer, ..): Auth<Profile>) -> Result<Json<entity::Profile>> {
    Ok(Json::new(entity::profile::render(&cx, viewer.id).await?))
}

/// `PATCH /api/v1/profile`: as [`update`], with another answer.
pub async fn update_profile(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Uploads { params, files }: Uploads<CredentialParams, CredentialFiles>,
) -> Result<Json<entity::Profile>> {
    change(&cx, &actor, params, files).await?;
    Ok(Json::new(entity::profile::render(&cx, actor.id).await?))
}

async fn change(cx: &Cx, actor: &Actor, params: CredentialParams, files: CredentialFiles) -> Result<()> {
    let (avatar, header) = files.into_paths();
    let sent = [(Picture::Avatar, avatar), (Picture::Header, header)];
    let pictures = sent.into_iter().filter_map(|(picture, path)| Some((picture, path?))).collect();
    Ok(service::profile::update(cx, actor, params.into(), pictures).await?)
}

impl CredentialFiles {
    /// The avatar and the header.
    pub(crate) fn into_paths(self) -> (Option<PathBuf>, Option<PathBuf>) {
        (self.avatar.map(|file| file.path), self.header.map(|file| file.path))
    }
}

impl FieldParams {
    /// Name and value.
    pub(crate) fn pair(&self) -> (String, String) {
        (self.name.clone().unwrap_or_default(), self.value.clone().unwrap_or_default())
    }
}

impl From<CredentialParams> for Changes {
    fn from(update: CredentialParams) -> Self {
        let source = update.source.unwrap_or_default();
        Self {
            display_name: update.display_name,
            note: update.note,
            locked: update.locked,
            bot: update.bot,
            discoverable: update.discoverable,
            hide_collections: update.hide_collections,
            indexable: update.indexable,
            searchability: update.searchability,
            fields: update.fields_attributes.map(|fields| fields.iter().map(FieldParams::pair).collect()),
            privacy: source.privacy,
            sensitive: source.sensitive,
            language: source.language,
            default_searchability: source.searchability,
            quote_policy: source.quote_policy,
            attribution_domains: update.attribution_domains,
            avatar_description: update.avatar_description,
            header_description: update.header_description,
            show_media: update.show_media,
            show_media_replies: update.show_media_replies,
            show_featured: update.show_featured,
        }
    }
}

/// Profile fields from an object keyed by numbers, in the order in which they were sent. A JSON array is ignored (contract:
/// routes).
pub(crate) fn fields<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<FieldParams>>, D::Error> {
    let Value::Object(members) = Value::deserialize(deserializer)? else { return Ok(None) };
    let read = |(_, field)| serde_json::from_value(field).map_err(serde::de::Error::custom);
    members.into_iter().map(read).collect::<std::result::Result<_, _>>().map(Some)
}

/// The name of a language, which `null` clears; an absent key, and what cannot be one, leave it unchanged.
fn clearable<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Some(String::new())),
        sent => Ok(text(sent).ok().flatten()),
    }
}

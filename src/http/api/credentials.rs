//! Reading and updating the signed-in user's own account.
//!
//! Spec: <https://docs.joinmastodon.org/methods/accounts/#verify_credentials>

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{Profile, WriteAccounts};
use crate::extract::params::{flag, text};
use crate::extract::{Auth, Uploads};
use crate::json::Json;
use rookery_core::entity;
use rookery_core::service;
use rookery_core::service::profile::Changes;
use rookery_core::service::profile_image::Picture;

/// `GET /api/v1/accounts/verify_credentials`
pub async fn show(cx: Cx, Auth(viewer, ..): Auth<Profile>) -> Result<Json> {
    Ok(Json(entity::credential::render(&cx, viewer.id).await?))
}

/// Body parameters of [`update`], except the files `avatar` and `header`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Update {
    #[serde(deserialize_with = "text")]
    display_name: Option<String>,
    #[serde(deserialize_with = "text")]
    note: Option<String>,
    #[serde(deserialize_with = "flag")]
    locked: Option<bool>,
    #[serde(deserialize_with = "flag")]
    bot: Option<bool>,
    #[serde(deserialize_with = "flag")]
    discoverable: Option<bool>,
    #[serde(deserialize_with = "flag")]
    hide_collections: Option<bool>,
    #[serde(deserialize_with = "flag")]
    indexable: Option<bool>,
    #[serde(deserialize_with = "text")]
    searchability: Option<String>,
    #[serde(deserialize_with = "fields")]
    fields_attributes: Option<Vec<FieldParams>>,
    source: Option<Source>,
}

/// Defaults for new statuses.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Source {
    #[serde(deserialize_with = "text")]
    privacy: Option<String>,
    #[serde(deserialize_with = "flag")]
    sensitive: Option<bool>,
    #[serde(deserialize_with = "clearable")]
    language: Option<String>,
    #[serde(deserialize_with = "text")]
    searchability: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FieldParams {
    #[serde(deserialize_with = "text")]
    name: Option<String>,
    #[serde(deserialize_with = "text")]
    value: Option<String>,
}

/// `PATCH /api/v1/accounts/update_credentials`
pub async fn update(cx: Cx, Auth(actor, ..): Auth<WriteAccounts>, upload: Uploads<Update>) -> Result<Json> {
    let sent = [(Picture::Avatar, "avatar"), (Picture::Header, "header")];
    let pictures = sent.into_iter().filter_map(|(picture, name)| Some((picture, upload.file(name)?.bytes.clone())));
    let pictures = pictures.collect();
    service::profile::update(&cx, &actor, upload.params.into(), pictures).await?;
    Ok(Json(entity::credential::render(&cx, actor.id).await?))
}

impl From<Update> for Changes {
    fn from(update: Update) -> Self {
        let source = update.source.unwrap_or_default();
        let pair = |field: FieldParams| (field.name.unwrap_or_default(), field.value.unwrap_or_default());
        Self {
            display_name: update.display_name,
            note: update.note,
            locked: update.locked,
            bot: update.bot,
            discoverable: update.discoverable,
            hide_collections: update.hide_collections,
            indexable: update.indexable,
            searchability: update.searchability,
            fields: update.fields_attributes.map(|fields| fields.into_iter().map(pair).collect()),
            privacy: source.privacy,
            sensitive: source.sensitive,
            language: source.language,
            default_searchability: source.searchability,
        }
    }
}

/// Profile fields from an object keyed by index, sorted by that index. A JSON array is ignored (contract: routes).
fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Vec<FieldParams>>, D::Error> {
    let Value::Object(members) = Value::deserialize(deserializer)? else { return Ok(None) };
    let mut ordered = BTreeMap::new();
    for (at, (index, field)) in members.into_iter().enumerate() {
        let field: FieldParams = serde_json::from_value(field).map_err(serde::de::Error::custom)?;
        ordered.insert((index.parse::<u64>().unwrap_or(u64::MAX), at), field);
    }
    Ok(Some(ordered.into_values().collect()))
}

/// A string that `null` clears; an absent key leaves it unchanged.
fn clearable<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    Ok(Some(text(deserializer)?.unwrap_or_default()))
}

//! <https://docs.joinmastodon.org/methods/instance/>

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::app::App;
use crate::entity::Fragment;
use crate::entity::instance::{Activity, Document, DomainBlock, Instance, InstanceV1, Language, rules};
use crate::error::Result;
use crate::http::extract::MaybeAuth;
use crate::http::extract::auth::AnyScope;
use crate::http::json::Json;
use crate::plugins::hooks::instance::{self as instance_hooks, Document as InstanceDocument};
use crate::service::instance;
use text::language::LANGUAGES;

/// `GET /api/v2/instance`
pub async fn show(State(app): State<App>) -> Result<Json> {
    described(&app, InstanceDocument::InstanceV2, &Instance::render(&app).await?).await
}

/// `GET /api/v1/instance`
pub async fn show_v1(State(app): State<App>) -> Result<Json> {
    described(&app, InstanceDocument::InstanceV1, &InstanceV1::render(&app).await?).await
}

/// `entity` with what plugins add.
async fn described<T: Serialize>(app: &App, document: InstanceDocument, entity: &T) -> Result<Json> {
    let json = Fragment::of(entity)?.as_str().to_owned();
    Ok(Json(Fragment::from_json(&instance_hooks::described(app, document, json).await)))
}

/// `GET /api/v1/instance/peers`
pub async fn peers(State(app): State<App>) -> Result<Response> {
    let peers = instance::peers(&app).await?;
    or_nothing(peers.as_deref())
}

/// `GET /api/v1/instance/activity`
pub async fn activity(State(app): State<App>) -> Result<Response> {
    let weeks = instance::activity(&app).await?;
    let weeks: Option<Vec<Activity>> = weeks.map(|weeks| weeks.iter().map(Activity::from).collect());
    or_nothing(weeks.as_ref())
}

/// `GET /api/v1/instance/rules`
pub async fn rules_index(State(app): State<App>) -> Result<Json> {
    Json::of(&rules(&app))
}

/// `GET /api/v1/instance/domain_blocks`
pub async fn domain_blocks(State(app): State<App>, MaybeAuth(viewer, ..): MaybeAuth<AnyScope>) -> Result<Response> {
    let blocks = instance::domain_blocks(&app, viewer.as_deref()).await?;
    let blocks: Option<Vec<DomainBlock>> = blocks.map(|blocks| blocks.into_iter().map(DomainBlock::from).collect());
    or_nothing(blocks.as_ref())
}

/// `GET /api/v1/instance/privacy_policy`
pub async fn privacy_policy(State(app): State<App>) -> Result<Json> {
    Json::of(&Document::privacy_policy(&app))
}

/// `GET /api/v1/instance/extended_description`
pub async fn extended_description(State(app): State<App>) -> Result<Json> {
    Json::of(&Document::extended_description(&app))
}

/// `GET /api/v1/instance/translation_languages`: nothing translates yet.
pub async fn translation_languages() -> Result<Json> {
    Json::of(&BTreeMap::<String, Vec<String>>::new())
}

/// `GET /api/v1/instance/languages`
pub async fn languages() -> Result<Json> {
    let languages = LANGUAGES.iter().map(|language| Language { code: language.code, name: language.name });
    Json::of(&languages.collect::<Vec<_>>())
}

/// The document, or the empty 404 of one that the admins do not show.
fn or_nothing<T: Serialize>(document: Option<&T>) -> Result<Response> {
    match document {
        Some(document) => Ok(Json::of(&document)?.into_response()),
        None => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

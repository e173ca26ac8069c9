//! Information about this server.
//!
//! Spec: <https://docs.joinmastodon.org/methods/instance/>

use axum::http::StatusCode;
use serde::Serialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::AnyScope;
use crate::extract::{AppAuth, Path};
use crate::json::Json;
use entity::document::PublicDocument;
use entity::terms_of_service::TermsOfService;
use entity::{DomainBlock, InstanceActivity};
use service::{instance, terms};

/// `GET /api/v2/instance`
pub async fn show(cx: Cx) -> Result<Json<entity::Instance>> {
    Json::document(&cx, PublicDocument::InstanceV2).await
}

/// `GET /api/v1/instance`
pub async fn show_v1(cx: Cx) -> Result<Json<entity::V1Instance>> {
    Json::document(&cx, PublicDocument::InstanceV1).await
}

/// `GET /api/v1/instance/peers`
pub async fn peers(cx: Cx) -> Result<Json<Vec<String>>> {
    let peers = instance::peers(&cx).await?;
    or_not_found(peers.as_deref())
}

/// `GET /api/v1/instance/activity`
pub async fn activity(cx: Cx) -> Result<Json<Vec<InstanceActivity>>> {
    let weeks = instance::activity(&cx).await?;
    let weeks: Option<Vec<InstanceActivity>> = weeks.map(|weeks| weeks.iter().map(InstanceActivity::from).collect());
    or_not_found(weeks.as_ref())
}

/// `GET /api/v1/instance/rules`
pub async fn rules_index(cx: Cx) -> Result<Json<Vec<entity::Rule>>> {
    Json::document(&cx, PublicDocument::Rules).await
}

/// `GET /api/v1/instance/domain_blocks`
pub async fn domain_blocks(cx: Cx, auth: Option<AppAuth<AnyScope>>) -> Result<Json<Vec<DomainBlock>>> {
    let viewer = auth.as_ref().and_then(|AppAuth(grant, ..)| grant.actor.as_deref());
    let blocks = instance::domain_blocks(&cx, viewer).await?;
    let blocks: Option<Vec<DomainBlock>> = blocks.map(|blocks| blocks.into_iter().map(DomainBlock::from).collect());
    or_not_found(blocks.as_ref())
}

/// `GET /api/v1/instance/privacy_policy`
pub async fn privacy_policy(cx: Cx) -> Result<Json<entity::PrivacyPolicy>> {
    Json::document(&cx, PublicDocument::PrivacyPolicy).await
}

/// `GET /api/v1/instance/terms_of_service`: the terms that apply, else the first ones that will.
pub async fn terms_of_service(cx: Cx) -> Result<Json<entity::TermsOfService>> {
    let terms = terms::current(&cx).await?;
    Json::of(&TermsOfService::new(&cx, &terms))
}

/// `GET /api/v1/instance/terms_of_service/{date}`
pub async fn terms_of_service_of(cx: Cx, Path(date): Path<String>) -> Result<Json<entity::TermsOfService>> {
    let terms = terms::of_date(&cx, &date).await?;
    Json::of(&TermsOfService::new(&cx, &terms))
}

/// `GET /api/v1/instance/extended_description`
pub async fn extended_description(cx: Cx) -> Result<Json<entity::ExtendedDescription>> {
    Json::document(&cx, PublicDocument::ExtendedDescription).await
}

/// `GET /api/v1/instance/translation_languages`: empty unless a service translates.
pub async fn translation_languages(cx: Cx) -> Result<Json<entity::TranslationLanguages>> {
    Json::document(&cx, PublicDocument::TranslationLanguages).await
}

/// `GET /api/v1/instance/languages`
pub async fn languages(cx: Cx) -> Result<Json<Vec<entity::Language>>> {
    Json::document(&cx, PublicDocument::Languages).await
}

/// The document, or an empty 404 when the admins have disabled it.
pub(super) fn or_not_found<T: Serialize>(document: Option<&T>) -> Result<Json<T>> {
    match document {
        Some(document) => Json::of(document),
        None => Ok(Json::without_body(StatusCode::NOT_FOUND)),
    }
}

//! Information about this server.
//!
//! Spec: <https://docs.joinmastodon.org/methods/instance/>

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::AppAuth;
use crate::extract::auth::AnyScope;
use crate::json::{Json, document};
use entity::document::PublicDocument;
use entity::instance::{Activity, DomainBlock};
use service::instance;

/// `GET /api/v2/instance`
pub async fn show(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::InstanceV2).await
}

/// `GET /api/v1/instance`
pub async fn show_v1(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::InstanceV1).await
}

/// `GET /api/v1/instance/peers`
pub async fn peers(cx: Cx) -> Result<Response> {
    let peers = instance::peers(&cx).await?;
    or_not_found(peers.as_deref())
}

/// `GET /api/v1/instance/activity`
pub async fn activity(cx: Cx) -> Result<Response> {
    let weeks = instance::activity(&cx).await?;
    let weeks: Option<Vec<Activity>> = weeks.map(|weeks| weeks.iter().map(Activity::from).collect());
    or_not_found(weeks.as_ref())
}

/// `GET /api/v1/instance/rules`
pub async fn rules_index(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::Rules).await
}

/// `GET /api/v1/instance/domain_blocks`
pub async fn domain_blocks(cx: Cx, auth: Option<AppAuth<AnyScope>>) -> Result<Response> {
    let viewer = auth.as_ref().and_then(|AppAuth(grant, ..)| grant.actor.as_deref());
    let blocks = instance::domain_blocks(&cx, viewer).await?;
    let blocks: Option<Vec<DomainBlock>> = blocks.map(|blocks| blocks.into_iter().map(DomainBlock::from).collect());
    or_not_found(blocks.as_ref())
}

/// `GET /api/v1/instance/privacy_policy`
pub async fn privacy_policy(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::PrivacyPolicy).await
}

/// `GET /api/v1/instance/extended_description`
pub async fn extended_description(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::ExtendedDescription).await
}

/// `GET /api/v1/instance/translation_languages`: empty unless a service translates.
pub async fn translation_languages(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::TranslationLanguages).await
}

/// `GET /api/v1/instance/languages`
pub async fn languages(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::Languages).await
}

/// The document, or an empty 404 when the admins have disabled it.
pub(super) fn or_not_found<T: Serialize>(document: Option<&T>) -> Result<Response> {
    match document {
        Some(document) => Ok(Json::of(&document)?.into_response()),
        None => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

//! <https://docs.joinmastodon.org/methods/statuses/>

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::app::App;
use crate::entity::{self, Fragment, Object};
use crate::error::{Error, Result};
use crate::http::error::raw_json;
use crate::http::extract::auth::{ReadStatuses, WriteStatuses};
use crate::http::extract::params::{flag, list, text, word};
use crate::http::extract::{AppAuth, Auth, MaybeAuth, Params, Path, Uploads};
use crate::http::json::Json;
use crate::service::media;
use crate::service::status::{self, Change, Draft};
use crate::service::visibility::{self, Place};
use model::account::Searchability;
use model::{AccountId, Actor, MediaId, StatusId};

/// Most statuses that may be asked for at once.
const MAX_IDS: usize = 20;

/// What `viewer` sees of a status now.
pub(super) async fn shown(app: &App, viewer: Option<&Actor>, id: StatusId) -> Result<Json> {
    let seen = visibility::status(app, viewer, id).await?;
    Ok(Json(entity::status::render_one(app, viewer, &seen).await?))
}

/// `id[]` of the query.
#[derive(Debug, Deserialize)]
pub struct IdsParams {
    #[serde(default, deserialize_with = "list")]
    id: Option<Vec<StatusId>>,
}

/// `GET /api/v1/statuses`
pub async fn index(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Params(params): Params<IdsParams>,
) -> Result<Response> {
    let mut ids = params.id.unwrap_or_default();
    let mut known = std::collections::HashSet::new();
    ids.retain(|id| known.insert(*id));
    if ids.len() > MAX_IDS {
        return Err(Error::invalid(format!("id: at most {MAX_IDS} statuses at once")));
    }
    let seen = visibility::statuses(&app, viewer.as_deref(), Place::Single, &ids).await?;
    Ok(Json::list(&entity::status::render(&app, viewer.as_deref(), &seen).await?))
}

/// `GET /api/v1/statuses/{id}`
pub async fn show(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    shown(&app, viewer.as_deref(), id).await
}

/// The parameters of publishing and editing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StatusParams {
    #[serde(deserialize_with = "text")]
    status: Option<String>,
    #[serde(deserialize_with = "text")]
    spoiler_text: Option<String>,
    #[serde(deserialize_with = "flag")]
    sensitive: Option<bool>,
    #[serde(deserialize_with = "text")]
    visibility: Option<String>,
    #[serde(deserialize_with = "word")]
    searchability: Option<Searchability>,
    #[serde(deserialize_with = "text")]
    language: Option<String>,
    #[serde(deserialize_with = "word")]
    in_reply_to_id: Option<StatusId>,
    #[serde(deserialize_with = "list")]
    media_ids: Option<Vec<MediaId>>,
    #[serde(deserialize_with = "list")]
    media_attributes: Option<Vec<MediaParams>>,
    #[serde(deserialize_with = "list")]
    allowed_mentions: Option<Vec<AccountId>>,
    #[serde(deserialize_with = "text")]
    scheduled_at: Option<String>,
    poll: Option<serde_json::Value>,
    /// What plugins may have declared.
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

/// What an edit says about one attachment.
#[derive(Debug, Deserialize)]
pub struct MediaParams {
    id: MediaId,
    #[serde(default, deserialize_with = "text")]
    description: Option<String>,
    #[serde(default, deserialize_with = "text")]
    focus: Option<String>,
}

impl StatusParams {
    /// Polls and schedules are refused aloud: posting at once what was meant for later, or without its poll, would be worse.
    fn check(&self) -> Result<()> {
        if self.scheduled_at.as_deref().is_some_and(|at| !at.is_empty()) {
            return Err(Error::invalid("scheduled_at: this server does not schedule statuses yet"));
        }
        match &self.poll {
            None | Some(serde_json::Value::Null) => Ok(()),
            Some(_) => Err(Error::invalid("poll: this server has no polls yet")),
        }
    }
}

/// `POST /api/v1/statuses`
pub async fn create(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    headers: HeaderMap,
    Params(params): Params<StatusParams>,
) -> Result<Response> {
    params.check()?;
    let header_text =
        |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let draft = Draft {
        text: params.status.unwrap_or_default(),
        spoiler_text: params.spoiler_text.unwrap_or_default(),
        sensitive: params.sensitive,
        visibility: params.visibility,
        searchability: params.searchability,
        language: params.language,
        request_language: header_text(header::ACCEPT_LANGUAGE.as_str()),
        in_reply_to_id: params.in_reply_to_id,
        media_ids: params.media_ids.unwrap_or_default(),
        allowed_mentions: params.allowed_mentions,
        idempotency_key: header_text("idempotency-key").filter(|key| !key.is_empty()),
        params: params.rest,
        ..Draft::default()
    };
    match status::publish(&app, &actor, draft).await {
        Ok(id) => Ok(shown(&app, Some(&actor), id).await?.into_response()),
        Err(error @ Error::UnexpectedMentions(_)) => unexpected_mentions(&app, error).await,
        Err(error) => Err(error),
    }
}

/// 422 that shows whom the client did not expect.
async fn unexpected_mentions(app: &App, error: Error) -> Result<Response> {
    let message = Fragment::of(&error.to_string())?;
    let Error::UnexpectedMentions(accounts) = error else { return Err(error) };
    let mut object = Object::with_capacity(1024);
    let accounts = entity::account::render(app, &accounts).await?;
    object.member("error", message.as_str()).member("unexpected_accounts", &Fragment::array(&accounts));
    Ok(raw_json(StatusCode::UNPROCESSABLE_ENTITY, axum::body::Bytes::from(object.close()).into()))
}

/// `PUT /api/v1/statuses/{id}`
pub async fn update(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    uploads: Uploads<StatusParams>,
) -> Result<Json> {
    if uploads.file("media_attributes[][thumbnail]").is_some() {
        return Err(Error::invalid("media_attributes: only a video or sound has a thumbnail of its own"));
    }
    let params = uploads.params;
    params.check()?;
    let attributes = params.media_attributes.unwrap_or_default().into_iter();
    let change = Change {
        text: params.status.unwrap_or_default(),
        spoiler_text: params.spoiler_text.unwrap_or_default(),
        sensitive: params.sensitive.unwrap_or_default(),
        language: params.language,
        media_ids: params.media_ids.unwrap_or_default(),
        media_attributes: attributes
            .map(|media| {
                (media.id, media::Change { has_thumbnail: false, description: media.description, focus: media.focus })
            })
            .collect(),
        params: params.rest,
    };
    status::edit(&app, &actor, id, change).await?;
    shown(&app, Some(&actor), id).await
}

/// `DELETE /api/v1/statuses/{id}`: the answer has the source, to draft it anew.
pub async fn delete(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    let seen = visibility::status(&app, Some(&actor), id).await?;
    let source = status::source(&app, Some(&actor), id).await?;
    if source.account_id != actor.id {
        return Err(Error::NotFound);
    }
    let body = entity::status::render_deleted(&app, &actor, &seen, &source.text).await?;
    status::delete(&app, &actor, id).await?;
    Ok(Json(body))
}

/// `GET /api/v1/statuses/{id}/history`
pub async fn history(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Response> {
    let (status, edits) = status::history(&app, viewer.as_deref(), id).await?;
    Ok(Json::list(&entity::status_edit::render(&app, &status, &edits).await?))
}

/// `GET /api/v1/statuses/{id}/source`
pub async fn source(
    State(app): State<App>,
    AppAuth(grant, ..): AppAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    let status = status::source(&app, grant.actor.as_deref(), id).await?;
    Ok(Json(entity::status_source::render(&status)?))
}

/// `GET /api/v1/statuses/{id}/context`
pub async fn context(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    let thread = crate::service::timeline::context(&app, viewer.as_deref(), id).await?;
    Ok(Json(entity::context::render(&app, viewer.as_deref(), thread).await?))
}

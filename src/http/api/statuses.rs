//! Reading, publishing, editing and deleting statuses.
//!
//! Favourites, reblogs and the like are in [`status_actions`](super::status_actions).
//!
//! Spec: <https://docs.joinmastodon.org/methods/statuses/>

use axum::http::{HeaderMap, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::policy_params::PolicyParams;
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadAccounts, ReadStatuses, WriteStatuses};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{AppAuth, Auth, IdempotencyKey, MaybeAuth, Paging, Params, Path, Upload, Uploads};
use crate::json::Json;
use crate::page::{Links, Page};
use ::media::storage::Scratch;
use model::account::Searchability;
use model::params::language;
use model::params::required;
use model::{AccountId, Actor, MediaId, QuotePolicy, StatusId, Time, Visibility};

use context::json::{Fragment, Object};
use service::poll::PollDraft;
use service::status::{self, CreatedStatus, Draft, EditDraft, MediaOfDeleted};
use service::visibility::{self, Place};
use service::{media, scheduled_status};

/// Maximum number of ids in one request.
const MAX_IDS: usize = 20;

/// Renders a status as `viewer` sees it now.
pub(super) async fn shown(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<Json<entity::Status>> {
    let seen = visibility::status(cx, viewer, id).await?;
    Ok(Json::new(entity::status::render_one(cx, viewer, &seen).await?))
}

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct IdsParams {
    /// At most 20.
    #[schemars(transform = required)]
    id: Option<Vec<StatusId>>,
}

/// `GET /api/v1/statuses`
pub async fn index(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Params(params): Params<IdsParams>,
) -> Result<Json<Vec<entity::Status>>> {
    let ids = params.id.unwrap_or_default();
    if ids.len() > MAX_IDS {
        return Err(Error::invalid(format!("id: at most {MAX_IDS} statuses")).into());
    }
    let seen = visibility::statuses(&cx, viewer.as_deref(), Place::Single, &ids).await?;
    Ok(Json::list(entity::status::render(&cx, viewer.as_deref(), &seen).await?))
}

/// `GET /api/v1/statuses/{id}`
pub async fn show(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    shown(&cx, viewer.as_deref(), id).await
}

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NewStatus {
    /// The text; needed unless there are attachments or a content warning.
    status: Option<String>,
    /// The content warning.
    spoiler_text: Option<String>,
    /// Whether the attachments are sensitive; the user's default when it is left out.
    sensitive: Option<bool>,
    /// The user's default when it is left out.
    #[schemars(with = "Option<Visibility>")]
    visibility: Option<String>,
    /// Whether the status stays on this server: no other server receives it. Also read: `localOnly`.
    #[serde(alias = "localOnly")]
    local_only: Option<bool>,
    /// The opposite of `local_only`.
    federated: Option<bool>,
    /// Who may find the status by searching; the user's default when it is left out.
    searchability: Option<Searchability>,
    /// ISO 639 code.
    #[serde(deserialize_with = "language")]
    language: Option<String>,
    in_reply_to_id: Option<StatusId>,
    /// At most 4.
    media_ids: Option<Vec<MediaId>>,
    /// Statuses to refer to besides those in the text; the first 5 that there are and that the author may see.
    status_reference_ids: Option<Vec<StatusId>>,
    /// The status to quote: one that its author lets the user quote. Without it, a link in the text decides.
    quoted_status_id: Option<StatusId>,
    /// Who may quote the status, if anyone may read it; the user's default when it is left out.
    quote_approval_policy: Option<QuotePolicy>,
    /// Who may interact with the status; the user's default for what is left out.
    interaction_policy: Option<PolicyParams>,
    /// The only accounts that the text may mention; any when it is left out.
    allowed_mentions: Option<Vec<AccountId>>,
    /// A time more than five minutes ahead, in ISO 8601: a scheduled status is created. A past time publishes
    /// immediately.
    scheduled_at: Option<Time>,
    poll: Option<PollParams>,
    /// Whether the text is Markdown.
    markdown: Option<bool>,
    /// All other parameters: plugins may declare some of them.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Body parameters of [`update`]: the whole status, so that absent parameters are cleared.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct StatusParams {
    /// The text; needed unless there are attachments or a content warning.
    status: Option<String>,
    /// The content warning.
    spoiler_text: Option<String>,
    /// Whether the attachments are sensitive.
    sensitive: Option<bool>,
    /// ISO 639 code; it stays when it is left out.
    #[serde(deserialize_with = "language")]
    language: Option<String>,
    /// At most 4.
    media_ids: Option<Vec<MediaId>>,
    media_attributes: Option<Vec<MediaParams>>,
    /// Who may quote the status; it stays when it is left out.
    quote_approval_policy: Option<QuotePolicy>,
    /// Who may interact with the status; what is left out stays.
    interaction_policy: Option<PolicyParams>,
    /// The poll; it is removed when it is left out, and without votes again when its options or their kind change.
    poll: Option<PollParams>,
    /// Whether the text is Markdown.
    markdown: Option<bool>,
    /// All other parameters: plugins may declare some of them.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// New attributes of one attachment in an edit.
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MediaParams {
    id: MediaId,
    /// Alternative text of at most 1,500 characters.
    description: Option<String>,
    /// The point to keep in view when cropping: `x,y`, each from -1 to 1.
    focus: Option<String>,
    /// For video and sound: a picture as a `data:` URI in base64. A multipart body has the file itself.
    thumbnail: Option<String>,
}

impl MediaParams {
    /// Pictures are written to folders that go with `folders`.
    async fn into_change(self, cx: &Cx, folders: &mut Vec<Scratch>) -> Result<(MediaId, media::MediaUpdate)> {
        let thumbnail = match self.thumbnail.as_deref().filter(|uri| !uri.is_empty()) {
            Some(uri) => {
                let picture = data_of(uri).ok_or_else(|| {
                    Error::invalid("media_attributes: a thumbnail in JSON is a data: URI of a picture, in base64")
                })?;
                let folder = cx.storage.scratch().map_err(|error| media::not_stored(cx, &error))?;
                let path = folder.path().join("thumbnail");
                tokio::fs::write(&path, picture).await.map_err(|error| media::not_stored(cx, &error))?;
                folders.push(folder);
                Some(path)
            }
            None => None,
        };
        Ok((self.id, media::MediaUpdate { thumbnail, description: self.description, focus: self.focus }))
    }
}

/// Decodes a `data:` URI in base64 (RFC 2397).
fn data_of(uri: &str) -> Option<Vec<u8>> {
    let (_, data) = uri.strip_prefix("data:")?.split_once(";base64,")?;
    STANDARD.decode(data.trim_ascii()).ok()
}

/// The files of [`update`].
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusFiles {
    /// For video and sound, whose attributes come alone then; an image makes its own.
    #[serde(rename = "media_attributes[][thumbnail]")]
    thumbnail: Option<Upload>,
}

/// A poll that is sent with a status.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PollParams {
    /// Two to eight, each of at most 50 characters.
    options: Option<Vec<String>>,
    /// How many seconds it runs, from 300 to 2629746.
    expires_in: Option<i64>,
    /// Whether several options may be chosen.
    multiple: Option<bool>,
    /// Whether the votes of each option are hidden until it ends.
    hide_totals: Option<bool>,
}

impl PollParams {
    /// `None` for an object without members, which some clients send for no poll.
    fn into_draft(self) -> Option<PollDraft> {
        let Self { options, expires_in, multiple, hide_totals } = self;
        if options.is_none() && expires_in.is_none() && multiple.is_none() && hide_totals.is_none() {
            return None;
        }
        Some(PollDraft {
            options: options.unwrap_or_default(),
            expires_in,
            multiple: multiple.unwrap_or_default(),
            hide_totals: hide_totals.unwrap_or_default(),
        })
    }
}

/// `POST /api/v1/statuses`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    headers: HeaderMap,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    Params(params): Params<NewStatus>,
) -> Result<Json<entity::Either<entity::Status, entity::ScheduledStatus>>> {
    let language = headers.get(header::ACCEPT_LANGUAGE);
    let local_only = local_only(params.local_only, params.federated)?;
    let draft = Draft {
        text: params.status.unwrap_or_default(),
        spoiler_text: params.spoiler_text.unwrap_or_default(),
        sensitive: params.sensitive,
        visibility: params.visibility,
        local_only,
        searchability: params.searchability,
        language: params.language,
        request_language: language.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        in_reply_to_id: params.in_reply_to_id,
        media_ids: params.media_ids.unwrap_or_default(),
        status_reference_ids: params.status_reference_ids.unwrap_or_default(),
        quoted_status_id: params.quoted_status_id,
        quote_approval_policy: params.quote_approval_policy,
        interaction_policy: params.interaction_policy.map(PolicyParams::rules).transpose()?.unwrap_or_default(),
        poll: params.poll.and_then(PollParams::into_draft),
        markdown: params.markdown.unwrap_or_default(),
        allowed_mentions: params.allowed_mentions,
        idempotency_key,
        params: params.rest,
        ..Draft::default()
    };
    match status::publish(&cx, &actor, draft, params.scheduled_at).await {
        Ok(CreatedStatus::Status(id)) => Ok(shown(&cx, Some(&actor), id).await?.either()),
        Ok(CreatedStatus::Scheduled(id)) => {
            let scheduled = scheduled_status::show(&cx, &actor, id).await?;
            Ok(Json::new(entity::scheduled_status::render(&cx, &scheduled)?).or())
        }
        Err(error @ Error::UnexpectedMentions(_)) => unexpected_mentions(&cx, error).await,
        Err(error) => Err(error.into()),
    }
}

/// Whether a status stays on this server, by the two names of that parameter.
fn local_only(local_only: Option<bool>, federated: Option<bool>) -> Result<bool> {
    match (local_only, federated) {
        (Some(local_only), Some(federated)) if local_only == federated => {
            Err(Error::invalid("local_only and federated contradict each other").into())
        }
        (local_only, federated) => Ok(local_only.or(federated.map(|federated| !federated)).unwrap_or_default()),
    }
}

/// 422 with the accounts whose mention the client did not expect.
async fn unexpected_mentions<T>(cx: &Cx, error: Error) -> Result<Json<T>> {
    let message = Fragment::of(&error.to_string())?;
    let Error::UnexpectedMentions(accounts) = error else { return Err(error.into()) };
    let mut object = Object::with_capacity(1024);
    let accounts = entity::account::render(cx, &accounts).await?;
    object.member("error", message.as_str()).member("unexpected_accounts", accounts.as_str());
    Ok(Json::new(object.close()).with_status(StatusCode::UNPROCESSABLE_ENTITY))
}

/// `PUT /api/v1/statuses/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    sent: ParamsOfOwn<Uploads<StatusParams, StatusFiles>>,
) -> Result<Json<entity::Status>> {
    let Uploads { params, files } = sent.or_missing(status::own(&cx, &actor, id)).await?;
    let (mut attributes, mut folders) = (Vec::new(), Vec::new());
    for sent in params.media_attributes.unwrap_or_default() {
        attributes.push(sent.into_change(&cx, &mut folders).await?);
    }
    if let Some(file) = files.thumbnail {
        let [(_, attributes)] = attributes.as_mut_slice() else {
            return Err(
                Error::invalid("media_attributes: a thumbnail needs the attributes of exactly one media").into()
            );
        };
        attributes.thumbnail = Some(file.path);
    }
    let edit = EditDraft {
        text: params.status.unwrap_or_default(),
        spoiler_text: params.spoiler_text.unwrap_or_default(),
        sensitive: params.sensitive.unwrap_or_default(),
        language: params.language,
        media_ids: params.media_ids.unwrap_or_default(),
        media_attributes: attributes,
        poll: params.poll.and_then(PollParams::into_draft),
        markdown: params.markdown.unwrap_or_default(),
        quote_approval_policy: params.quote_approval_policy,
        interaction_policy: params.interaction_policy.map(PolicyParams::rules).transpose()?.unwrap_or_default(),
        params: params.rest,
    };
    status::edit(&cx, &actor, id, edit).await?;
    shown(&cx, Some(&actor), id).await
}

/// Query parameters of [`delete`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DeletionParams {
    /// Whether its media are deleted immediately; otherwise they may be attached to another status for a day.
    delete_media: Option<bool>,
}

/// `DELETE /api/v1/statuses/{id}`: the response has the source text, for "delete and redraft".
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    Params(params): Params<DeletionParams>,
) -> Result<Json<entity::Status>> {
    let media = if params.delete_media.unwrap_or_default() { MediaOfDeleted::Deleted } else { MediaOfDeleted::Kept };
    let seen = visibility::status(&cx, Some(&actor), id).await?;
    let source = status::source(&cx, Some(&actor), id).await?;
    if source.account_id != actor.id {
        return Err(Error::NotFound.into());
    }
    let body = entity::status::render_deleted(&cx, &actor, &seen, &source.text).await?;
    status::delete(&cx, &actor, id, media).await?;
    Ok(Json::new(body))
}

/// `GET /api/v1/statuses/{id}/history`
pub async fn history(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<Vec<entity::StatusEdit>>> {
    let history = status::history(&cx, viewer.as_deref(), id).await?;
    Ok(Json::list(entity::status_edit::render(&cx, viewer.as_deref(), &history).await?))
}

/// `GET /api/v1/statuses/{id}/source`
pub async fn source(
    cx: Cx,
    AppAuth(grant, ..): AppAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::StatusSource>> {
    let status = status::source(&cx, grant.actor.as_deref(), id).await?;
    Ok(Json::new(entity::status_source::render(&status)?))
}

/// `GET /api/v1/statuses/{id}/referred_by`
pub async fn referred_by(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<StatusId>,
    paging: Paging,
) -> Result<Page<entity::Status>> {
    let page = status::list_referring(&cx, viewer.as_deref(), id, &paging.cursor).await?;
    let items = entity::status::render(&cx, viewer.as_deref(), &page.shown).await?;
    Ok(Page::new(&paging, Links::MinId, &page.ids, items))
}

/// `GET /api/v1/statuses/{id}/quotes`
pub async fn quotes(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    Path(id): Path<StatusId>,
    paging: Paging,
) -> Result<Page<entity::Status>> {
    let page = status::list_quoting(&cx, &viewer, id, &paging.cursor).await?;
    let items = entity::status::render(&cx, Some(&viewer), &page.shown).await?;
    Ok(Page::new(&paging, Links::MinId, &page.ids, items))
}

/// `POST /api/v1/statuses/{id}/quotes/{quoting_id}/revoke`: answers the status that quoted.
pub async fn revoke_quote(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path((id, quoting)): Path<(StatusId, StatusId)>,
) -> Result<Json<entity::Status>> {
    status::revoke_quote(&cx, &actor, id, quoting).await?;
    shown(&cx, Some(&actor), quoting).await
}

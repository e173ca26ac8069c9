//! A plugin's answer: validated before the call is committed, rendered afterwards.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use rookery_plugin_host::exports::routes::Output;

use super::headers;
use super::placeholders::{EntityKind, Filled};
use crate::Cx;
use crate::call::json;
use context::error::{Error, Result};
use context::json::{Array, Fragment};
use model::{AccountId, Actor, StatusId};
use rookery_http::error::raw_json;
use service::visibility::{self, Place};

/// Most entities in one response, duplicates counted: about 10 MB.
const MAX_ENTITIES: usize = 2_000;

/// A token with one of these may read its user's own account, as for `verify_credentials` and `update_credentials`.
const CREDENTIAL_SCOPES: &[&str] = &["profile", "read:accounts", "write:accounts"];

/// A valid answer.
#[derive(Debug)]
pub(super) struct Checked {
    status: StatusCode,
    headers: HeaderMap,
    body: Shape,
    /// Headers that the plugin may not set.
    pub(super) refused: Vec<String>,
}

#[derive(Debug)]
enum Shape {
    Json(String),
    Template(Filled),
    Status(StatusId),
    /// From which the viewer took a mark back.
    Unmarked(StatusId),
    Account(AccountId),
    Statuses(Vec<StatusId>),
    Accounts(Vec<AccountId>),
    Bytes(HeaderValue, Vec<u8>),
}

impl Checked {
    /// Validates the output of a call; `unmarks` for a route that removes a mark.
    ///
    /// # Errors
    /// A message for the plugin's author.
    pub(super) fn of(status: u16, sent: &[(String, String)], output: Output, unmarks: bool) -> Result<Self, String> {
        let known = StatusCode::from_u16(status).ok().filter(|status| (200..600).contains(&status.as_u16()));
        let mut taken = HeaderMap::new();
        let refused = headers::set(&mut taken, sent);
        Ok(Self {
            status: known.ok_or_else(|| format!("status {status} is none: 200 to 599"))?,
            headers: taken,
            body: Shape::of(output, unmarks)?,
            refused,
        })
    }

    /// True when the changes of the call are to be committed.
    pub(super) fn succeeded(&self) -> bool {
        self.status.as_u16() < 400
    }

    /// Renders the answer for `viewer`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the answer is a single entity that is missing or hidden.
    pub(super) async fn render(self, cx: &Cx, viewer: Option<&Actor>) -> Result<Response> {
        let mut response = self.body.render(cx, viewer, self.status).await?;
        response.headers_mut().extend(self.headers);
        Ok(response)
    }
}

impl Shape {
    fn of(output: Output, unmarks: bool) -> Result<Self, String> {
        let bounded = |count: usize| match count {
            0..=MAX_ENTITIES => Ok(()),
            many => Err(format!("{many} entities are more than {MAX_ENTITIES}")),
        };
        Ok(match output {
            Output::Empty => Self::Json("{}".to_owned()),
            Output::Json(text) => {
                json::check(&text)?;
                Self::Json(text)
            }
            Output::Template(text) => {
                let filled = Filled::parse(&text)?;
                bounded(filled.holes())?;
                Self::Template(filled)
            }
            Output::Status(id) if unmarks => Self::Unmarked(id.into()),
            Output::Status(id) => Self::Status(id.into()),
            Output::Account(id) => Self::Account(id.into()),
            Output::Statuses(ids) => {
                bounded(ids.len())?;
                Self::Statuses(ids.into_iter().map(Into::into).collect())
            }
            Output::Accounts(ids) => {
                bounded(ids.len())?;
                Self::Accounts(ids.into_iter().map(Into::into).collect())
            }
            Output::Bytes((kind, bytes)) => {
                let sent =
                    headers::content_type(&kind).ok_or_else(|| format!("content type {kind:?} is not allowed"))?;
                if sent.as_bytes().starts_with(b"application/json") {
                    json::check(std::str::from_utf8(&bytes).map_err(|_| "JSON is no UTF-8")?)?;
                }
                Self::Bytes(sent, bytes)
            }
        })
    }

    async fn render(self, cx: &Cx, viewer: Option<&Actor>, status: StatusCode) -> Result<Response> {
        let text = match self {
            Self::Json(text) => text,
            Self::Template(filled) => filled.write(&entities(cx, viewer, &filled).await?, &|path| cx.urls.path(path)),
            Self::Status(id) => {
                let seen = visibility::status(cx, viewer, id).await?;
                entity::status::render_one(cx, viewer, &seen).await?.as_str().to_owned()
            }
            // The change is made, so that nothing is missing.
            Self::Unmarked(id) => match visibility::statuses(cx, viewer, Place::Unmarked, &[id]).await?.pop() {
                Some(seen) => entity::status::render_one(cx, viewer, &seen).await?.as_str().to_owned(),
                None => "{}".to_owned(),
            },
            Self::Account(id) => {
                let account = service::account::find_visible(cx, id).await?;
                entity::account::render_found(cx, &account).await?.as_str().to_owned()
            }
            Self::Statuses(ids) => statuses(cx, viewer, Place::Collection, &ids).await?.into(),
            Self::Accounts(ids) => accounts(cx, &ids).await?.into(),
            Self::Bytes(kind, bytes) => return Ok(as_bytes(status, kind, bytes)),
        };
        Ok(raw_json(status, text.into()))
    }
}

/// Renders the statuses among `ids` that `viewer` may see at `place`, in this order.
pub(super) async fn statuses(cx: &Cx, viewer: Option<&Actor>, place: Place, ids: &[StatusId]) -> Result<Array> {
    let seen = visibility::statuses(cx, viewer, place, ids).await?;
    entity::status::render(cx, viewer, &seen).await
}

/// Renders the accounts among `ids` that exist and are not hidden, in this order.
pub(super) async fn accounts(cx: &Cx, ids: &[AccountId]) -> Result<Array> {
    let known = service::account::list_visible(cx, ids).await?;
    entity::account::render(cx, &known).await
}

/// Renders the entities of all placeholders, in one batch for each kind. Lists are not implemented yet.
async fn entities(cx: &Cx, viewer: Option<&Actor>, filled: &Filled) -> Result<HashMap<(EntityKind, i64), Fragment>> {
    let statuses: Vec<StatusId> = filled.ids(EntityKind::Status).into_iter().map(Into::into).collect();
    let seen = visibility::statuses(cx, viewer, Place::Single, &statuses).await?;
    let accounts: Vec<AccountId> = filled.ids(EntityKind::Account).into_iter().map(Into::into).collect();
    let (mut known, mut versions) = (Vec::new(), Vec::new());
    if !accounts.is_empty() {
        known = service::account::list_visible(cx, &accounts).await?;
        versions = store::account::versions(&cx.db, &known).await?;
    }
    let beside = entity::status::render_beside(cx, viewer, &seen, &versions).await?;
    let accounts = known.iter().filter_map(|id| Some((*id, Fragment::from_json(beside.accounts.get(id)?))));
    let accounts = accounts.map(|(id, fragment)| ((EntityKind::Account, id.into()), fragment));
    let statuses = beside.statuses.into_iter().map(|(id, fragment)| ((EntityKind::Status, id.into()), fragment));
    let credentials = credentials(cx, viewer, &filled.ids(EntityKind::Credentials)).await?;
    Ok(accounts.chain(statuses).chain(credentials).collect())
}

/// The account of `viewer` as they see it themselves, if it is asked for and their token may read it.
async fn credentials(cx: &Cx, viewer: Option<&Actor>, asked: &[i64]) -> Result<Option<((EntityKind, i64), Fragment)>> {
    let Some(viewer) = viewer.filter(|viewer| asked.contains(&viewer.id.into())) else { return Ok(None) };
    if !viewer.scopes.allows(CREDENTIAL_SCOPES) {
        return Ok(None);
    }
    let rendered = entity::credential::show(cx, viewer.id).await?;
    Ok(Some(((EntityKind::Credentials, viewer.id.into()), rendered)))
}

/// A response whose content type browsers do not sniff and whose content they do not execute.
fn as_bytes(status: StatusCode, kind: HeaderValue, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    response
}

/// The response for an [`Error`] of the server's own.
pub(super) fn refused(error: Error) -> Response {
    axum::response::IntoResponse::into_response(rookery_http::ErrorResponse(error))
}

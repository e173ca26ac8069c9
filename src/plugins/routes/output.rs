//! What a plugin answers with, checked before anything is committed and rendered afterwards.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use rookery_plugin_host::exports::routes::Output;

use super::headers;
use super::holes::{Filled, Kind};
use crate::app::App;
use crate::entity::{self, Fragment};
use crate::error::{Error, Result};
use crate::http::error::raw_json;
use crate::plugins::json;
use crate::service;
use crate::service::visibility::{self, Place};
use model::{AccountId, Actor, StatusId};

/// Most entities in one answer, one that stands in several places counted for each: some 10 MB.
const MAX_ENTITIES: usize = 2_000;

/// An answer that makes sense.
#[derive(Debug)]
pub(super) struct Checked {
    status: StatusCode,
    headers: HeaderMap,
    body: Shape,
    /// Headers that were not taken over.
    pub(super) refused: Vec<String>,
}

#[derive(Debug)]
enum Shape {
    Json(String),
    Template(Filled),
    Status(StatusId),
    Account(AccountId),
    Statuses(Vec<StatusId>),
    Accounts(Vec<AccountId>),
    Bytes(HeaderValue, Vec<u8>),
}

impl Checked {
    /// Looks at all of an answer.
    ///
    /// # Errors
    /// What makes no sense, for the plugin's author.
    pub(super) fn of(status: u16, sent: &[(String, String)], output: Output) -> Result<Self, String> {
        let known = StatusCode::from_u16(status).ok().filter(|status| (200..600).contains(&status.as_u16()));
        let mut taken = HeaderMap::new();
        let refused = headers::set(&mut taken, sent);
        Ok(Self {
            status: known.ok_or_else(|| format!("status {status} is none: 200 to 599"))?,
            headers: taken,
            body: Shape::of(output)?,
            refused,
        })
    }

    /// True when what the call changed is to happen.
    pub(super) fn succeeded(&self) -> bool {
        self.status.as_u16() < 400
    }

    /// The answer as `viewer` sees it.
    ///
    /// # Errors
    /// [`Error::NotFound`] for one entity that is missing or hidden; the database's.
    pub(super) async fn render(self, app: &App, viewer: Option<&Actor>) -> Result<Response> {
        let mut response = self.body.render(app, viewer, self.status).await?;
        response.headers_mut().extend(self.headers);
        Ok(response)
    }
}

impl Shape {
    fn of(output: Output) -> Result<Self, String> {
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

    async fn render(self, app: &App, viewer: Option<&Actor>, status: StatusCode) -> Result<Response> {
        let text = match self {
            Self::Json(text) => text,
            Self::Template(filled) => filled.write(&entities(app, viewer, &filled).await?),
            Self::Status(id) => {
                let seen = visibility::status(app, viewer, id).await?;
                entity::status::render_one(app, viewer, &seen).await?.as_str().to_owned()
            }
            Self::Account(id) => {
                let account = service::account::find_visible(app, id).await?;
                entity::account::render_found(app, &account).await?.as_str().to_owned()
            }
            Self::Statuses(ids) => Fragment::array(&statuses(app, viewer, Place::Collection, &ids).await?),
            Self::Accounts(ids) => Fragment::array(&accounts(app, &ids).await?),
            Self::Bytes(kind, bytes) => return Ok(as_bytes(status, kind, bytes)),
        };
        Ok(raw_json(status, text.into()))
    }
}

/// Those of `ids` that `viewer` may see at `place`, rendered, in this order.
///
/// # Errors
/// When the database does.
pub(super) async fn statuses(
    app: &App,
    viewer: Option<&Actor>,
    place: Place,
    ids: &[StatusId],
) -> Result<Vec<Fragment>> {
    let seen = visibility::statuses(app, viewer, place, ids).await?;
    entity::status::render(app, viewer, &seen).await
}

/// Those of `ids` that may be known of, rendered, in this order.
///
/// # Errors
/// When the database does.
pub(super) async fn accounts(app: &App, ids: &[AccountId]) -> Result<Vec<Fragment>> {
    let known = service::account::list_visible(app, ids).await?;
    entity::account::render(app, &known).await
}

/// What stands in the holes, all of it rendered together. There are no lists yet.
async fn entities(app: &App, viewer: Option<&Actor>, filled: &Filled) -> Result<HashMap<(Kind, i64), Fragment>> {
    let statuses: Vec<StatusId> = filled.ids(Kind::Status).into_iter().map(Into::into).collect();
    let seen = visibility::statuses(app, viewer, Place::Single, &statuses).await?;
    let accounts: Vec<AccountId> = filled.ids(Kind::Account).into_iter().map(Into::into).collect();
    let (mut known, mut versions) = (Vec::new(), Vec::new());
    if !accounts.is_empty() {
        known = service::account::list_visible(app, &accounts).await?;
        versions = store::account::versions(&app.db, &known).await?;
    }
    let beside = entity::status::render_beside(app, viewer, &seen, &versions).await?;
    let accounts = known.iter().filter_map(|id| Some((*id, Fragment::from_json(beside.accounts.get(id)?))));
    let accounts = accounts.map(|(id, fragment)| ((Kind::Account, id.into()), fragment));
    let statuses = beside.statuses.into_iter().map(|(id, fragment)| ((Kind::Status, id.into()), fragment));
    Ok(accounts.chain(statuses).collect())
}

/// Bytes that no browser looks into: neither their type is guessed nor anything in them run.
fn as_bytes(status: StatusCode, kind: HeaderValue, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    response
}

/// The answer of an [`Error`] of the server's own.
pub(super) fn refused(error: Error) -> Response {
    axum::response::IntoResponse::into_response(error)
}

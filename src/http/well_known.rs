//! Documents at fixed addresses: WebFinger, host-meta, NodeInfo, the page where a password is changed.
//!
//! Public, cached long, and failures without a body, as their readers expect. Spec: contract federation, section 1.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::entity::Fragment;
use crate::entity::well_known::{HostMeta, NodeInfo, NodeInfoDiscovery, Webfinger};
use crate::error::{Error, Result};
use crate::plugins::hooks;
use crate::service::webfinger;

/// The schema that every answer of `/nodeinfo/2.0` fits.
const NODEINFO_SCHEMA: &str = include_str!("schema/nodeinfo-2.0.json");

const JSON: &str = "application/json; charset=utf-8";
const THREE_DAYS: &str = "max-age=259200, public";
const HALF_AN_HOUR: &str = "max-age=1800, public";
const THREE_MINUTES: &str = "max-age=180, public";

/// `GET /.well-known/webfinger`
pub async fn webfinger(State(app): State<App>, uri: Uri) -> Result<Response> {
    let mut pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let resource = pairs.find(|(name, _)| name == "resource").map(|(_, value)| value);
    let found = match resource {
        Some(resource) => webfinger::find(&app, &resource).await,
        None => Err(Error::missing("resource")),
    };
    match found {
        Ok(subject) => document("application/jrd+json; charset=utf-8", THREE_DAYS, &Webfinger::new(&app, &subject)),
        Err(Error::BadRequest(_)) => Ok(nothing(StatusCode::BAD_REQUEST)),
        Err(Error::NotFound) => Ok(nothing(StatusCode::NOT_FOUND)),
        Err(Error::Gone) => Ok(nothing(StatusCode::GONE)),
        Err(error) => Err(error),
    }
}

/// `GET /.well-known/host-meta`: XRD, or JSON for whoever asks for it.
pub async fn host_meta(State(app): State<App>, headers: HeaderMap) -> Result<Response> {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains("json") {
        return Ok(cached("application/xrd+xml; charset=utf-8", THREE_DAYS, HostMeta::to_xml(&app)));
    }
    let mut response = host_meta_json(State(app)).await?;
    // The exception says what it depends on, so that no cache gives it to those who expect the usual form.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// `GET /.well-known/host-meta.json`
pub async fn host_meta_json(State(app): State<App>) -> Result<Response> {
    document(JSON, THREE_DAYS, &HostMeta::new(&app))
}

/// `GET /.well-known/nodeinfo`
pub async fn nodeinfo_discovery(State(app): State<App>) -> Result<Response> {
    document(JSON, THREE_DAYS, &NodeInfoDiscovery::new(&app))
}

/// `GET /nodeinfo/2.0`
pub async fn nodeinfo(State(app): State<App>) -> Result<Response> {
    let json = Fragment::of(&NodeInfo::render(&app).await?)?.as_str().to_owned();
    let json = hooks::instance::described(&app, hooks::instance::Document::NodeInfo, json).await;
    Ok(cached(JSON, HALF_AN_HOUR, json))
}

/// `GET /.well-known/change-password` (<https://w3c.github.io/webappsec-change-password-url/>)
pub async fn change_password() -> Response {
    (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/settings/password")]).into_response()
}

/// Does the NodeInfo document of now fit its schema? Asked when the server starts, since whoever crawls servers drops one
/// whose document does not.
///
/// # Errors
/// [`Error::Internal`] with the first thing that does not fit.
pub async fn check_nodeinfo(app: &App) -> Result<()> {
    let schema: Value = serde_json::from_str(NODEINFO_SCHEMA).map_err(Error::internal)?;
    let validator = jsonschema::draft202012::new(&schema).map_err(Error::internal)?;
    let document = serde_json::to_value(NodeInfo::render(app).await?).map_err(Error::internal)?;
    let checked = validator.validate(&document);
    checked.map_err(|fault| Error::internal(format!("the NodeInfo document: {fault} at {}", fault.instance_path())))
}

fn document<T: Serialize>(kind: &'static str, cache: &'static str, document: &T) -> Result<Response> {
    Ok(cached(kind, cache, Fragment::of(document)?.as_str().to_owned()))
}

fn cached(kind: &'static str, cache: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], body).into_response()
}

fn nothing(status: StatusCode) -> Response {
    (status, [(header::CACHE_CONTROL, THREE_MINUTES)]).into_response()
}

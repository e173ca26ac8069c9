//! Well-known URIs: WebFinger, host-meta, NodeInfo, security.txt and the change-password redirect.
//!
//! Public and cacheable; errors have no body, as other servers expect. Spec: docs/contract/federation.md#1-discovery-documents.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::Cx;
use crate::error::{Error, Result};
use crate::json::rendered;
use crate::operation::{Describe, Operation, Parameter, Place};
use context::json::Fragment;
use entity::document::PublicDocument;
use entity::well_known::{NodeInfo, NodeInfoVersion, Webfinger};
use model::Time;
use service::{instance, webfinger};

/// The JSON schema of `/nodeinfo/2.0`; that of 2.1 has two more members.
const NODEINFO_SCHEMA: &str = include_str!("schema/nodeinfo-2.0.json");

/// How long `security.txt` is valid; RFC 9116 recommends less than a year.
const SECURITY_PERIOD: chrono::TimeDelta = chrono::TimeDelta::days(180);

const THREE_DAYS: &str = "max-age=259200, public";
const HALF_AN_HOUR: &str = "max-age=1800, public";
const THREE_MINUTES: &str = "max-age=180, public";

/// The query parameter `resource`, whatever it holds: no other fault of the query is answered with a body.
#[derive(Debug)]
pub struct Resource(Option<String>);

impl FromRequestParts<()> for Resource {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self, Infallible> {
        let mut pairs = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self(pairs.find(|(name, _)| name == "resource").map(|(_, value)| value.into_owned())))
    }
}

impl Describe for Resource {
    fn describe(operation: &mut Operation) {
        let schema = json!({ "type": "string", "description": "`acct:user@domain`, or the URL of an account." });
        operation.parameters.push(Parameter::required("resource", Place::Query, schema));
    }
}

/// `GET /.well-known/webfinger`
pub async fn webfinger(cx: Cx, Resource(resource): Resource) -> Result<Response> {
    let found = match resource {
        Some(resource) => webfinger::find(&cx, &resource).await,
        None => Err(Error::missing("resource")),
    };
    match found {
        Ok(subject) => {
            let json = Fragment::of(&Webfinger::new(&cx, &subject))?.into_string();
            Ok((cached("application/jrd+json; charset=utf-8", THREE_DAYS), json).into_response())
        }
        Err(Error::BadRequest(_)) => Ok(nothing(StatusCode::BAD_REQUEST)),
        Err(Error::NotFound) => Ok(nothing(StatusCode::NOT_FOUND)),
        Err(Error::Gone) => Ok(nothing(StatusCode::GONE)),
        Err(error) => Err(error.into()),
    }
}

/// `GET /.well-known/host-meta`: XRD, or JSON when the client accepts it.
pub async fn host_meta(cx: Cx, headers: HeaderMap) -> Result<Response> {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !accepts.contains("json") {
        let xml = PublicDocument::HostMetaXml.render(&cx).await?;
        return Ok((cached("application/xrd+xml; charset=utf-8", THREE_DAYS), xml.body.clone()).into_response());
    }
    let mut response = host_meta_json(cx).await?;
    // Only the JSON form has `Vary`, so that no cache serves it to clients that expect XRD.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// `GET /.well-known/host-meta.json`
pub async fn host_meta_json(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::HostMetaJson, THREE_DAYS).await
}

/// `GET /.well-known/nodeinfo`
pub async fn nodeinfo_discovery(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::NodeInfoDiscovery, THREE_DAYS).await
}

/// `GET /nodeinfo/2.0`
pub async fn nodeinfo(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::NodeInfo, HALF_AN_HOUR).await
}

/// `GET /nodeinfo/2.1`
pub async fn nodeinfo_21(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::NodeInfo21, HALF_AN_HOUR).await
}

/// `GET /.well-known/security.txt` (RFC 9116): the contact of the server. Limited federation names no account.
///
/// # Errors
/// [`Error::NotFound`] when the server names none.
pub async fn security(cx: Cx) -> Result<Response> {
    let email = cx.settings().contact_email.clone();
    let contact = match instance::contact(&cx).await? {
        _ if !email.is_empty() => format!("mailto:{email}"),
        Some(account) if !cx.config.access.limited_federation => cx.urls.profile(&account.username),
        Some(_) | None => return Ok(nothing(StatusCode::NOT_FOUND)),
    };
    let expires = cx.clock.now() + SECURITY_PERIOD;
    let canonical = cx.urls.path("/.well-known/security.txt");
    let text = format!("Contact: {contact}\nExpires: {}\nCanonical: {canonical}\n", Time::to_api_seconds(expires));
    Ok((cached("text/plain; charset=utf-8", HALF_AN_HOUR), text).into_response())
}

/// `GET /.well-known/change-password` (<https://w3c.github.io/webappsec-change-password-url/>)
pub async fn change_password() -> Response {
    (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/settings/password")]).into_response()
}

/// Validates the current NodeInfo document against its schema. Runs when the server starts, as crawlers drop servers
/// with an invalid document.
///
/// # Errors
/// [`Error::Internal`] with the first violation.
pub async fn check_nodeinfo(cx: &context::Cx) -> Result<()> {
    let mut schema: Value = serde_json::from_str(NODEINFO_SCHEMA).map_err(Error::internal)?;
    for version in [NodeInfoVersion::V20, NodeInfoVersion::V21] {
        if version == NodeInfoVersion::V21 {
            schema["properties"]["version"]["const"] = json!("2.1");
            for member in ["repository", "homepage"] {
                schema["properties"]["software"]["properties"][member] = json!({ "type": "string" });
            }
        }
        let validator = jsonschema::draft202012::new(&schema).map_err(Error::internal)?;
        let document = serde_json::to_value(NodeInfo::render(cx, version).await?).map_err(Error::internal)?;
        validator
            .validate(&document)
            .map_err(|fault| Error::internal(format!("the NodeInfo document: {fault} at {}", fault.instance_path())))?;
    }
    Ok(())
}

async fn document(cx: &Cx, name: PublicDocument, cache: &'static str) -> Result<Response> {
    let mut response = rendered(name.render(cx).await?);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    Ok(response)
}

fn cached(kind: &'static str, cache: &'static str) -> [(HeaderName, &'static str); 2] {
    [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)]
}

fn nothing(status: StatusCode) -> Response {
    (status, [(header::CACHE_CONTROL, THREE_MINUTES)]).into_response()
}

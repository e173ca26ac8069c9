//! Additions of plugins to the client in the browser: their own routes, called as the person who is signed in.
//!
//! A call is a request like any other, without a connection: the same gate, limits and conversion of the response.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cx::Session;
use crate::{Cx, routes};
use context::extension::{ClientKind, ClientPart, ClientResponse, ClientUse, ServeClient};
use context::messages::Language;
use context::{Error, Result};
use model::{Actor, Grant, Scopes, TokenId};
use plugin_package::manifest;
use rookery_http::auth::Authentication;

/// The permissions of a person in a browser, as scopes.
const SCOPES: &str = "profile read write follow push";
/// Most bytes of a response.
const RESPONSE_MAX_BYTES: usize = 8 << 20;

#[async_trait]
impl ServeClient for Session {
    fn client_parts(&self, language: Language) -> Vec<ClientPart> {
        self.ask(|registry| {
            let mut plugins: Vec<_> = registry.plugins.iter().collect();
            plugins.sort_unstable_by_key(|active| active.name());
            let parts =
                plugins.into_iter().flat_map(|active| active.manifest.client.iter().map(|part| (active.name(), part)));
            parts.map(|(plugin, part)| shown(plugin, part, language)).collect()
        })
    }

    async fn ask_client(
        &self,
        cx: &context::Cx,
        actor: &Arc<Actor>,
        extension: &str,
        id: &str,
        need: ClientUse<'_>,
    ) -> Result<ClientResponse> {
        let cx = Cx::of(cx)?;
        let registry = cx.registry();
        let active = registry.plugins.iter().find(|active| active.name() == extension).ok_or(Error::NotFound)?;
        let part = active.manifest.client.iter().find(|part| part.id == id).ok_or(Error::NotFound)?;
        let request = request(&active.manifest, part, need, actor)?;
        let response = routes::serve(Cx::of(&cx)?, request).await.ok_or(Error::NotFound)?;
        read(response).await
    }
}

fn shown(plugin: &str, part: &manifest::ClientPart, language: Language) -> ClientPart {
    ClientPart {
        extension: plugin.to_owned(),
        id: part.id.clone(),
        kind: match part.kind {
            manifest::ClientKind::Timelines => ClientKind::Timelines,
            manifest::ClientKind::Folders => ClientKind::Folders,
            manifest::ClientKind::Reactions => ClientKind::Reactions,
            manifest::ClientKind::Emojis => ClientKind::Emojis,
            manifest::ClientKind::Choice => ClientKind::Choice,
        },
        title: part.title.in_language(language.code()).to_owned(),
        member: part.member.clone(),
        field: part.field.clone(),
        visibility: part.visibility.clone(),
    }
}

/// The request of a route of the plugin.
fn request(
    manifest: &manifest::Manifest,
    part: &manifest::ClientPart,
    need: ClientUse<'_>,
    actor: &Arc<Actor>,
) -> Result<Request> {
    let field = part.field.as_deref().unwrap_or_default();
    let is = |kind| part.kind == kind;
    let (route, parameter, query, body) = match need {
        ClientUse::List => (&part.list, "", "", None),
        ClientUse::Timeline { thing, query } => (&part.timeline, thing, query, None),
        ClientUse::Add { thing, status } if is(manifest::ClientKind::Folders) => {
            (&part.add, thing, "", Some(json!({ field: [status] })))
        }
        ClientUse::Remove { thing, status } if is(manifest::ClientKind::Folders) => {
            (&part.remove, thing, "", Some(json!({ field: [status] })))
        }
        ClientUse::React { status, emoji } if is(manifest::ClientKind::Reactions) => {
            (&part.add, status, "", Some(json!({ field: emoji })))
        }
        ClientUse::Unreact { status, emoji } if is(manifest::ClientKind::Reactions) => {
            (&part.remove, status, "", Some(json!({ field: emoji })))
        }
        ClientUse::Add { .. } | ClientUse::Remove { .. } | ClientUse::React { .. } | ClientUse::Unreact { .. } => {
            return Err(Error::NotFound);
        }
    };
    let id = route.as_ref().ok_or(Error::NotFound)?;
    let route = manifest.routes.iter().find(|route| route.id == *id).ok_or(Error::NotFound)?;
    let method = route.method.all().first().ok_or(Error::NotFound)?;
    let path = path(&route.path, parameter);
    let uri = if query.is_empty() { path } else { format!("{path}?{query}") };
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = Request::builder().method(method.as_str()).uri(uri).header(header::CONTENT_TYPE, "application/json");
    let mut request = request.body(body).map_err(Error::internal)?;
    let scopes = Scopes::from_stored(SCOPES);
    let actor = Arc::new(Actor { scopes: scopes.clone(), ..Actor::clone(actor) });
    let grant = Grant { token: TokenId::from(0), app: None, scopes, actor: Some(actor), unusable: None };
    request.extensions_mut().insert(Authentication::Grant(Arc::new(grant)));
    Ok(request)
}

/// The path of the template with its one parameter, if it has one.
fn path(template: &str, parameter: &str) -> String {
    match (template.find('{'), template.find('}')) {
        (Some(start), Some(end)) => {
            let value = utf8_percent_encode(parameter, NON_ALPHANUMERIC);
            format!("{}{value}{}", &template[..start], &template[end + 1..])
        }
        _ => template.to_owned(),
    }
}

/// # Errors
/// The error of the response, in its words.
async fn read(response: Response) -> Result<ClientResponse> {
    let status = response.status().as_u16();
    let older = response.headers().get(header::LINK).and_then(|link| link.to_str().ok()).and_then(older);
    let bytes = to_bytes(response.into_body(), RESPONSE_MAX_BYTES).await.map_err(Error::internal)?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if status < 300 {
        return Ok(ClientResponse { body, older });
    }
    let words = body.get("error").and_then(Value::as_str).unwrap_or("The extension gives no answer").to_owned();
    Err(match status {
        404 => Error::NotFound,
        401 | 403 => Error::forbidden(words),
        429 => Error::RateLimited,
        400 => Error::bad_request(words),
        402..500 => Error::invalid(words),
        _ => Error::Unavailable(words.into()),
    })
}

/// The query of the address with `rel="next"` in a header `Link`.
fn older(link: &str) -> Option<String> {
    let next = link.split(',').find(|one| one.contains("rel=\"next\""))?;
    let address = next.trim_start().strip_prefix('<')?.split('>').next()?;
    address.split_once('?').map(|(_, query)| query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_takes_its_place_in_the_path() {
        assert_eq!(path("/api/v1/shelves", "7"), "/api/v1/shelves");
        assert_eq!(path("/api/v1/shelves/{id}/statuses", "7/x"), "/api/v1/shelves/7%2Fx/statuses");
    }

    #[test]
    fn next_page_is_the_query_of_its_link() {
        let link =
            "<https://a.test/api/v1/x?limit=2&max_id=7>; rel=\"next\", <https://a.test/x?min_id=9>; rel=\"prev\"";
        assert_eq!(older(link).as_deref(), Some("limit=2&max_id=7"));
        assert_eq!(older("<https://a.test/x?min_id=9>; rel=\"prev\""), None);
    }
}

//! The endpoints: `GET /api/v1/streaming` and every path below it, and `GET /web/stream` for pages of a browser.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::ws::{Utf8Bytes, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc;

use crate::channel::{Refused, Wanted};
use crate::connection::{Form, Owner};
use crate::hub::Guest;
use crate::{Hub, revocation, sse, websocket};
use context::Error;
use rookery_http::auth::Authentication;
use rookery_http::client_address;
use rookery_http::error::failure;
use rookery_http::operation::methods::any;
use rookery_http::policy::{API, Closed, FORM};
use rookery_http::router::Routes;
use rookery_http::web::{Cookies, SignedIn};
use service::{auth, session};

/// Prefix of all streaming paths.
const ROOT: &str = "/api/v1/streaming";

/// The routes of the streams of `hub`.
#[must_use]
pub fn routes(hub: &Arc<Hub>) -> Routes {
    let policy = API.closed(Closed::Never).cors("GET, OPTIONS").judges_accounts();
    let stream = || {
        let hub = Arc::clone(hub);
        any(move |request: Request| Box::pin(answer(Arc::clone(&hub), request)))
    };
    let page = {
        let hub = Arc::clone(hub);
        any(move |request: Request| Box::pin(by_session(Arc::clone(&hub), request)))
    };
    Routes::new()
        .route("/api/v1/streaming", policy, stream())
        .route("/api/v1/streaming/{*rest}", policy, stream())
        .route("/web/stream", FORM, page)
}

async fn answer(hub: Arc<Hub>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::CONNECT) {
        return rookery_http::error::not_found();
    }
    if let Some(there) = elsewhere(&hub, &request) {
        return there;
    }
    let path = request.uri().path().strip_prefix(ROOT).unwrap_or_default().trim_start_matches('/').to_owned();
    let (mut parts, _) = request.into_parts();
    if is_upgrade(&parts) {
        return by_websocket(&hub, &mut parts).await.unwrap_or_else(not_upgraded);
    }
    match path.as_str() {
        "health" => healthy(),
        "" => rookery_http::error::not_found(),
        path => by_events(&hub, &parts, path).await.unwrap_or_else(|refused| failed(&refused)),
    }
}

/// The redirect to the configured streaming server, if there is another one.
fn elsewhere(hub: &Hub, request: &Request) -> Option<Response> {
    let base = hub.cx.config.streaming.url.as_ref()?.as_str().trim_end_matches('/');
    let asked = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let asked = asked.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let own: Uri = base.parse().ok()?;
    if own.authority().map(|authority| authority.as_str()) == asked {
        return None;
    }
    let rest = request.uri().path_and_query().map_or(ROOT, |path| path.as_str());
    let location = HeaderValue::try_from(format!("{base}{rest}")).ok()?;
    let mut response = StatusCode::MOVED_PERMANENTLY.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    Some(response)
}

/// A WebSocket request, by HTTP/1.1 (RFC 6455) or by HTTP/2 (RFC 8441).
fn is_upgrade(parts: &Parts) -> bool {
    let upgrade = parts.headers.get(header::UPGRADE).and_then(|upgrade| upgrade.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket")) || parts.method == Method::CONNECT
}

fn healthy() -> Response {
    let mut response = Response::new(Body::from("OK"));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

async fn by_websocket(hub: &Arc<Hub>, parts: &mut Parts) -> Result<Response, Refused> {
    let protocol = parts.headers.get(header::SEC_WEBSOCKET_PROTOCOL).cloned();
    let owner = owner(hub, parts, protocol.as_ref()).await?;
    let first = Wanted::of_query(parts.uri.query().unwrap_or_default());
    let mut upgrade = WebSocketUpgrade::from_request_parts(parts, &())
        .await
        .map_err(|rejected| Refused::new(rejected.status().as_u16(), rejected.body_text()))?;
    if let Some(protocol) = protocol {
        // Browsers close the connection when the protocol that they offer is not accepted.
        upgrade.set_selected_protocol(protocol);
    }
    let (guest, queue) = admit(hub, parts, owner, Form::WebSocket).await?;
    Ok(websocket::answer(upgrade, guest, queue, first))
}

async fn by_events(hub: &Arc<Hub>, parts: &Parts, path: &str) -> Result<Response, Refused> {
    let owner = owner(hub, parts, None).await?;
    let wanted = Arc::new(Wanted::of_path(path, parts.uri.query().unwrap_or_default()));
    let opened = wanted.open(&hub.cx, &owner).await?;
    let (guest, queue) = admit(hub, parts, owner, Form::EventSource).await?;
    guest.subscribe(opened).map_err(|text| Refused::new(429, text))?;
    Ok(sse::answer(guest, queue))
}

/// `GET /web/stream?stream=…`: the events of a channel, for pages; its owner is the person of the session.
async fn by_session(hub: Arc<Hub>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let core = rookery_http::Cx(hub.cx.clone());
    parts.extensions.insert(Cookies::read(&core, &parts.headers));
    if parts.method != Method::GET {
        return rookery_http::error::not_found();
    }
    let person = match SignedIn::from_request_parts(&mut parts, &()).await {
        Ok(SignedIn(person)) => person,
        Err(away) => return away,
    };
    let opened = async {
        let token = session::token(&hub.cx, &person).await.map_err(|error| unknown(&error))?;
        let scopes = session::token_scopes().map_err(|error| unknown(&error))?;
        let owner = Owner { account: person.account.id, token, scopes };
        let channel = Wanted::of_query(parts.uri.query().unwrap_or_default());
        let channel = Arc::new(channel.ok_or_else(|| Refused::new(400, "Parameter stream is missing"))?);
        let opened = channel.open(&hub.cx, &owner).await?;
        let (guest, queue) = admit(&hub, &parts, owner, Form::EventSource).await?;
        guest.subscribe(opened).map_err(|text| Refused::new(429, text))?;
        Ok(sse::answer(guest, queue))
    };
    opened.await.unwrap_or_else(|refused| failed(&refused))
}

async fn admit(
    hub: &Arc<Hub>,
    parts: &Parts,
    owner: Owner,
    form: Form,
) -> Result<(Guest, mpsc::Receiver<Utf8Bytes>), Refused> {
    let (guest, queue) = hub.admit(owner, address(hub, parts), form).map_err(|text| Refused::new(503, text))?;
    if revocation::is_valid(hub, &guest.connection).await.map_err(|error| unknown(&error))? {
        return Ok((guest, queue));
    }
    Err(invalid())
}

fn invalid() -> Refused {
    Refused::new(401, "Invalid access token")
}

fn unknown(error: &Error) -> Refused {
    context::log_failure!(error, "could not look a token up");
    unavailable()
}

fn unavailable() -> Refused {
    Refused::new(503, "The database does not respond, try again")
}

fn address(hub: &Hub, parts: &Parts) -> IpAddr {
    client_address::of(&parts.extensions, &parts.headers, &hub.cx.config.server.trusted_proxies)
}

/// The owner of the request, by its token: from the header, the query, or the name of the protocol.
async fn owner(hub: &Hub, parts: &Parts, protocol: Option<&HeaderValue>) -> Result<Owner, Refused> {
    let grant = match parts.extensions.get::<Authentication>() {
        Some(Authentication::Grant(grant)) => Arc::clone(grant),
        Some(Authentication::Invalid) => return Err(invalid()),
        Some(Authentication::Unknown) => return Err(unavailable()),
        Some(Authentication::Missing) | None => {
            let token = protocol.and_then(|protocol| protocol.to_str().ok());
            let token = token.ok_or_else(|| Refused::new(401, "Missing access token"))?;
            let found = auth::grant(&hub.cx, token).await.map_err(|error| unknown(&error))?;
            found.ok_or_else(invalid)?
        }
    };
    let actor = grant.person().ok().flatten().ok_or_else(invalid)?;
    Ok(Owner { account: actor.id, token: grant.token, scopes: grant.scopes.clone() })
}

fn failed(refused: &Refused) -> Response {
    failure(status(refused), &refused.text)
}

/// Before the protocol is switched, clients read a header (docs/contract/streaming.md#2-authentication).
fn not_upgraded(refused: Refused) -> Response {
    let mut response = status(&refused).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if let Ok(text) = HeaderValue::try_from(refused.text) {
        headers.insert("x-error-message", text);
    }
    response
}

fn status(refused: &Refused) -> StatusCode {
    StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::http::Request;
    use config::Config;
    use context::Cx;
    use context::extension::NoExtensions;
    use context::federation::NoFederation;
    use model::clock::Clock;
    use service::oauth::{self, revoke};
    use service::sign_up::{self, NewAccount};
    use service::token;

    use super::*;

    async fn open(folder: &Path) -> Cx {
        let folder = folder.to_str().unwrap();
        let keys = [
            ("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test".to_owned()),
            ("ROOKERY_STORAGE_DATA_DIR", folder.to_owned()),
            ("ROOKERY_DATABASE_URL", format!("sqlite://{folder}/test.db")),
        ];
        let config = Config::load(None, keys.map(|(key, value)| (key.to_owned(), value)).into_iter()).unwrap();
        Cx::open(config, Clock::system(), Path::new("/bin/false"), Arc::new(NoExtensions), Arc::new(NoFederation))
            .await
            .unwrap()
    }

    /// The grant of a new account's token.
    async fn grant(cx: &Cx) -> Arc<model::Grant> {
        let mut tx = cx.db.begin().await.unwrap();
        let new = NewAccount {
            username: "alice".to_owned(),
            email: "alice@example.test".to_owned(),
            password_hash: None,
            confirmed: true,
            approved: true,
            role_id: None,
            locale: None,
            time_zone: None,
            app: None,
            reason: None,
        };
        let account = sign_up::create(cx, &mut tx, new).await.unwrap();
        let scopes = oauth::read_scopes(cx, "read").unwrap();
        let token = token::mint(cx, &mut tx, None, Some(account), &scopes).await.unwrap();
        tx.commit().await.unwrap();
        auth::grant(cx, token.expose()).await.unwrap().unwrap()
    }

    /// A request for the stream of an account, authenticated with `grant`.
    fn asked(grant: &Arc<model::Grant>) -> Parts {
        let (mut parts, ()) = Request::get("/api/v1/streaming/user").body(()).unwrap().into_parts();
        parts.extensions.insert(Authentication::Grant(Arc::clone(grant)));
        parts
    }

    #[tokio::test]
    async fn token_revoked_while_its_stream_opens_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let cx = open(folder.path()).await;
        let streaming = crate::start_alone(&cx);
        let (hub, grant) = (&streaming.hub, grant(&cx).await);
        assert!(by_events(hub, &asked(&grant), "user").await.is_ok());

        // Between the lookup of the token and the registration of the connection that a revocation would end.
        revoke::one(&cx, grant.token).await.unwrap();
        let Err(refused) = by_events(hub, &asked(&grant), "user").await else { panic!("it is open") };
        assert_eq!(refused.status, 401);
        assert!(hub.is_empty());
    }
}

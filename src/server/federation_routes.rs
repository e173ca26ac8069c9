//! The addresses of federation: documents and inboxes, each with its policy.
//!
//! The crate `federation` knows no routes, and the HTTP layer no documents; this file connects the two. Paths of pages
//! are among these: the HTTP layer chooses by `Accept`.
//!
//! Spec: docs/contract/federation.md#2-uris and docs/contract/federation.md#6-inbox.

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use federation::documents::{self, Document, Keep, Page, Request as DocumentRequest, Served};
use federation::inbox::{self, Mailbox, Received, Refusal};
use federation::signature::Incoming;
use futures_util::future::BoxFuture;
use model::StatusId;
use model::urls::Owner;
use rookery_http::error::{ErrorResponse, failure, not_found};
use rookery_http::extract::Path;
use rookery_http::operation::methods::{Methods, any};
use rookery_http::policy::{Closed, Policy, WELL_KNOWN};
use rookery_http::router::Routes;
use rookery_http::{Cx, client_address};

/// Largest activity, in bytes.
const ACTIVITY_LIMIT: usize = 1024 * 1024;
/// Seconds after which a key is fetched again, and room for more activities is likely.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("60");
/// A document that anyone may read.
const DOCUMENT: Policy = WELL_KNOWN.closed(Closed::Never);
/// An inbox.
const INBOX: Policy = DOCUMENT.body_limit(ACTIVITY_LIMIT);

/// Documents and inboxes.
pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/actor", DOCUMENT, get(|_| Some(Document::Server)))
        .route("/actor/outbox", DOCUMENT, get(|_| Some(Document::ServerOutbox)))
        .route("/actor/inbox", INBOX, post(|_| Some(Mailbox::Server)))
        .route("/inbox", INBOX, post(|_| Some(Mailbox::Shared)))
        .route("/@{name}", DOCUMENT, get(|at| Some(Document::Actor(at.owner()?))))
        .route("/@{name}/{id}", DOCUMENT, get(|at| at.status(Document::Note)))
        .route("/users/{name}", DOCUMENT, actor())
        .route("/users/{name}/inbox", INBOX, inbox())
        .route("/users/{name}/outbox", DOCUMENT, outbox())
        .route("/users/{name}/followers", DOCUMENT, followers())
        .route("/users/{name}/following", DOCUMENT, following())
        .route("/users/{name}/followers_synchronization", DOCUMENT, synchronization())
        .route("/users/{name}/collections/featured", DOCUMENT, featured())
        .route("/users/{name}/collections/tags", DOCUMENT, featured_tags())
        .route("/users/{name}/authorizations/{id}", DOCUMENT, authorization())
        .route("/users/{name}/statuses/{id}", DOCUMENT, note())
        .route("/users/{name}/statuses/{id}/activity", DOCUMENT, activity())
        .route("/users/{name}/statuses/{id}/replies", DOCUMENT, replies())
        .route("/users/{name}/statuses/{id}/likes", DOCUMENT, likes())
        .route("/users/{name}/statuses/{id}/shares", DOCUMENT, shares())
        .route("/users/{name}/statuses/{id}/references", DOCUMENT, references())
        .route("/ap/users/{account}", DOCUMENT, actor())
        .route("/ap/users/{account}/inbox", INBOX, inbox())
        .route("/ap/users/{account}/outbox", DOCUMENT, outbox())
        .route("/ap/users/{account}/followers", DOCUMENT, followers())
        .route("/ap/users/{account}/following", DOCUMENT, following())
        .route("/ap/users/{account}/followers_synchronization", DOCUMENT, synchronization())
        .route("/ap/users/{account}/collections/featured", DOCUMENT, featured())
        .route("/ap/users/{account}/collections/tags", DOCUMENT, featured_tags())
        .route("/ap/users/{account}/authorizations/{id}", DOCUMENT, authorization())
        .route("/ap/users/{account}/statuses/{id}", DOCUMENT, note())
        .route("/ap/users/{account}/statuses/{id}/activity", DOCUMENT, activity())
        .route("/ap/users/{account}/statuses/{id}/replies", DOCUMENT, replies())
        .route("/ap/users/{account}/statuses/{id}/likes", DOCUMENT, likes())
        .route("/ap/users/{account}/statuses/{id}/shares", DOCUMENT, shares())
        .route("/ap/users/{account}/statuses/{id}/references", DOCUMENT, references())
        .route("/contexts/{id}", DOCUMENT, get(|at| Some(Document::Context(at.id()?, at.page()))))
        .route("/emojis/{id}", DOCUMENT, get(|at| Some(Document::Emoji(at.id()?))))
}

/// Declares the handlers of the parts of an account, which are served below either form of its id.
macro_rules! parts {
    ($($name:ident: $method:ident($at:ident => $document:expr);)+) => {
        $(fn $name() -> Methods {
            $method(|$at| $document)
        })+
    };
}

parts! {
    actor: get(at => Some(Document::Actor(at.owner()?)));
    inbox: post(at => Some(Mailbox::Account(at.owner()?)));
    outbox: get(at => Some(Document::Outbox(at.owner()?, at.page())));
    followers: get(at => Some(Document::Followers(at.owner()?, at.page())));
    following: get(at => Some(Document::Following(at.owner()?, at.page())));
    synchronization: get(at => Some(Document::FollowersSynchronization(at.owner()?)));
    featured: get(at => Some(Document::Featured(at.owner()?)));
    featured_tags: get(at => Some(Document::FeaturedTags(at.owner()?)));
    note: get(at => at.status(Document::Note));
    activity: get(at => at.status(Document::Activity));
    replies: get(at => at.status(|owner, id| Document::Replies(owner, id, at.page())));
    likes: get(at => at.status(Document::Likes));
    shares: get(at => at.status(Document::Shares));
    references: get(at => at.status(|owner, id| Document::References(owner, id, at.page())));
    authorization: get(at => Some(Document::Authorization(at.owner()?, at.segments.get(1)?.parse().ok()?)));
}

/// The values of a request's path and query.
struct Place {
    /// The account at the beginning of the path.
    owner: Option<Owner>,
    segments: Vec<String>,
    query: Vec<(String, String)>,
}

impl Place {
    async fn of(parts: &mut Parts) -> Self {
        let one = Path::<String>::from_request_parts(parts, &()).await.map(|Path(name)| vec![name]);
        let segments = match one {
            Ok(one) => one,
            Err(_) => Path::<Vec<String>>::from_request_parts(parts, &()).await.map_or(Vec::new(), |Path(all)| all),
        };
        let query = parts.uri.query().unwrap_or_default();
        let query = form(query);
        let path = parts.uri.path();
        let owner = match (segments.first(), Owner::of_path(path)) {
            // Decoded, unlike the path.
            (Some(name), Some((Owner::Page(_), _))) => Some(Owner::Page(name.clone())),
            (Some(name), Some((Owner::Name(_), _))) => Some(Owner::Name(name.clone())),
            (_, owner) => owner.map(|(owner, _)| owner),
        };
        Self { owner, segments, query }
    }

    fn owner(&self) -> Option<Owner> {
        self.owner.clone()
    }

    /// The id of what is not a part of an account.
    fn id<T: std::str::FromStr>(&self) -> Option<T> {
        self.segments.first()?.parse().ok()
    }

    /// A document about a status: its author and its id.
    fn status(&self, document: impl Fn(Owner, StatusId) -> Document) -> Option<Document> {
        Some(document(self.owner()?, self.segments.get(1)?.parse().ok()?))
    }

    fn page(&self) -> Page {
        let value = |wanted: &str| self.query.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        Page {
            page: value("page").map(|page| page.chars().filter(char::is_ascii_alphanumeric).take(16).collect()),
            min_id: value("min_id").and_then(|id| id.parse().ok()),
            max_id: value("max_id").and_then(|id| id.parse().ok()),
            only_other_accounts: value("only_other_accounts") == Some("true"),
        }
    }
}

fn form(query: &str) -> Vec<(String, String)> {
    axum::extract::Query::<Vec<(String, String)>>::try_from_uri(
        &format!("/?{query}").parse().unwrap_or_else(|_| axum::http::Uri::from_static("/")),
    )
    .map_or(Vec::new(), |axum::extract::Query(pairs)| pairs)
}

/// Answers GET by the document at the place of the request.
fn get(document: fn(&Place) -> Option<Document>) -> Methods {
    any(move |cx: Cx, request: Request| -> BoxFuture<'static, Response> {
        Box::pin(async move {
            if !matches!(*request.method(), Method::GET | Method::HEAD) {
                return not_found();
            }
            let address = client_address::client_address(&request, &cx.config.server.trusted_proxies);
            let (mut parts, _) = request.into_parts();
            let place = Place::of(&mut parts).await;
            let Some(document) = document(&place) else { return not_found() };
            name_host(&mut parts);
            let incoming = incoming(&cx, &parts, &[]);
            let request = DocumentRequest { incoming, address, token: capability(&parts.headers) };
            match documents::serve(&cx, &document, &request).await {
                Ok(served) => answer(served),
                Err(documents::Refusal::Document(error)) => ErrorResponse(error).into_response(),
                Err(documents::Refusal::Elsewhere(uri)) => moved(&uri, &parts.uri),
                Err(refusal) => refused(refusal.status().unwrap_or(500), &refusal.to_string()),
            }
        })
    })
}

/// A redirect to the same document below the id of its account, for others to keep as long as a document.
fn moved(uri: &str, requested: &Uri) -> Response {
    let rest = Owner::of_path(requested.path()).map_or("", |(_, rest)| rest);
    let query = requested.query().map(|query| format!("?{query}")).unwrap_or_default();
    let Ok(location) = HeaderValue::from_str(&format!("{uri}{rest}{query}")) else { return not_found() };
    let headers = [(header::LOCATION, location), (header::CACHE_CONTROL, HeaderValue::from_static("max-age=180"))];
    (StatusCode::MOVED_PERMANENTLY, headers).into_response()
}

/// The capability that a request carries, if any.
fn capability(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

fn answer(Served { body, keep, varies_by_signature }: Served) -> Response {
    let mut response = Response::new(Body::from(body.as_bytes().to_vec()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(documents::CONTENT_TYPE));
    if let Keep::Minutes(minutes) = keep
        && let Ok(value) = HeaderValue::from_str(&format!("max-age={}, public", minutes * 60))
    {
        headers.insert(header::CACHE_CONTROL, value);
    }
    if varies_by_signature {
        headers.insert(header::VARY, HeaderValue::from_static("Signature"));
    }
    response
}

/// Answers POST by putting the activity into the inbox at the place of the request.
fn post(mailbox: fn(&Place) -> Option<Mailbox>) -> Methods {
    any(move |cx: Cx, request: Request| -> BoxFuture<'static, Response> {
        Box::pin(async move {
            if request.method() != Method::POST {
                return not_found();
            }
            let address = client_address::client_address(&request, &cx.config.server.trusted_proxies);
            let (mut parts, body) = request.into_parts();
            let place = Place::of(&mut parts).await;
            let Some(mailbox) = mailbox(&place) else { return not_found() };
            if is_encoded(&parts.headers) {
                return failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The activity must not be compressed");
            }
            let Ok(body) = axum::body::to_bytes(body, ACTIVITY_LIMIT).await else {
                return failure(StatusCode::PAYLOAD_TOO_LARGE, "The activity is larger than 1 MiB");
            };
            name_host(&mut parts);
            match inbox::receive(&cx, &mailbox, &incoming(&cx, &parts, &body), Some(address)).await {
                Ok(Received::Queued | Received::Ignored) => StatusCode::ACCEPTED.into_response(),
                Err(Refusal::Local(error)) => ErrorResponse(error).into_response(),
                Err(refusal) => refused(refusal.status(), &refusal.to_string()),
            }
        })
    })
}

/// True for a body that would have to be decompressed: it could be of any size then.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// HTTP/2 has the host in the target instead of a header.
fn name_host(parts: &mut Parts) {
    if !parts.headers.contains_key(header::HOST)
        && let Some(host) = parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok())
    {
        parts.headers.insert(header::HOST, host);
    }
}

/// A request as signatures are about it.
fn incoming<'a>(cx: &'a Cx, parts: &'a Parts, body: &'a [u8]) -> Incoming<'a> {
    Incoming {
        method: &parts.method,
        scheme: cx.config.server.scheme.as_str(),
        path_and_query: parts.uri.path_and_query().map_or("/", |path| path.as_str()),
        headers: &parts.headers,
        body,
    }
}

/// The response to a refused request; one that may succeed later states when to try again.
fn refused(status: u16, why: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = failure(status, why);
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    response
}

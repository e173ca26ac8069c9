//! One document of another server: a signed GET that follows few redirects.

use std::time::Duration;

use config::Scheme;
use context::Cx;
use context::hosts::{Ended, Spared, Visit};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, LINK, LOCATION, USER_AGENT};
use outbound::{HeaderMap, Method, PlainHttp, Request, Response, Target};

use crate::Failure;
use crate::address::same_host;
use crate::floods::{Flood, registrable};
use crate::state::Network;
use crate::{identity, policy};

/// Time limit of one request, redirects apart.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest document, in bytes.
const LIMIT: usize = 1024 * 1024;
/// How often it is looked whether another request to the same host ended, and the pause between two looks.
const LOOKS: u32 = 200;
const LOOK_PAUSE: Duration = Duration::from_millis(50);
/// Most redirects.
const REDIRECTS: usize = 3;

/// A document, and the address that it came from, after redirects.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub url: String,
    pub body: Bytes,
}

impl Fetched {
    /// True when this is the document `id`, after a request for `asked`: its id is the address that it came from, or the
    /// one that was asked for, on the same host. A host that redirects to any address does not speak through the other.
    pub(super) fn is(&self, id: &str, asked: &str) -> bool {
        id == self.url || (id == asked && same_host(id, &self.url))
    }
}

/// Fetches the ActivityStreams document at `url`.
///
/// # Errors
/// [`Failure`], with [`Failure::Gone`] for 410.
pub async fn document(cx: &Cx, url: &str) -> Result<Fetched, Failure> {
    activity_streams(get(cx, url, &Credential::Signature).await?)
}

/// As [`document`], with `token` instead of a signature.
///
/// # Errors
/// As [`document`].
pub(super) async fn with_token(cx: &Cx, url: &str, token: &str) -> Result<Fetched, Failure> {
    activity_streams(get(cx, url, &Credential::Token(token)).await?)
}

/// How a request shows who sends it.
enum Credential<'a> {
    /// The signature of the server's actor.
    Signature,
    Token(&'a str),
    None,
}

fn activity_streams((target, response): (Target, Response)) -> Result<Fetched, Failure> {
    let kind = content_type(&response);
    if !is_activity_streams(kind) {
        return Err(Failure::ContentType(kind.to_owned()));
    }
    Ok(Fetched { url: target.url().to_owned(), body: response.body })
}

/// Fetches JSON of any type at `url`, without a signature: WebFinger.
///
/// # Errors
/// As [`document`].
pub(super) async fn plain(cx: &Cx, url: &str) -> Result<Fetched, Failure> {
    let (target, response) = get(cx, url, &Credential::None).await?;
    let kind = content_type(&response);
    let media_type = kind.split(';').next().unwrap_or_default().trim();
    if !media_type.ends_with("json") {
        return Err(Failure::ContentType(kind.to_owned()));
    }
    Ok(Fetched { url: target.url().to_owned(), body: response.body })
}

/// Fetches a text of any type at `url`, without a signature.
///
/// # Errors
/// As [`document`].
pub(super) async fn text_at(cx: &Cx, url: &str) -> Result<String, Failure> {
    let (_, response) = get(cx, url, &Credential::None).await?;
    Ok(String::from_utf8_lossy(&response.body).into_owned())
}

/// Requests `url`, and counts the result.
async fn get(cx: &Cx, url: &str, by: &Credential<'_>) -> Result<(Target, Response), Failure> {
    let got = follow(cx, url, by).await;
    if matches!(got, Err(Failure::Deferred)) {
        return got;
    }
    let result = got.as_ref().map_or_else(Failure::as_str, |_| "ok");
    metrics::counter!("rookery_fetches_total", "result" => result).increment(1);
    got
}

async fn follow(cx: &Cx, url: &str, by: &Credential<'_>) -> Result<(Target, Response), Failure> {
    let mut target = Target::parse(url)?;
    for _ in 0..=REDIRECTS {
        let response = match hop(cx, &target, by).await {
            Ok(response) => response,
            Err(failure) => {
                cx.step("request", false, || format!("GET {}: {failure}", target.url()));
                return Err(failure);
            }
        };
        let status = response.status.as_u16();
        cx.step("request", matches!(status, 200 | 301 | 302 | 303 | 307 | 308), || {
            let (kind, size) = (content_type(&response), response.body.len());
            format!("GET {}: status {status}, content type {kind:?}, {size} bytes", target.url())
        });
        match status {
            200 => return checked(target, response),
            301 | 302 | 303 | 307 | 308 => {
                let location = response.headers.get(LOCATION).and_then(|value| value.to_str().ok());
                let next = target.join(location.ok_or(Failure::Status(status))?)?;
                // A token is for one host.
                let leaves = matches!(by, Credential::Token(_)) && next.authority() != target.authority();
                if leaves || (target.is_secure() && !next.is_secure()) {
                    return Err(Failure::Redirect);
                }
                target = next;
            }
            410 => return Err(Failure::Gone),
            _ => return Err(Failure::Status(status)),
        }
    }
    Err(Failure::Redirect)
}

/// The address of the document that the page at `url` names as its alternate: by a header `Link`, or in its head.
///
/// # Errors
/// [`Failure`], with [`Failure::Disbelieved`] for a page that names none.
pub(super) async fn alternate(cx: &Cx, url: &str) -> Result<String, Failure> {
    let (target, response) = get(cx, url, &Credential::None).await?;
    let named = |value: &str| {
        let (link, rest) = value.split_once('>')?;
        let fits = rest.contains("alternate")
            && (rest.contains(identity::CONTENT_TYPE) || rest.contains("application/ld+json"));
        Some(link.trim_start().strip_prefix('<')?.to_owned()).filter(|_| fits)
    };
    let links = response.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
    let by_header = links.flat_map(|value| value.split(',')).find_map(named);
    let html = String::from_utf8_lossy(&response.body);
    let link = by_header.or_else(|| text::page::Page::read(&html).activity);
    let link = link.ok_or(Failure::Disbelieved("it is not a document, and names none"))?;
    let link = target.join(&link)?;
    // A page may name only documents of the same host.
    if link.authority() == target.authority() {
        Ok(link.url().to_owned())
    } else {
        Err(Failure::Disbelieved("the alternate is elsewhere"))
    }
}

/// One request, if its destination is one that this server talks to.
async fn hop(cx: &Cx, target: &Target, by: &Credential<'_>) -> Result<Response, Failure> {
    spend(cx, target)?;
    may_contact(cx, target).await?;
    let mut headers = HeaderMap::new();
    match by {
        Credential::Signature => headers = identity::server(cx).await?.get(cx, target).await?,
        Credential::Token(token) => {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            headers.insert(AUTHORIZATION, value.map_err(|_| Failure::Disbelieved("the token is malformed"))?);
            headers.insert(ACCEPT, HeaderValue::from_static(identity::CONTENT_TYPE));
        }
        Credential::None => {
            headers.insert(ACCEPT, HeaderValue::from_static("application/jrd+json, application/json, text/html"));
        }
    }
    headers.insert(USER_AGENT, user_agent(cx));
    let request = Request {
        method: Method::GET,
        target: target.clone(),
        headers,
        body: Bytes::new(),
        timeout: TIMEOUT,
        limit: LIMIT,
    };
    let visit = enter(cx, &target.authority()).await?;
    let sent = cx.outbound.send(request).await;
    let ended = match &sent {
        Ok(response) if response.status.is_server_error() => Ended::Refused,
        Ok(_) => Ended::Answered,
        Err(
            outbound::Error::Timeout | outbound::Error::Dns(_) | outbound::Error::Tls(_) | outbound::Error::Other(_),
        ) => Ended::Silent,
        // Decided here, or by the size of the response.
        Err(_) => return Ok(sent?),
    };
    visit.end(ended, cx.clock.now());
    Ok(sent?)
}

/// Takes a request to `target` from the budgets: of the activity or lookup, and of the domain that causes it.
///
/// # Errors
/// [`Failure::Deferred`], [`Failure::Spent`] and [`Failure::Flood`].
fn spend(cx: &Cx, target: &Target) -> Result<(), Failure> {
    let Some(budget) = cx.budget() else { return Ok(()) };
    let now = cx.clock.now();
    budget.take(now)?;
    let cause = budget.cause();
    if cause.is_empty() {
        return Ok(());
    }
    let floods = &Network::of(cx)?.floods;
    let host = target.authority();
    let destination = registrable(&host);
    let reflects = destination != cause;
    let admitted = floods.admit(Flood::Caused, cause, now)
        && (!reflects || floods.admit(Flood::Reflected, &format!("{cause} {destination}"), now));
    if admitted { Ok(()) } else { Err(Failure::Flood) }
}

/// Begins a request to `host`, when fewer than the most run.
///
/// # Errors
/// [`Failure::Spared`] for a host that did not respond recently.
async fn enter<'a>(cx: &'a Cx, host: &str) -> Result<Visit<'a>, Failure> {
    let hosts = &Network::of(cx)?.hosts;
    for _ in 0..LOOKS {
        match hosts.enter(host, cx.clock.now()) {
            Ok(visit) => return Ok(visit),
            Err(Spared::Failing(_)) => return Err(Failure::Spared),
            Err(Spared::Busy(_)) => tokio::time::sleep(LOOK_PAUSE).await,
        }
    }
    Err(Failure::Spared)
}

/// Checks that `target` may be contacted: by the policy, and without TLS only in development, at addresses that the
/// configuration names.
///
/// # Errors
/// [`Failure::Refused`], and [`Failure::Request`] for a missing TLS.
pub(crate) async fn may_contact(cx: &Cx, target: &Target) -> Result<(), Failure> {
    policy::may_talk(cx, &target.authority())?;
    let plain = if cx.config.server.scheme == Scheme::Http { PlainHttp::Allowed } else { PlainHttp::Never };
    if !target.is_secure() && !cx.outbound.may_be_plain(target, plain).await? {
        return Err(outbound::Error::Url("the scheme must be https".to_owned()).into());
    }
    Ok(())
}

/// The header `User-Agent` of every request to another server.
pub(crate) fn user_agent(cx: &Cx) -> HeaderValue {
    let text = format!("Rookery/{} (+{}/)", env!("CARGO_PKG_VERSION"), cx.urls.origin);
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Rookery"))
}

fn checked(target: Target, response: Response) -> Result<(Target, Response), Failure> {
    let encoding = response.headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    // No encoding was accepted: a compressed body could be of any size.
    match encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        Some(encoding) => Err(Failure::ContentType(encoding.to_owned())),
        None => Ok((target, response)),
    }
}

fn content_type(response: &Response) -> &str {
    response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// True for the content types of ActivityStreams (docs/contract/federation.md#11-security-checks).
fn is_activity_streams(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    let mut parts = kind.split(';').map(str::trim);
    match parts.next() {
        Some("application/activity+json") => true,
        Some("application/ld+json") => parts.any(|part| {
            part.strip_prefix("profile=").is_some_and(|profiles| {
                profiles.trim_matches('"').split(' ').any(|one| one == "https://www.w3.org/ns/activitystreams")
            })
        }),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_of_documents_are_recognised() {
        for kind in [
            "application/activity+json",
            "application/activity+json; charset=utf-8",
            "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"",
            "Application/LD+JSON; charset=utf-8; profile=\"https://x.test/ https://www.w3.org/ns/activitystreams\"",
        ] {
            assert!(is_activity_streams(kind), "{kind}");
        }
        for kind in ["", "application/json", "text/html", "application/ld+json", "application/activity+jsonx"] {
            assert!(!is_activity_streams(kind), "{kind}");
        }
    }
}

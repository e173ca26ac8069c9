//! Outbound HTTP of plugins (contract: interface `http-client`), through the server's only HTTP client.
//!
//! The plugin's grants decide which origins a request may address; [`outbound`] guards against SSRF.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use futures_util::future::join_all;
use rookery_plugin_host::imports::http_client::{HttpError, Request, Response};
use tokio::time::Instant;

use super::Call;
use crate::call::budgets::MAX_PER_MINUTE;
use outbound::Target;

/// Longest duration of one request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Largest response body, in bytes.
const LIMIT: usize = 2 << 20;
/// Headers of the connection or the server's identity, which a plugin may not set.
const RESERVED: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "expect",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "forwarded",
    "x-forwarded-for",
];

/// The response bodies of one list of requests.
struct Bodies {
    /// Bytes that they may still have together; what requests in progress may receive is taken off.
    left: AtomicUsize,
}

impl Bodies {
    /// The permitted size of one more; none when nothing is left.
    fn reserve(&self) -> Option<usize> {
        let part = |left: usize| LIMIT.min(left);
        let reserved = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left - part(left)).filter(|less| *less < left)
        });
        reserved.ok().map(part)
    }
}

impl Call {
    pub(super) async fn fetch_all(&self, requests: Vec<Request>) -> Vec<Result<Response, HttpError>> {
        let bodies = Bodies { left: AtomicUsize::new(self.room().left()) };
        join_all(requests.into_iter().map(|request| self.fetch_one(request, &bodies))).await
    }

    async fn fetch_one(&self, request: Request, bodies: &Bodies) -> Result<Response, HttpError> {
        let target = Target::parse(&request.url).map_err(error)?;
        if !self.granted().http.iter().any(|granted| covers(granted, &target)) {
            let (scheme, host, port) = (target.scheme(), target.host(), target.port());
            return Err(HttpError::Denied(format!("http = [\"{scheme}://{host}:{port}\"] was not granted")));
        }
        let timeout = match request.timeout_ms {
            0 => TIMEOUT,
            wanted => Duration::from_millis(wanted.into()).min(TIMEOUT),
        };
        let Some(limit) = bodies.reserve() else {
            let most = self.active.limits.host.bytes_in;
            return Err(HttpError::Denied(format!("limit.http: at most {most} bytes in one call")));
        };
        let request = outbound::Request {
            method: method(&request.method)?,
            headers: self.headers(&request.headers)?,
            body: request.body.map(Bytes::from).unwrap_or_default(),
            timeout,
            limit,
            target,
        };
        let url = request.target.url().to_owned();
        let place = tokio::time::timeout(timeout, self.state.http.places.acquire()).await;
        let _place = place.map_err(|_| HttpError::Timeout)?.map_err(|error| HttpError::Other(error.to_string()))?;
        if !self.state.http.spend(Instant::now()) {
            return Err(HttpError::Denied(format!("limit.http: at most {MAX_PER_MINUTE} requests a minute")));
        }
        let answer = self.cx.outbound.send(request).await;
        bodies.left.fetch_add(limit - answer.as_ref().map_or(0, |answer| answer.body.len()), Ordering::Relaxed);
        let answer = answer.map_err(error)?;
        Ok(Response { status: answer.status.as_u16(), headers: texts(&answer.headers), body: answer.body.into(), url })
    }

    fn headers(&self, wanted: &[(String, String)]) -> Result<HeaderMap, HttpError> {
        let mut headers = HeaderMap::new();
        for (name, value) in wanted {
            let refused = || HttpError::Denied(format!("the header {name:?} cannot be sent"));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
            if RESERVED.contains(&name.as_str()) {
                return Err(refused());
            }
            headers.append(name, HeaderValue::from_str(value).map_err(|_| refused())?);
        }
        let agent =
            format!("Rookery/{} ({}; +{}/)", env!("CARGO_PKG_VERSION"), self.active.name(), self.cx.urls.origin);
        if let Ok(agent) = HeaderValue::from_str(&agent) {
            headers.entry("user-agent").or_insert(agent);
        }
        Ok(headers)
    }
}

/// The supported HTTP methods, which make sense without a proxy.
fn method(name: &str) -> Result<Method, HttpError> {
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
    let found = known.into_iter().find(|method| method.as_str() == name);
    found.ok_or_else(|| HttpError::Denied(format!("the method {name:?} cannot be used")))
}

/// The response headers whose values are text.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text =
        |(name, value): (&HeaderName, &HeaderValue)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()));
    headers.iter().filter_map(text).collect()
}

/// True when the grant `granted` (`https://host:port`, `https://*.host:port`) covers `target`. Parsed components are
/// compared, never the text; the port defaults to the scheme's.
pub(super) fn covers(granted: &str, target: &Target) -> bool {
    let Some((scheme, rest)) = granted.split_once("://") else { return false };
    let (below, rest) = match rest.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let Ok(granted) = Target::parse(&format!("{scheme}://{rest}")) else { return false };
    if granted.scheme() != target.scheme() || granted.port() != target.port() {
        return false;
    }
    let (granted, host) = (granted.host(), target.host());
    match below {
        false => host == granted,
        true => host.strip_suffix(&granted).is_some_and(|front| front.len() > 1 && front.ends_with('.')),
    }
}

fn error(error: outbound::Error) -> HttpError {
    match error {
        outbound::Error::Url(why) => HttpError::Denied(why),
        outbound::Error::Blocked => HttpError::BlockedAddress,
        outbound::Error::Dns(why) => HttpError::Dns(why),
        outbound::Error::Timeout => HttpError::Timeout,
        outbound::Error::TooLarge(size) => HttpError::TooLarge(size),
        outbound::Error::Tls(why) => HttpError::Tls(why),
        outbound::Error::Other(why) => HttpError::Other(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::budgets::Allowance;

    fn allowed(granted: &str, url: &str) -> bool {
        covers(granted, &Target::parse(url).unwrap())
    }

    #[test]
    fn permission_covers_only_its_scheme_host_and_port() {
        let granted = "https://api.example.com:443";
        for url in ["https://api.example.com/x?y", "https://API.EXAMPLE.com:443/", "https://api%2eexample.com/"] {
            assert!(allowed(granted, url), "{url}");
        }
        for url in [
            "http://api.example.com:443/",
            "https://api.example.com:444/",
            "https://example.com/",
            "https://x.api.example.com/",
            "https://api.example.com.evil.test/",
            "https://evil.test/api.example.com",
            "https://evil.test#api.example.com",
            "https://api-example.com/",
            "https://127.0.0.1/",
        ] {
            assert!(!allowed(granted, url), "{url}");
        }
        assert!(allowed("http://127.0.0.1:8080", "http://2130706433:8080/"));
    }

    #[test]
    fn star_stands_for_at_least_one_label() {
        let granted = "https://*.example.com";
        for url in ["https://a.example.com/", "https://a.b.example.com/"] {
            assert!(allowed(granted, url), "{url}");
        }
        for url in ["https://example.com/", "https://aexample.com/", "https://a.example.com.evil.test/"] {
            assert!(!allowed(granted, url), "{url}");
        }
        for granted in ["*", "*://example.com", "https://*", "https://*.", "example.com", "https://a.*.example.com", ""]
        {
            assert!(!allowed(granted, "https://a.example.com/"), "{granted}");
        }
    }

    #[test]
    fn three_hundred_a_minute() {
        let (allowance, now) = (Allowance::default(), Instant::now());
        assert_eq!((0..1000).filter(|_| allowance.spend(now)).count(), 300);
        assert!(!allowance.spend(now + Duration::from_secs(59)));
        assert!(allowance.spend(now + Duration::from_secs(61)));
    }
}

//! Fetching a document of the web: a GET that follows redirects, and accepts only documents of the expected kinds.
//!
//! Each hop is a separate request with the same address checks. When and how often documents are fetched is decided
//! by the caller.
//!
//! Spec: RFC 9110, sections 8.3, 13.1.2 and 15.4.

use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, LINK, LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, StatusCode};

use super::{Client, Error, Opened, Request, Target};

/// Most redirects to follow.
const REDIRECTS: usize = 4;

/// A document to fetch.
#[derive(Clone, Debug)]
pub struct Fetch<'a> {
    /// The URL of the document.
    pub target: Target,
    /// The header `User-Agent`.
    pub agent: &'a str,
    /// The time limit for everything, including redirects.
    pub timeout: Duration,
    /// How much of the document to read, in bytes.
    pub limit: usize,
    /// The handling of a larger document.
    pub beyond: Beyond,
    /// The accepted content types, in lower case and without parameters; the header `Accept`. Empty: any.
    pub kinds: &'a [&'a str],
    /// The hops that may be without TLS.
    pub plain: PlainHttp,
    /// The validator of the copy that the caller has, for the header `If-None-Match`: an unchanged document is the error
    /// [`FetchError::Status`] with 304.
    pub etag: Option<&'a str>,
}

/// The addresses that may be requested over `http`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHttp {
    /// All addresses.
    Any,
    /// Addresses that the client was allowed in addition to public ones: private networks.
    Allowed,
    /// None: every hop must be `https`.
    Never,
}

/// The handling of a document that is larger than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It is an error.
    Refuse,
    /// It is truncated.
    Cut,
}

/// A fetched document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its final URL, after redirects.
    pub target: Target,
    /// The body, or its beginning.
    pub body: Bytes,
    headers: HeaderMap,
}

impl Document {
    /// The header `Content-Type`.
    #[must_use]
    pub fn content_type(&self) -> &str {
        content_type(&self.headers)
    }

    /// The header `ETag`, for a later [`Fetch`].
    #[must_use]
    pub fn etag(&self) -> Option<&str> {
        self.headers.get(ETAG).and_then(|value| value.to_str().ok())
    }

    /// The values of the headers `Link`.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok())
    }
}

/// Why a document was not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// A request failed.
    #[error(transparent)]
    Request(#[from] Error),
    /// The response has another status than 200.
    #[error("answered with status {0}")]
    Status(u16),
    /// The document has another content type.
    #[error("a document of the type {0:?}")]
    Kind(String),
    /// There were too many redirects.
    #[error("redirected too often")]
    Redirects,
}

impl FetchError {
    /// True when retrying later may succeed: the server did not respond, or reported that it is busy or failed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Request(Error::Dns(_) | Error::Timeout | Error::Tls(_) | Error::Other(_)) => true,
            Self::Status(status) => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Request(Error::Url(_) | Error::Blocked | Error::TooLarge(_)) | Self::Kind(_) | Self::Redirects => {
                false
            }
        }
    }
}

impl Client {
    /// Fetches a document. Connections are closed at the end, also after an error or when the future is dropped.
    ///
    /// # Errors
    /// [`FetchError`] with the reason.
    pub async fn fetch(&self, fetch: Fetch<'_>) -> Result<Document, FetchError> {
        let timeout = fetch.timeout;
        tokio::time::timeout(timeout, self.follow(fetch)).await.unwrap_or(Err(FetchError::Request(Error::Timeout)))
    }

    /// True when `target` may be requested without TLS.
    ///
    /// # Errors
    /// When its name cannot be resolved.
    pub async fn may_be_plain(&self, target: &Target, plain: PlainHttp) -> Result<bool, Error> {
        match plain {
            PlainHttp::Any => Ok(true),
            PlainHttp::Allowed => Ok(self.addresses(target).await?.iter().all(|found| self.is_allowed(*found))),
            PlainHttp::Never => Ok(false),
        }
    }

    async fn follow(&self, fetch: Fetch<'_>) -> Result<Document, FetchError> {
        let headers = headers(&fetch)?;
        let mut target = fetch.target;
        for _ in 0..=REDIRECTS {
            if !target.is_secure() && !self.may_be_plain(&target, fetch.plain).await? {
                return Err(Error::Url("the scheme must be https".to_owned()).into());
            }
            let request = Request {
                method: Method::GET,
                target: target.clone(),
                headers: headers.clone(),
                body: Bytes::new(),
                timeout: fetch.timeout,
                limit: fetch.limit,
            };
            let mut opened = self.open(&request).await?;
            if let Some(location) = redirect(&opened) {
                target = target.join(location)?;
                continue;
            }
            check(&opened, fetch.kinds)?;
            if fetch.beyond == Beyond::Refuse {
                opened.check_length(fetch.limit)?;
            }
            let body = opened.read(fetch.limit, fetch.beyond).await?;
            return Ok(Document { target, body, headers: opened.headers });
        }
        Err(FetchError::Redirects)
    }
}

fn headers(fetch: &Fetch<'_>) -> Result<HeaderMap, Error> {
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| Error::Other(error.to_string()));
    let accept = if fetch.kinds.is_empty() { "*/*".to_owned() } else { fetch.kinds.join(", ") };
    let mut headers = HeaderMap::from_iter([(ACCEPT, value(&accept)?), (USER_AGENT, value(fetch.agent)?)]);
    if let Some(etag) = fetch.etag {
        headers.insert(IF_NONE_MATCH, value(etag)?);
    }
    Ok(headers)
}

/// The target of a redirect response.
fn redirect(opened: &Opened) -> Option<&str> {
    let moved = matches!(opened.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    opened.headers.get(LOCATION).filter(|_| moved)?.to_str().ok()
}

fn check(opened: &Opened, kinds: &[&str]) -> Result<(), FetchError> {
    if opened.status != StatusCode::OK {
        return Err(FetchError::Status(opened.status.as_u16()));
    }
    let kind = content_type(&opened.headers).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kinds.is_empty() || kinds.contains(&kind.as_str()) { Ok(()) } else { Err(FetchError::Kind(kind)) }
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

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

use super::client::{Beyond, Client, Opened, Request};
use super::error::Error;
use super::target::Target;

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
        tokio::time::timeout(timeout, self.load(fetch)).await.unwrap_or(Err(FetchError::Request(Error::Timeout)))
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

    async fn load(&self, fetch: Fetch<'_>) -> Result<Document, FetchError> {
        let headers = headers(&fetch)?;
        let (target, mut opened) = self.follow(fetch.target, headers, fetch.timeout, fetch.plain).await?;
        if opened.status != StatusCode::OK {
            return Err(FetchError::Status(opened.status.as_u16()));
        }
        check_kind(&opened.headers, fetch.kinds)?;
        if fetch.beyond == Beyond::Refuse {
            opened.check_length(fetch.limit)?;
        }
        let body = opened.read(fetch.limit, fetch.beyond).await?;
        Ok(Document { target, body, headers: opened.headers })
    }

    /// Sends a GET and follows redirects. Returns the final URL, and the response without its body.
    pub(super) async fn follow(
        &self,
        mut target: Target,
        headers: HeaderMap,
        timeout: Duration,
        plain: PlainHttp,
    ) -> Result<(Target, Opened), FetchError> {
        for _ in 0..=REDIRECTS {
            if !target.is_secure() && !self.may_be_plain(&target, plain).await? {
                return Err(Error::Url("the scheme must be https".to_owned()).into());
            }
            let request = Request {
                method: Method::GET,
                target: target.clone(),
                headers: headers.clone(),
                body: Bytes::new(),
                timeout,
                // Of the body, which is not read here.
                limit: 0,
            };
            let opened = self.open(&request).await?;
            match redirect(&opened) {
                Some(location) => target = target.join(location)?,
                None => return Ok((target, opened)),
            }
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

/// # Errors
/// [`FetchError::Kind`] for a content type that is not among `kinds`, unless these are empty.
pub(super) fn check_kind(headers: &HeaderMap, kinds: &[&str]) -> Result<(), FetchError> {
    let kind = kind(content_type(headers));
    if kinds.is_empty() || kinds.contains(&kind.as_str()) { Ok(()) } else { Err(FetchError::Kind(kind)) }
}

/// A content type without its parameters, in lower case.
pub(super) fn kind(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

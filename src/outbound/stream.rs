//! Passing on a document of the web while it arrives: bounded in bytes and time, and not kept.
//!
//! As for [`fetch`](super::fetch), redirects are followed, and each hop is checked.
//!
//! Spec: RFC 9110, sections 14 and 15.3.7.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ACCEPT, ACCEPT_RANGES, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, RANGE, USER_AGENT};
use hyper::{HeaderMap, StatusCode};
use tokio::time::{Instant, Sleep};

use super::client::{Client, Opened, declared};
use super::error::Error;
use super::fetch::{FetchError, PlainHttp};
use super::target::Target;

/// A document to pass on.
#[derive(Clone, Debug)]
pub struct Pass<'a> {
    /// The URL of the document.
    pub target: Target,
    /// The header `User-Agent`.
    pub agent: &'a str,
    /// The header `Range`.
    pub range: Option<&'a str>,
    /// The time limit until the response begins, including redirects, and between two pieces of it.
    pub patience: Duration,
    /// The time limit for everything.
    pub timeout: Duration,
    /// The most bytes of a response.
    pub limit: u64,
    /// The accepted content types, in lower case and without parameters.
    pub kinds: &'a [&'a str],
    /// The hops that may be without TLS.
    pub plain: PlainHttp,
}

/// A response that arrives; its body ends with an error beyond a limit. The connection is closed when it is dropped.
#[derive(Debug)]
pub struct Streaming {
    /// 200, 206 or 416.
    pub status: StatusCode,
    /// The content type without parameters, in lower case.
    pub content_type: String,
    /// The size of the body in bytes, if the server stated it.
    pub length: Option<u64>,
    /// The header `Content-Range`.
    pub content_range: Option<HeaderValue>,
    /// The server responds to `Range`.
    pub has_ranges: bool,
    opened: Opened,
    left: u64,
    limit: u64,
    patience: Duration,
    pause: Pin<Box<Sleep>>,
    end: Pin<Box<Sleep>>,
    _held: Held,
}

/// Dropped with the response.
struct Held {
    _dropped: Option<Box<dyn Send + Sync>>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held(..)")
    }
}

impl Client {
    /// Requests a document and returns it as soon as its head has arrived.
    ///
    /// # Errors
    /// [`FetchError`] with the reason: also for a status other than 200, 206 and 416, and a document that is declared to
    /// be larger than the limit.
    pub async fn pass(&self, pass: Pass<'_>) -> Result<Streaming, FetchError> {
        let end = Instant::now() + pass.timeout;
        let opened = tokio::time::timeout(pass.patience, self.arrive(&pass));
        let opened = opened.await.unwrap_or(Err(FetchError::Request(Error::Timeout)))?;
        let length = declared(&opened.headers);
        if let Some(length) = length.filter(|length| *length > pass.limit) {
            return Err(Error::TooLarge(length).into());
        }
        let header = |name| opened.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        Ok(Streaming {
            status: opened.status,
            content_type: super::fetch::kind(header(CONTENT_TYPE)),
            length,
            content_range: opened.headers.get(CONTENT_RANGE).cloned(),
            has_ranges: opened.status == StatusCode::PARTIAL_CONTENT || header(ACCEPT_RANGES) == "bytes",
            left: pass.limit,
            limit: pass.limit,
            patience: pass.patience,
            pause: Box::pin(tokio::time::sleep(pass.patience)),
            end: Box::pin(tokio::time::sleep_until(end)),
            _held: Held { _dropped: None },
            opened,
        })
    }

    async fn arrive(&self, pass: &Pass<'_>) -> Result<Opened, FetchError> {
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| Error::Other(error.to_string()));
        let accept = pass.kinds.join(", ");
        let mut headers = HeaderMap::from_iter([(ACCEPT, value(&accept)?), (USER_AGENT, value(pass.agent)?)]);
        if let Some(range) = pass.range {
            headers.insert(RANGE, value(range)?);
        }
        let opened = self.follow(pass.target.clone(), headers, pass.timeout, pass.plain).await?.1;
        match opened.status {
            StatusCode::RANGE_NOT_SATISFIABLE if pass.range.is_some() => Ok(opened),
            StatusCode::OK | StatusCode::PARTIAL_CONTENT => {
                super::fetch::check_kind(&opened.headers, pass.kinds)?;
                Ok(opened)
            }
            other => Err(FetchError::Status(other.as_u16())),
        }
    }
}

impl Streaming {
    /// Keeps `held`, such as a permit, until the response is dropped.
    #[must_use]
    pub fn holding(self, held: impl Send + Sync + 'static) -> Self {
        Self { _held: Held { _dropped: Some(Box::new(held)) }, ..self }
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// When the connection fails, and beyond a limit.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = std::future::poll_fn(|context| Pin::new(&mut *self).poll_frame(context)).await;
            match frame {
                None => return Ok(None),
                Some(Err(error)) => return Err(error),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

impl Body for Streaming {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(Error::Timeout)));
        }
        let Poll::Ready(next) = Pin::new(&mut self.opened.body).poll_frame(context) else {
            ready!(self.pause.as_mut().poll(context));
            return Poll::Ready(Some(Err(Error::Timeout)));
        };
        let Some(frame) = next else { return Poll::Ready(None) };
        let frame = frame.map_err(|error| Error::Other(error.to_string()))?;
        let size = frame.data_ref().map_or(0, |data| data.len() as u64);
        if size > self.left {
            return Poll::Ready(Some(Err(Error::TooLarge(self.limit.saturating_add(size - self.left)))));
        }
        self.left -= size;
        let patience = self.patience;
        self.pause.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.opened.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.opened.body.size_hint()
    }
}

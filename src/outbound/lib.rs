//! The server's only outgoing HTTP client, hardened against server-side request forgery (SSRF).
//!
//! Every outgoing request goes through [`Client::send`]: the host name is resolved once, all its addresses must be
//! public ([`address`]), and the connection goes only to those addresses, which rules out DNS rebinding. Proxies from
//! the environment are ignored; time, headers and body are limited. Redirects are followed only by [`Client::fetch`],
//! each as a separate request. The caller decides which hosts may be contacted, by inspecting the [`Target`].
//!
//! HTTP/1.1 (RFC 9112) over TLS 1.2 or 1.3 with the system's root certificates. Each request has a separate
//! connection, except for [`Client::send_reusing`].

pub mod address;
mod api;
mod connect;
pub mod fetch;
mod idle;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use ipnet::IpNet;
use url::{Host, Url};

pub use api::{ApiAnswer, ApiCall};
use connect::{Connection, Connector, Head};
pub use fetch::{Beyond, Document, Fetch, FetchError, PlainHttp};
pub use hyper::{HeaderMap, Method, StatusCode, header};
use idle::Idle;

/// The maximum size of a response's head, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;

/// How long a connection may take to become free after its response was read completely.
const TO_BE_FREE: Duration = Duration::from_millis(50);

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The URL is rejected: its scheme, a user name, a trailing dot in its host.
    #[error("not an address to fetch from: {0}")]
    Url(String),
    /// The host resolves to an address that is not public.
    #[error("the address is not public")]
    Blocked,
    /// The host name cannot be resolved.
    #[error("cannot look up the name: {0}")]
    Dns(String),
    /// The time limit was exceeded.
    #[error("timed out")]
    Timeout,
    /// The body exceeds the limit; contains its declared size, or the number of bytes received.
    #[error("larger than allowed: {0} bytes")]
    TooLarge(u64),
    /// The TLS handshake failed, for example because the certificate is not valid for the host.
    #[error("TLS: {0}")]
    Tls(String),
    /// Any other failure of the connection or the protocol.
    #[error("{0}")]
    Other(String),
}

/// The destination of a request: a parsed and validated URL, whose parts can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`Error::Url`] for anything but `http` and `https`, and for a URL with a user name or a host ending in a dot.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = |why: &str| Err(Error::Url(why.to_owned()));
        let Ok(url) = Url::parse(text) else { return refuse("it cannot be read") };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("the scheme must be http or https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it must not hold a user name");
        }
        let (Some(host), Some(port)) = (url.host().map(|host| host.to_owned()), url.port_or_known_default()) else {
            return refuse("it has no host");
        };
        if matches!(&host, Host::Domain(name) if name.ends_with('.')) {
            return refuse("the host must not end with a dot");
        }
        Ok(Self { url, host, port })
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// The host in lower case and ASCII, an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    /// The port: explicit, or the default of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The whole URL, without its fragment.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str().split('#').next().unwrap_or_default()
    }

    /// Resolves `reference`, an absolute or relative URL in a document at this URL.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, Error> {
        let url = self.url.join(reference).map_err(|_| Error::Url("it cannot be read".to_owned()))?;
        Self::parse(url.as_str())
    }

    /// The value of the `Host` header: the host, and the port unless it is the default of the scheme.
    #[must_use]
    pub fn authority(&self) -> String {
        match self.url.port() {
            None => self.host(),
            Some(port) => format!("{}:{port}", self.host()),
        }
    }

    /// The request target: path and query.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.url()[self.url[..url::Position::BeforePath].len()..]
    }

    /// True for `https`.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.scheme() == "https"
    }
}

/// A request to send.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub target: Target,
    /// Without `Host` and the headers of the connection.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// For the whole exchange, from the DNS lookup to the last byte.
    pub timeout: Duration,
    /// The maximum size of the response's body, in bytes.
    pub limit: usize,
}

/// A complete response, whatever its status.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Resolves host names.
#[async_trait]
pub trait Resolve: Send + Sync + std::fmt::Debug {
    /// The addresses of `host`.
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>>;
}

/// The system's resolver.
#[derive(Debug)]
struct System;

#[async_trait]
impl Resolve for System {
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// The HTTP client. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    connector: Connector,
    idle: Arc<Idle>,
    resolver: Arc<dyn Resolve>,
    allowed: Arc<[IpNet]>,
}

impl Client {
    /// A client that connects to public addresses, and to addresses in `allowed`.
    #[must_use]
    pub fn new(allowed: &[IpNet]) -> Self {
        Self::with_resolver(allowed, Arc::new(System))
    }

    /// As [`Client::new`], with names resolved by `resolver`.
    #[must_use]
    pub fn with_resolver(allowed: &[IpNet], resolver: Arc<dyn Resolve>) -> Self {
        Self { connector: Connector::default(), idle: Arc::default(), resolver, allowed: allowed.into() }
    }

    /// Sends a request and reads the whole response. The connection is closed at the end, also after an error or when
    /// the future is dropped.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let timeout = request.timeout;
        tokio::time::timeout(timeout, self.exchange(request)).await.unwrap_or(Err(Error::Timeout))
    }

    /// As [`Client::send`], over an idle connection from an earlier request to the same origin if there is one; keeps
    /// its own connection open for a short time. The server may receive the request twice, if it closes a connection
    /// while the request arrives.
    pub async fn send_reusing(&self, request: Request) -> Result<Response, Error> {
        let timeout = request.timeout;
        tokio::time::timeout(timeout, self.exchange_reusing(request)).await.unwrap_or(Err(Error::Timeout))
    }

    async fn exchange(&self, request: Request) -> Result<Response, Error> {
        let mut opened = self.open(&request).await?;
        opened.complete(&request).await
    }

    async fn exchange_reusing(&self, request: Request) -> Result<Response, Error> {
        let mut opened = self.open_waiting(&request).await?;
        let response = opened.complete(&request).await?;
        let mut connection = opened.connection;
        if connection.is_free_within(TO_BE_FREE).await {
            self.idle.put(&request.target, connection);
        }
        Ok(response)
    }

    /// Sends a request and reads the head of the response.
    async fn open(&self, request: &Request) -> Result<Opened, Error> {
        let addresses = self.addresses(&request.target).await?;
        let connection = self.connector.connect(&request.target, &addresses).await?;
        Opened::over(connection, request).await
    }

    /// As [`Client::open`], over an idle connection if there is one. The server may just have closed an idle
    /// connection: then the next one is tried, and finally a new one.
    async fn open_waiting(&self, request: &Request) -> Result<Opened, Error> {
        while let Some(connection) = self.idle.take(&request.target) {
            if let Ok(opened) = Opened::over(connection, request).await {
                return Ok(opened);
            }
        }
        self.open(request).await
    }

    /// The addresses to connect to. A single forbidden address blocks the host: private addresses among public ones
    /// are a sign of an attack.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Error> {
        let found = match &target.host {
            Host::Ipv4(address) => vec![SocketAddr::new((*address).into(), target.port)],
            Host::Ipv6(address) => vec![SocketAddr::new((*address).into(), target.port)],
            Host::Domain(name) => {
                let found = self.resolver.resolve(name, target.port).await;
                found.map_err(|error| Error::Dns(error.to_string()))?
            }
        };
        if found.is_empty() {
            return Err(Error::Dns("it has no address".to_owned()));
        }
        let fits = |found: &SocketAddr| address::is_public(found.ip()) || self.is_allowed(*found);
        if found.iter().all(fits) { Ok(found) } else { Err(Error::Blocked) }
    }

    /// True for an address that the client was allowed in addition to public ones.
    fn is_allowed(&self, found: SocketAddr) -> bool {
        address::is_within(found.ip(), &self.allowed)
    }
}

/// A response whose body has not been read yet.
struct Opened {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    /// Closed when dropped.
    connection: Connection,
}

impl Opened {
    async fn over(mut connection: Connection, request: &Request) -> Result<Self, Error> {
        let (parts, body) = connection.send(head(request)?).await?.into_parts();
        Ok(Self { status: parts.status, headers: parts.headers, body, connection })
    }

    /// The whole response to `request`.
    async fn complete(&mut self, request: &Request) -> Result<Response, Error> {
        if request.method != Method::HEAD {
            self.check_length(request.limit)?;
        }
        let body = self.read(request.limit, Beyond::Refuse).await?;
        Ok(Response { status: self.status, headers: std::mem::take(&mut self.headers), body })
    }

    /// # Errors
    /// [`Error::TooLarge`] when the body is declared to be larger than `limit`.
    fn check_length(&self, limit: usize) -> Result<(), Error> {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        declared(&self.headers).filter(|length| *length > limit).map_or(Ok(()), |length| Err(Error::TooLarge(length)))
    }

    /// The body, up to `limit` bytes.
    async fn read(&mut self, limit: usize, beyond: Beyond) -> Result<Bytes, Error> {
        let mut bytes = Vec::new();
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| Error::Other(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            let room = limit - bytes.len();
            if data.len() > room && beyond == Beyond::Refuse {
                return Err(Error::TooLarge(u64::try_from(bytes.len() + data.len()).unwrap_or(u64::MAX)));
            }
            bytes.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                break;
            }
        }
        Ok(bytes.into())
    }
}

fn head(request: &Request) -> Result<Head, Error> {
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let mut head = hyper::Request::builder()
        .method(request.method.clone())
        .uri(request.target.path_and_query())
        .body(Full::new(request.body.clone()))
        .map_err(|error| other(&error))?;
    *head.headers_mut() = request.headers.clone();
    head.headers_mut().insert("host", request.target.authority().parse().map_err(|error| other(&error))?);
    Ok(head)
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get("content-length")?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests;

//! The one outgoing HTTP client of the server.
//!
//! Whatever reaches out goes through [`Client::send`]: the name is looked up once, every address of it must be of the
//! public internet ([`address`]), and the connection goes to what was looked up and nowhere else. No proxy of the
//! environment is asked, no redirect followed; time, headers and body are bounded. Who may be asked for what is the
//! caller's question, answered by looking at the [`Target`].
//!
//! HTTP/1.1 (RFC 9112), one connection for each request, over TLS 1.2 or 1.3 with the machine's trusted roots.

pub mod address;
mod connect;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use ipnet::IpNet;
use url::{Host, Url};

use connect::Connector;

/// Most bytes of a response's head.
const HEAD_LIMIT: usize = 64 * 1024;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address is none that may be asked: scheme, user name, dot at the end.
    #[error("not an address to fetch from: {0}")]
    Url(String),
    /// The name leads to an address that is not of the public internet.
    #[error("the address is not public")]
    Blocked,
    /// The name leads nowhere.
    #[error("cannot look up the name: {0}")]
    Dns(String),
    /// It took too long.
    #[error("timed out")]
    Timeout,
    /// The body is larger than was allowed; so far as it is known, so large.
    #[error("larger than allowed: {0} bytes")]
    TooLarge(u64),
    /// The other side is not who it should be.
    #[error("TLS: {0}")]
    Tls(String),
    /// Anything else on the way.
    #[error("{0}")]
    Other(String),
}

/// Where a request goes: an address that was understood, and may be compared part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    /// Understands an address.
    ///
    /// # Errors
    /// [`Error::Url`] for anything but `http` and `https`, and for one with a user name or a dot behind the host.
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

    /// The port, whether it is written or not.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The whole address, without a fragment.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str().split('#').next().unwrap_or_default()
    }

    fn is_secure(&self) -> bool {
        self.scheme() == "https"
    }

    /// What stands in the first line of the request.
    fn path(&self) -> &str {
        &self.url()[self.url[..url::Position::BeforePath].len()..]
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Request {
    pub method: Method,
    pub target: Target,
    /// Without `Host` and whatever belongs to the connection.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// For all of it, from looking up the name to the last byte.
    pub timeout: Duration,
    /// Most bytes of the answer's body.
    pub limit: usize,
}

/// What came back, whatever its status.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Looks up names.
#[async_trait]
pub trait Resolve: Send + Sync + std::fmt::Debug {
    /// The addresses of `host`.
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>>;
}

/// The machine's resolver.
#[derive(Debug)]
struct System;

#[async_trait]
impl Resolve for System {
    async fn resolve(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// The client. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    connector: Connector,
    resolver: Arc<dyn Resolve>,
    allowed: Arc<[IpNet]>,
}

impl Client {
    /// A client that reaches the public internet, and `allowed` besides.
    #[must_use]
    pub fn new(allowed: &[IpNet]) -> Self {
        Self::with_resolver(allowed, Arc::new(System))
    }

    /// As [`Client::new`], with names looked up by `resolver`.
    #[must_use]
    pub fn with_resolver(allowed: &[IpNet], resolver: Arc<dyn Resolve>) -> Self {
        Self { connector: Connector::default(), resolver, allowed: allowed.into() }
    }

    /// Sends a request and reads the whole answer. The connection is closed when this ends, however it does.
    ///
    /// # Errors
    /// As [`Error`] says.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let timeout = request.timeout;
        tokio::time::timeout(timeout, self.exchange(request)).await.unwrap_or(Err(Error::Timeout))
    }

    async fn exchange(&self, request: Request) -> Result<Response, Error> {
        let addresses = self.addresses(&request.target).await?;
        let mut connection = self.connector.connect(&request.target, &addresses).await?;
        let response = connection.send(head(&request)?).await?;
        let (parts, mut body) = response.into_parts();
        let limit = u64::try_from(request.limit).unwrap_or(u64::MAX);
        if let Some(length) =
            declared(&parts.headers).filter(|length| *length > limit && request.method != Method::HEAD)
        {
            return Err(Error::TooLarge(length));
        }
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Error::Other(error.to_string()))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > request.limit {
                return Err(Error::TooLarge(u64::try_from(bytes.len() + data.len()).unwrap_or(u64::MAX)));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Response { status: parts.status, headers: parts.headers, body: bytes.into() })
    }

    /// The addresses to connect to. One that may not be reached condemns the name: whoever mixes such among others wants
    /// something.
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
        let fits = |found: &SocketAddr| address::is_public(found.ip()) || address::is_within(found.ip(), &self.allowed);
        if found.iter().all(fits) { Ok(found) } else { Err(Error::Blocked) }
    }
}

fn head(request: &Request) -> Result<hyper::Request<Full<Bytes>>, Error> {
    let host = match (request.target.url.port(), request.target.host()) {
        (None, host) => host,
        (Some(port), host) => format!("{host}:{port}"),
    };
    let other = |error: &dyn std::fmt::Display| Error::Other(error.to_string());
    let mut head = hyper::Request::builder()
        .method(request.method.clone())
        .uri(request.target.path())
        .body(Full::new(request.body.clone()))
        .map_err(|error| other(&error))?;
    *head.headers_mut() = request.headers.clone();
    head.headers_mut().insert("host", host.parse().map_err(|error| other(&error))?);
    Ok(head)
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get("content-length")?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests;

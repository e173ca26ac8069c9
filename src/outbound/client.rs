//! The client: how a request is sent, and its response read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, StatusCode};
use ipnet::IpNet;
use url::Host;

use super::address;
use super::connect::{Connection, Connector, Head};
use super::error::Error;
use super::idle::Idle;
use super::target::Target;

/// How long a connection may take to become free after its response was read completely.
const TO_BE_FREE: Duration = Duration::from_millis(50);

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
    pub(super) async fn open(&self, request: &Request) -> Result<Opened, Error> {
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
    pub(super) async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Error> {
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
    pub(super) fn is_allowed(&self, found: SocketAddr) -> bool {
        address::is_within(found.ip(), &self.allowed)
    }
}

/// A response whose body has not been read yet.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Incoming,
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
    pub(super) fn check_length(&self, limit: usize) -> Result<(), Error> {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        declared(&self.headers).filter(|length| *length > limit).map_or(Ok(()), |length| Err(Error::TooLarge(length)))
    }

    /// The body, up to `limit` bytes.
    pub(super) async fn read(&mut self, limit: usize, beyond: Beyond) -> Result<Bytes, Error> {
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

pub(super) fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get("content-length")?.to_str().ok()?.parse().ok()
}

/// The handling of a document that is larger than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It is an error.
    Refuse,
    /// It is truncated.
    Cut,
}

//! Connections to addresses that have been checked: TCP, then TLS for `https`, then HTTP/1.1.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use url::Host;

use super::error::Error;
use super::target::Target;

/// The maximum size of a response's head, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;

/// Opens connections. The root certificates are loaded for the first connection that needs them.
#[derive(Clone, Debug, Default)]
pub(super) struct Connector {
    tls: Arc<OnceLock<Arc<ClientConfig>>>,
}

/// The type of a request on a connection.
pub(super) type Head = hyper::Request<Full<Bytes>>;

/// A connection, for one request at a time; closed when dropped.
#[derive(Debug)]
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    pub(super) async fn send(&mut self, head: Head) -> Result<hyper::Response<Incoming>, Error> {
        self.sender.send_request(head).await.map_err(other)
    }

    /// Waits until it can take another request; false when it was closed, or did not become free within `time`.
    pub(super) async fn is_free_within(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.sender.ready()).await.is_ok_and(|ready| ready.is_ok())
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }
}

impl Connector {
    /// Connects to the first of `addresses` that accepts the connection, and to no other address.
    pub(super) async fn connect(&self, target: &Target, addresses: &[SocketAddr]) -> Result<Connection, Error> {
        let mut last = Error::Timeout;
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(stream) => return self.speak(target, stream).await,
                Err(error) => last = other(error),
            }
        }
        Err(last)
    }

    async fn speak(&self, target: &Target, stream: TcpStream) -> Result<Connection, Error> {
        // Requests are written in one piece, so Nagle's algorithm would only delay them.
        stream.set_nodelay(true).map_err(other)?;
        if !target.is_secure() {
            return handshake(stream).await;
        }
        let name = match &target.host {
            Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|error| Error::Tls(error.to_string()))?,
            Host::Ipv4(address) => ServerName::IpAddress((*address).into()),
            Host::Ipv6(address) => ServerName::IpAddress((*address).into()),
        };
        let stream = TlsConnector::from(self.tls()?).connect(name, stream).await;
        handshake(stream.map_err(|error| Error::Tls(error.to_string()))?).await
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.tls.get() {
            return Ok(Arc::clone(config));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(crypto::aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(|error| Error::Tls(error.to_string()))?;
        let config = Arc::new(builder.with_root_certificates(roots()).with_no_client_auth());
        Ok(Arc::clone(self.tls.get_or_init(|| config)))
    }
}

/// The system's root certificates, or the roots that browsers trust if the system has none.
fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

async fn handshake<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> Result<Connection, Error> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD_LIMIT);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(other)?;
    let driver = tokio::spawn(async move {
        // The sender of the request receives the error.
        let _ = connection.await;
    });
    Ok(Connection { sender, driver: driver.abort_handle() })
}

fn other(error: impl std::fmt::Display) -> Error {
    Error::Other(error.to_string())
}

//! Why requests fail.

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

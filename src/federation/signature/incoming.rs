//! The parts of an incoming request that signatures are about.

use outbound::{HeaderMap, Method};

use super::refusal::Refusal;

/// Longest header that is read, all its lines together, in bytes.
pub(super) const FIELD_MAX: usize = 8 * 1024;

/// The most components that a signature may cover.
pub(super) const COMPONENTS_MAX: usize = 32;

/// An incoming request, its body complete.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    pub method: &'a Method,
    /// The scheme by which peers reach this server: `https`, also behind a proxy that ends TLS.
    pub scheme: &'a str,
    /// The request target as the peer sent it, without scheme and host.
    pub path_and_query: &'a str,
    /// With `Host`, also for HTTP/2, where the caller sets it to the authority.
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

impl Incoming<'_> {
    /// The value of a header, its lines joined as in RFC 9421, section 2.1.
    ///
    /// # Errors
    /// [`Refusal::TooLong`], and [`Refusal::Malformed`] for a value that is not ASCII.
    pub(super) fn field(&self, name: &str) -> Result<Option<String>, Refusal> {
        let mut joined: Option<String> = None;
        for value in self.headers.get_all(name) {
            let value = value.to_str().map_err(|_| Refusal::malformed_header(name))?.trim();
            let joined = match &mut joined {
                None => joined.insert(value.to_owned()),
                Some(joined) => {
                    joined.push_str(", ");
                    joined.push_str(value);
                    joined
                }
            };
            if joined.len() > FIELD_MAX {
                return Err(Refusal::long_header(name));
            }
        }
        Ok(joined)
    }

    /// As [`Incoming::field`], for a header that must be present.
    ///
    /// # Errors
    /// Also [`Refusal::Missing`].
    pub(super) fn required(&self, name: &str) -> Result<String, Refusal> {
        self.field(name)?.ok_or_else(|| Refusal::missing_header(name))
    }

    /// True for methods without a body, whose signature must cover the host instead of a digest.
    pub(super) fn is_read(&self) -> bool {
        *self.method == Method::GET || *self.method == Method::HEAD
    }

    pub(super) fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    /// The query without its question mark, if there is one.
    pub(super) fn query(&self) -> Option<&str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }
}

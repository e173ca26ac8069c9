//! The ids of requests.

use crypto::RandomIds;

/// The id of a request: in its log lines, the header of its response and the body of a 5xx.
#[derive(Clone, Copy, Debug)]
pub struct RequestId([u8; 16]);

impl RequestId {
    /// Draws a random, unique id.
    #[must_use]
    pub fn draw(ids: &RandomIds) -> Self {
        Self(ids.draw())
    }

    /// The 16 characters of base64url.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

//! The HTTP request of a push: an encrypted message and the server's signature (docs/contract/push.md#5-message).

use std::time::Duration;

use bytes::Bytes;
use chrono::TimeDelta;
use outbound::header::{self, HeaderName, HeaderValue};
use outbound::{HeaderMap, Method, Request, Target};

use context::Cx;
use context::error::{Error, Result};
use crypto::push::{Receiver, Vapid};

/// How long a push service keeps a message for an offline receiver.
pub(super) const TTL: TimeDelta = TimeDelta::hours(48);
/// How long a signature is valid.
const SIGNED_FOR: TimeDelta = TimeDelta::hours(24);
/// Time limit of a request to a push service.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of a response, which is ignored.
const LIMIT: usize = 64 * 1024;

/// The request that delivers `message` to `receiver` at `target`.
pub(super) fn build(
    cx: &Cx,
    vapid: &Vapid,
    target: Target,
    receiver: &Receiver,
    standard: bool,
    message: &[u8],
) -> Result<Request> {
    let expires = (cx.clock.now() + SIGNED_FOR).timestamp();
    let token = vapid.sign(&audience(&target), expires, &contact(cx))?;
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, value: String| {
        headers.insert(name, HeaderValue::try_from(value).map_err(Error::internal)?);
        Ok::<(), Error>(())
    };
    let body = if standard {
        set(header::CONTENT_ENCODING, "aes128gcm".to_owned())?;
        set(header::AUTHORIZATION, format!("vapid t={token}, k={}", vapid.public_key()))?;
        receiver.aes128gcm(message)?
    } else {
        let sent = receiver.aesgcm(message)?;
        set(header::CONTENT_ENCODING, "aesgcm".to_owned())?;
        set(HeaderName::from_static("encryption"), format!("salt={}", sent.salt))?;
        let keys = format!("dh={};p256ecdsa={}", sent.sender, vapid.public_key());
        set(HeaderName::from_static("crypto-key"), keys)?;
        set(header::AUTHORIZATION, format!("WebPush {token}"))?;
        sent.body
    };
    set(header::CONTENT_TYPE, "application/octet-stream".to_owned())?;
    set(HeaderName::from_static("ttl"), TTL.num_seconds().to_string())?;
    set(HeaderName::from_static("urgency"), "normal".to_owned())?;
    set(header::USER_AGENT, format!("Rookery/{} (+{}/)", env!("CARGO_PKG_VERSION"), cx.urls.origin))?;
    set(header::CONTENT_LENGTH, body.len().to_string())?;
    Ok(Request { method: Method::POST, target, headers, body: Bytes::from(body), timeout: TIMEOUT, limit: LIMIT })
}

/// The audience of the signature: the origin of the push service.
fn audience(target: &Target) -> String {
    let usual = if target.scheme() == "https" { 443 } else { 80 };
    match target.port() {
        port if port == usual => format!("{}://{}", target.scheme(), target.host()),
        port => format!("{}://{}:{port}", target.scheme(), target.host()),
    }
}

/// The contact for the push service: the contact of this server, else its front page.
fn contact(cx: &Cx) -> String {
    match cx.settings().contact_email.as_str() {
        "" => cx.urls.path("/"),
        email => format!("mailto:{email}"),
    }
}

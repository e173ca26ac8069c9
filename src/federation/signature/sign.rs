//! Signing outgoing requests, as draft-cavage-http-signatures-12 describes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::rsa::SigningKey;
use model::Time;
use outbound::header::{ACCEPT, HeaderValue};
use outbound::{HeaderMap, Target};

use super::synchronization::HEADER as SYNCHRONIZATION;
use super::{cavage, digest, times};

/// The media types of a document that is fetched.
const DOCUMENTS: &str = "application/activity+json, application/ld+json";

/// Why a request cannot be signed: a bug, or a fault of the machine.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error("cannot sign: {0}")]
    Crypto(#[from] crypto::Error),
    /// A value cannot be the value of a header.
    #[error("the value of {0} is not allowed in a header")]
    Header(&'static str),
}

/// The key of an account, and its id, by which peers find the public key.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    pub key: &'a SigningKey,
    pub key_id: &'a str,
}

/// The parts of a `POST` that are signed.
#[derive(Clone, Copy, Debug)]
pub struct Post<'a> {
    pub content_type: &'a str,
    pub body: &'a [u8],
    /// The `Collection-Synchronization` header, if there is one.
    pub synchronization: Option<&'a str>,
}

impl Signer<'_> {
    /// The headers of a `GET`: `Accept`, `Date` and `Signature`. `Host` is set by [`outbound`]. `Accept` is not signed:
    /// proxies before a server rewrite it.
    ///
    /// # Errors
    /// When the key id is not a URL, or the computation fails.
    pub fn get(&self, target: &Target, date: Time) -> Result<HeaderMap, SignError> {
        let date = times::to_http_date(date);
        let mut headers = self.headers("get", target, &[("date", &date)])?;
        headers.insert(ACCEPT, HeaderValue::from_static(DOCUMENTS));
        Ok(headers)
    }

    /// The headers of a `POST`: `Content-Type`, `Date`, `Digest`, `Signature`, and `Collection-Synchronization` if
    /// there is one. `Host` is set by [`outbound`].
    ///
    /// # Errors
    /// As [`Signer::get`].
    pub fn post(&self, target: &Target, date: Time, post: Post<'_>) -> Result<HeaderMap, SignError> {
        let (date, digest) = (times::to_http_date(date), digest::of(post.body));
        let mut headers = vec![("date", date.as_str()), ("digest", &digest), ("content-type", post.content_type)];
        headers.extend(post.synchronization.map(|value| (SYNCHRONIZATION, value)));
        self.headers("post", target, &headers)
    }

    /// `headers` with a signature of them, the request target and the host.
    fn headers(&self, method: &str, target: &Target, headers: &[(&'static str, &str)]) -> Result<HeaderMap, SignError> {
        let (request_target, host) = (format!("{method} {}", target.path_and_query()), target.authority());
        let mut lines = vec![("(request-target)", request_target.as_str()), ("host", &host)];
        lines.extend_from_slice(headers);

        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().map_err(|_| SignError::Header(name))?);
        }
        let signature = self.signature(&lines)?;
        map.insert("signature", signature.parse().map_err(|_| SignError::Header("signature"))?);
        Ok(map)
    }

    /// The `Signature` header for these components.
    fn signature(&self, lines: &[(&str, &str)]) -> Result<String, SignError> {
        let key_id = self.key_id;
        if !key_id.bytes().all(|c| c.is_ascii_graphic() && !matches!(c, b'"' | b'\\')) {
            return Err(SignError::Header("keyId"));
        }
        let names: Vec<_> = lines.iter().map(|(name, _)| *name).collect();
        let names = names.join(" ");
        let message = cavage::signing_string(lines.iter().copied());
        let signature = STANDARD.encode(self.key.sign(message.as_bytes())?);
        Ok(format!(r#"keyId="{key_id}",algorithm="rsa-sha256",headers="{names}",signature="{signature}""#))
    }
}

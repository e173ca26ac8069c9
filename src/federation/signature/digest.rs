//! The digest of a body: `Digest` (draft-cavage, RFC 3230) and `Content-Digest` (RFC 9530).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fields::{self, Member, Value};
use super::incoming::Incoming;
use super::refusal::Refusal;

/// The value of a `Digest` header.
pub(super) fn of(body: &[u8]) -> String {
    format!("SHA-256={}", STANDARD.encode(crypto::digest_sha256(body)))
}

/// Checks the `Digest` header: it must contain a SHA-256, and other algorithms are ignored.
///
/// # Errors
/// [`Refusal::Digest`] when it differs from the digest of the body.
pub(super) fn check_digest(request: &Incoming<'_>) -> Result<(), Refusal> {
    let field = request.required("digest")?;
    let entries = field.split(',').filter_map(|entry| entry.trim().split_once('='));
    let mut sha256 = entries.filter(|(name, _)| name.eq_ignore_ascii_case("sha-256")).map(|(_, value)| value);
    let value = sha256.next().ok_or_else(|| Refusal::missing_parameter("SHA-256"))?;
    if sha256.next().is_some() {
        return Err(Refusal::duplicate("SHA-256"));
    }
    let value = fields::base64(value).ok_or_else(|| Refusal::malformed_header("digest"))?;
    if value == crypto::digest_sha256(request.body) { Ok(()) } else { Err(Refusal::Digest) }
}

/// Checks the `Content-Digest` header: it must contain a SHA-256 or SHA-512, or both, and others are ignored.
///
/// # Errors
/// [`Refusal::Digest`] when one differs from the digest of the body.
pub(super) fn check_content_digest(request: &Incoming<'_>) -> Result<(), Refusal> {
    let field = request.required("content-digest")?;
    let malformed = || Refusal::malformed_header("content-digest");
    let mut known = 0;
    for (name, member) in fields::dictionary(&field).ok_or_else(malformed)? {
        let expected: &[u8] = match name.as_str() {
            "sha-256" => &crypto::digest_sha256(request.body),
            "sha-512" => &crypto::digest_sha512(request.body),
            _ => continue,
        };
        let Member::Item(item) = member else { return Err(malformed()) };
        let Value::Bytes(value) = item.value else { return Err(malformed()) };
        if value != expected {
            return Err(Refusal::Digest);
        }
        known += 1;
    }
    if known == 0 { Err(Refusal::missing_parameter("sha-256")) } else { Ok(()) }
}

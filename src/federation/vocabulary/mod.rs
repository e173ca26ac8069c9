//! The documents of ActivityPub that are read: one type for each kind, as tolerant as the software out there requires.
//!
//! A document is parsed in its compact form: the terms of the contexts that servers use are known, and no context is
//! ever fetched. A member of an unexpected shape counts as absent ([`Lenient`]), where one value is expected several are
//! accepted and the other way round ([`Many`]), and an object may be its id ([`Reference`]). Depth and number of values
//! are bounded before anything is parsed. Whether a document is believed is decided elsewhere.
//!
//! Spec: <https://www.w3.org/TR/activitystreams-vocabulary/>; docs/contract/federation.md#3-documents-sent.

mod activity;
mod actor;
mod collection;
mod consent;
mod lenient;
mod node_info;
mod note;
mod tag;
mod webfinger;

pub use activity::{Activity, Object};
pub use actor::{Actor, KeyDocument, Multikey, PublicKey};
pub use collection::Collection;
pub use consent::{Authorization, Policy, SubPolicy};
pub use lenient::{Id, Lenient, Many, Reference};
pub use node_info::{NodeInfo, NodeInfoLinks};
pub use note::{Address, Attachment, Choice, Closed, Link, Note, Place};
pub use tag::{Image, Tag};
pub use webfinger::{HostMeta, Jrd};

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The context of every ActivityStreams document.
const ACTIVITY_STREAMS: &str = "https://www.w3.org/ns/activitystreams";
/// The collection that means everyone, in the forms in which it is written.
const PUBLIC: [&str; 3] = ["https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"];

/// Why a text is not a document.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is nested too deep, or has too many values.
    #[error("the document {0}")]
    TooComplex(text::json_shape::TooComplex),
    /// It is not JSON, or lacks a member.
    #[error("the document cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Its `@context` does not name ActivityStreams.
    #[error("the document is not ActivityStreams")]
    Context,
}

/// Parses a document.
///
/// # Errors
/// [`Malformed`].
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(rename = "@context", default)]
        context: Many<String>,
    }
    text::json_shape::check(body).map_err(Malformed::TooComplex)?;
    let body = without_nul(body);
    let Envelope { context } = serde_json::from_slice(&body)?;
    if !context.iter().any(|context| context == ACTIVITY_STREAMS) {
        return Err(Malformed::Context);
    }
    Ok(serde_json::from_slice(&body)?)
}

/// Parses JSON that has no `@context`, with the same bounds.
///
/// # Errors
/// [`Malformed`].
pub fn parse_plain<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    text::json_shape::check(body).map_err(Malformed::TooComplex)?;
    Ok(serde_json::from_slice(&without_nul(body))?)
}

/// The JSON text `body` without the NUL characters in its strings, which PostgreSQL cannot store. JSON allows them only
/// as escapes.
fn without_nul(body: &[u8]) -> Cow<'_, [u8]> {
    const NUL: &[u8] = b"\\u0000";
    if !body.windows(NUL.len()).any(|bytes| bytes == NUL) {
        return Cow::Borrowed(body);
    }
    let (mut kept, mut rest) = (Vec::with_capacity(body.len()), body);
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let (before, escape) = rest.split_at(at);
        kept.extend_from_slice(before);
        rest = escape.strip_prefix(NUL).unwrap_or_else(|| {
            // An escaped backslash begins no escape.
            let (other, after) = escape.split_at(escape.len().min(2));
            kept.extend_from_slice(other);
            after
        });
    }
    kept.extend_from_slice(rest);
    Cow::Owned(kept)
}

/// True for the collection that means everyone.
#[must_use]
pub fn is_public(id: &str) -> bool {
    PUBLIC.contains(&id)
}

#[cfg(test)]
mod tests;

//! The form of an answer: its bytes, how long it may be kept, and the requested part of a collection.

use std::sync::Arc;

use context::json::Fragment;
use entity::activity::CONTEXT;

/// The requested part of a collection: parameters of the query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// `page`: a page rather than the collection; its value is only for the reader.
    pub page: Option<String>,
    pub min_id: Option<i64>,
    pub max_id: Option<i64>,
    /// Replies of others than the author.
    pub only_other_accounts: bool,
}

/// How long others may keep an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Nobody,
    Minutes(u32),
}

/// A document as it is answered.
#[derive(Clone, Debug)]
pub struct Served {
    pub body: Arc<str>,
    pub keep: Keep,
    /// Another signature, or none, gets another answer.
    pub varies_by_signature: bool,
}

impl Served {
    /// A document that may be kept for as many `minutes`.
    pub(super) fn new(body: impl Into<Arc<str>>, minutes: u32) -> Self {
        Self { body: body.into(), keep: Keep::Minutes(minutes), varies_by_signature: false }
    }
}

/// `document`, a JSON object, with `@context`.
pub(crate) fn with_context(document: &Fragment) -> String {
    let members = document.as_str().strip_prefix('{').unwrap_or_default();
    format!("{{\"@context\":{CONTEXT},{members}")
}

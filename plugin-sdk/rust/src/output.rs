//! The response of a route.

use serde::Serialize;
use serde_json::{Value, json};

use crate::Result;
use crate::contract::routes::{Cursor, Output as Body, Response};

/// A response: body, HTTP status, headers, and the cursor of the neighbouring pages.
///
/// Statuses and accounts are given by their ids: the server checks that the caller may see them, and renders them as it
/// does for its own routes.
#[derive(Clone, Debug)]
pub struct Output(Response);

impl Output {
    fn of(output: Body) -> Self {
        Self(Response { status: 200, headers: Vec::new(), output, cursor: None })
    }

    /// `{}`. Never fails; returns a `Result` so that it can be the last expression of a handler, as its siblings do.
    pub fn empty() -> Result<Self> {
        Ok(Self::of(Body::Empty))
    }

    /// Any value, serialised as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        Ok(Self::of(Body::Json(serde_json::to_string(value)?)))
    }

    /// JSON with placeholders ([`status_hole`], [`account_hole`], [`credentials_hole`], [`list_hole`], [`url_hole`]) that the
    /// server replaces.
    pub fn template<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        Ok(Self::of(Body::Template(serde_json::to_string(value)?)))
    }

    /// One status; 404 when the caller may not see it.
    pub fn status(id: impl Into<i64>) -> Result<Self> {
        Ok(Self::of(Body::Status(id.into())))
    }

    /// One account.
    pub fn account(id: impl Into<i64>) -> Result<Self> {
        Ok(Self::of(Body::Account(id.into())))
    }

    /// Statuses in this order, without statuses that the caller may not see.
    pub fn statuses<I: Into<i64>>(ids: impl IntoIterator<Item = I>) -> Result<Self> {
        Ok(Self::of(Body::Statuses(ids.into_iter().map(Into::into).collect())))
    }

    /// Accounts in this order.
    pub fn accounts<I: Into<i64>>(ids: impl IntoIterator<Item = I>) -> Result<Self> {
        Ok(Self::of(Body::Accounts(ids.into_iter().map(Into::into).collect())))
    }

    /// Raw bytes of a content type that the server allows (`text/plain`, `text/csv`, `image/png` …).
    pub fn bytes(content_type: &str, bytes: Vec<u8>) -> Result<Self> {
        Ok(Self::of(Body::Bytes((content_type.to_owned(), bytes))))
    }

    /// Sets the HTTP status, which is 200 otherwise.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = status;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.0.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds the `Link` header for keyset pagination: `ids` are the ids of this page's records, newest first, `limit` is
    /// the page's. There is a next page only after a full one.
    #[must_use]
    pub fn with_cursor(mut self, ids: &[i64], limit: u16) -> Self {
        let full = ids.len() >= usize::from(limit) && limit > 0;
        self.0.cursor = Some(Cursor { next_max: ids.last().copied().filter(|_| full), prev_min: ids.first().copied() });
        self
    }

    /// Adds the `Link` header with these cursors.
    #[must_use]
    pub fn with_links(mut self, next_max: Option<i64>, prev_min: Option<i64>) -> Self {
        self.0.cursor = Some(Cursor { next_max, prev_min });
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn into_response(self) -> Response {
        self.0
    }
}

impl From<Output> for Response {
    fn from(output: Output) -> Self {
        output.0
    }
}

/// Placeholder of a status in a template. Becomes null where the caller may not see it, and is left out of an array.
#[must_use]
pub fn status_hole(id: impl Into<i64>) -> Value {
    json!({ "$status": id.into().to_string() })
}

/// Placeholder of an account in a template.
#[must_use]
pub fn account_hole(id: impl Into<i64>) -> Value {
    json!({ "$account": id.into().to_string() })
}

/// Placeholder of the caller's own account, with what only they see of it, in a template.
#[must_use]
pub fn credentials_hole(id: impl Into<i64>) -> Value {
    json!({ "$credentials": id.into().to_string() })
}

/// Placeholder of the whole URL of a path of the server, such as `/api/v2/instance`.
#[must_use]
pub fn url_hole(path: &str) -> Value {
    json!({ "$url": path })
}

/// Placeholder of one of the caller's lists in a template.
#[must_use]
pub fn list_hole(id: impl Into<i64>) -> Value {
    json!({ "$list": id.into().to_string() })
}

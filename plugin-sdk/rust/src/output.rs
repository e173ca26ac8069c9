//! What a route answers.

use serde::Serialize;
use serde_json::{Value, json};

use crate::Result;
use crate::contract::routes::{Cursor, Output as Body, Response};

/// An answer: what, with which status, and where the pages beside it begin.
///
/// Statuses and accounts are answered by their ids: the server checks that the caller may see them and renders them as
/// it does for its own routes.
#[derive(Clone, Debug)]
pub struct Output(Response);

impl Output {
    fn of(output: Body) -> Self {
        Self(Response { status: 200, headers: Vec::new(), output, cursor: None })
    }

    /// `{}`
    ///
    /// # Errors
    /// Never; so that it may end a function.
    pub fn empty() -> Result<Self> {
        Ok(Self::of(Body::Empty))
    }

    /// Anything that serialises.
    ///
    /// # Errors
    /// When it does not.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        Ok(Self::of(Body::Json(serde_json::to_string(value)?)))
    }

    /// JSON in which [`status_hole`], [`account_hole`] and [`list_hole`] are filled in by the server.
    ///
    /// # Errors
    /// When it does not serialise.
    pub fn template<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        Ok(Self::of(Body::Template(serde_json::to_string(value)?)))
    }

    /// One status; 404 when the caller may not see it.
    ///
    /// # Errors
    /// Never.
    pub fn status(id: impl Into<i64>) -> Result<Self> {
        Ok(Self::of(Body::Status(id.into())))
    }

    /// One account.
    ///
    /// # Errors
    /// Never.
    pub fn account(id: impl Into<i64>) -> Result<Self> {
        Ok(Self::of(Body::Account(id.into())))
    }

    /// Statuses, in this order, without those that the caller may not see.
    ///
    /// # Errors
    /// Never.
    pub fn statuses<I: Into<i64>>(ids: impl IntoIterator<Item = I>) -> Result<Self> {
        Ok(Self::of(Body::Statuses(ids.into_iter().map(Into::into).collect())))
    }

    /// Accounts, in this order.
    ///
    /// # Errors
    /// Never.
    pub fn accounts<I: Into<i64>>(ids: impl IntoIterator<Item = I>) -> Result<Self> {
        Ok(Self::of(Body::Accounts(ids.into_iter().map(Into::into).collect())))
    }

    /// Bytes of a content type that the server allows (`text/plain`, `text/csv`, `image/png` …).
    ///
    /// # Errors
    /// Never.
    pub fn bytes(content_type: &str, bytes: Vec<u8>) -> Result<Self> {
        Ok(Self::of(Body::Bytes((content_type.to_owned(), bytes))))
    }

    /// With another status than 200.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = status;
        self
    }

    /// With a header more.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.0.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With links to the pages beside this one: `ids` are those of the paging records, newest first, `limit` the page's.
    /// There is a next page only after a full one.
    #[must_use]
    pub fn with_cursor(mut self, ids: &[i64], limit: u16) -> Self {
        let full = ids.len() >= usize::from(limit) && limit > 0;
        self.0.cursor = Some(Cursor { next_max: ids.last().copied().filter(|_| full), prev_min: ids.first().copied() });
        self
    }

    /// With links as said.
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

/// Where a status goes in a template: null where the caller may not see it, left out of an array.
#[must_use]
pub fn status_hole(id: impl Into<i64>) -> Value {
    json!({ "$status": id.into().to_string() })
}

/// Where an account goes in a template.
#[must_use]
pub fn account_hole(id: impl Into<i64>) -> Value {
    json!({ "$account": id.into().to_string() })
}

/// Where a list of the caller's goes in a template.
#[must_use]
pub fn list_hole(id: impl Into<i64>) -> Value {
    json!({ "$list": id.into().to_string() })
}

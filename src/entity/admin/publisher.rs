//! Publishers of links, as staff reviews them.

use serde::{Serialize, Serializer};

use context::error::Result;
use context::json::Fragment;
use model::{RowId, Time};

/// A publisher; its id is a JSON integer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Publisher<'a> {
    #[serde(serialize_with = "integer")]
    pub id: RowId,
    pub domain: &'a str,
    pub trendable: Option<bool>,
    pub reviewed_at: Option<String>,
    pub requested_review_at: Option<String>,
    pub requires_review: bool,
}

/// An id as a JSON integer (docs/contract/extensions.md#13-admin-api).
fn integer<S: Serializer>(id: &RowId, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_i64((*id).into())
}

impl<'a> From<&'a store::publisher::Publisher> for Publisher<'a> {
    fn from(publisher: &'a store::publisher::Publisher) -> Self {
        Self {
            id: publisher.id,
            domain: &publisher.domain,
            trendable: publisher.trendable,
            reviewed_at: publisher.reviewed_at.map(Time::to_api),
            requested_review_at: publisher.requested_review_at.map(Time::to_api),
            requires_review: publisher.reviewed_at.is_none(),
        }
    }
}

/// Renders publishers, in the order given.
///
/// # Errors
/// When one cannot be serialised, which is a bug.
pub fn render(publishers: &[store::publisher::Publisher]) -> Result<Vec<Fragment>> {
    publishers.iter().map(render_one).collect()
}

/// Renders one publisher, see [`render`].
///
/// # Errors
/// As [`render`].
pub fn render_one(publisher: &store::publisher::Publisher) -> Result<Fragment> {
    Fragment::of(&Publisher::from(publisher))
}

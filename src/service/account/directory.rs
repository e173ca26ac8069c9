//! The directory of profiles: who wants to be found.
//!
//! Reached from `GET /api/v1/directory`. Accounts appear in it by their own wish (`discoverable`); moderators' limits and the
//! viewer's blocks and mutes keep them out.
//!
//! Spec: docs/contract/rules.md#23-discovery; <https://docs.joinmastodon.org/methods/directory/>

pub use store::directory::{DirectoryPage, Order};

use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor};

/// The deepest offset that is served, so that no request walks through everyone.
const OFFSET_MAX: i64 = 10_000;

/// The accounts of a page, with their versions; none beyond the deepest offset.
///
/// # Errors
/// [`Error::NotFound`] when the directory is off.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: Option<&Actor>, page: DirectoryPage) -> Result<Vec<(AccountId, i64)>> {
    if !cx.settings().profile_directory {
        return Err(Error::NotFound);
    }
    if page.offset > OFFSET_MAX || page.limit == 0 {
        return Ok(Vec::new());
    }
    Ok(store::directory::page(&cx.db, viewer.map(|actor| actor.id), page, cx.clock.now()).await?)
}

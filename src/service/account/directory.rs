//! The directory of profiles: accounts that want to be found.
//!
//! Reached from `GET /api/v1/directory`. Accounts opt in (`discoverable`); moderators' limits and the viewer's blocks
//! and mutes exclude them.
//!
//! Spec: docs/contract/rules.md#23-discovery; <https://docs.joinmastodon.org/methods/directory/>

pub use store::directory::{DirectoryPage, Order};

use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor};

/// The largest offset that is served, so that no request scans all accounts.
const OFFSET_MAX: i64 = 10_000;

/// The accounts of a page, with their versions; none beyond the largest offset.
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

//! Statuses by their URIs, as far as they are known here.

use context::Cx;
use model::StatusId;

use crate::Failure;

/// The status `uri`, of this server or another, if it is known here.
pub(crate) async fn known(cx: &Cx, uri: &str) -> Result<Option<StatusId>, Failure> {
    match service::public::local_status(cx, uri).await? {
        Some(status) => Ok(Some(status)),
        None => Ok(store::status::find_by_uri(&cx.db, uri).await?),
    }
}

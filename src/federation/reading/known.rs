//! Statuses by their URIs, as far as they are known here.

use context::Cx;
use model::StatusId;

use crate::Failure;
use crate::address::host_of;

/// The status `uri`, of this server or another, if it is known here.
pub(crate) async fn known(cx: &Cx, uri: &str) -> Result<Option<StatusId>, Failure> {
    match service::public::local_status(cx, uri).await? {
        Some(status) => Ok(Some(status)),
        None => Ok(store::status::find_by_uri(&cx.db, uri).await?),
    }
}

/// True for the address of something on another server.
pub(super) fn is_foreign(cx: &Cx, uri: &str) -> bool {
    host_of(uri).is_some_and(|host| !cx.config.is_local_domain(&host))
}

//! The admin API: what the staff does.

use crate::api::admin::{audit_log, ip_blocks};
use crate::operation::methods::get;
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/admin/audit_log", API, get(audit_log::index))
        .route("/api/v1/admin/ip_blocks", API, get(ip_blocks::index).post(ip_blocks::create))
        .route(
            "/api/v1/admin/ip_blocks/{id}",
            API,
            get(ip_blocks::show).put(ip_blocks::update).patch(ip_blocks::update).delete(ip_blocks::delete),
        )

}

//! The admin API: what the staff does.

use crate::api::admin::audit_log;
use crate::operation::methods::get;
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().route("/api/v1/admin/audit_log", API, get(audit_log::index))
}

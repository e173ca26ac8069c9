//! The admin API: what the staff does.

use crate::api::admin::{accounts, audit_log};
use crate::operation::methods::{get, post};
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/admin/accounts", API, get(accounts::index))
        .route("/api/v2/admin/accounts", API, get(accounts::index_v2))
        .route("/api/v1/admin/accounts/{id}", API, get(accounts::show).delete(accounts::delete))
        .route("/api/v1/admin/accounts/{id}/approve", API, post(accounts::approve))
        .route("/api/v1/admin/accounts/{id}/reject", API, post(accounts::reject))
        .route("/api/v1/admin/accounts/{id}/enable", API, post(accounts::enable))
        .route("/api/v1/admin/accounts/{id}/unsilence", API, post(accounts::unsilence))
        .route("/api/v1/admin/accounts/{id}/unsensitive", API, post(accounts::unsensitive))
        .route("/api/v1/admin/accounts/{id}/unsuspend", API, post(accounts::unsuspend))
        .route("/api/v1/admin/accounts/{id}/action", API, post(accounts::act))
        .route("/api/v1/admin/audit_log", API, get(audit_log::index))
}

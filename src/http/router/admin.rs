//! The admin API: what the staff does.

use crate::api::admin::{audit_log, metrics, tags, trends};
use crate::operation::methods::{get, post};
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/admin/audit_log", API, get(audit_log::index))
        .route("/api/v1/admin/trends/tags", API, get(trends::tags))
        .route("/api/v1/admin/trends/tags/{id}/approve", API, post(trends::approve_tag))
        .route("/api/v1/admin/trends/tags/{id}/reject", API, post(trends::reject_tag))
        .route("/api/v1/admin/trends/links", API, get(trends::links))
        .route("/api/v1/admin/trends/links/{id}/approve", API, post(trends::approve_link))
        .route("/api/v1/admin/trends/links/{id}/reject", API, post(trends::reject_link))
        .route("/api/v1/admin/trends/links/publishers", API, get(trends::publishers_index))
        .route("/api/v1/admin/trends/links/publishers/{id}/approve", API, post(trends::approve_publisher))
        .route("/api/v1/admin/trends/links/publishers/{id}/reject", API, post(trends::reject_publisher))
        .route("/api/v1/admin/trends/statuses", API, get(trends::statuses))
        .route("/api/v1/admin/trends/statuses/{id}/approve", API, post(trends::approve_status))
        .route("/api/v1/admin/trends/statuses/{id}/reject", API, post(trends::reject_status))
        .route("/api/v1/admin/measures", API, post(metrics::measures))
        .route("/api/v1/admin/dimensions", API, post(metrics::dimensions))
        .route("/api/v1/admin/retention", API, post(metrics::retention))
        .route("/api/v1/admin/tags", API, get(tags::index))
        .route("/api/v1/admin/tags/{id}", API, get(tags::show).put(tags::update).patch(tags::update))
}

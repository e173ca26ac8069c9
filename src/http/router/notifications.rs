//! Notifications, pushes, conversations, announcements, and markers of the reading position.

use crate::api::{
    announcements, conversations, markers, notification_groups, notification_policies, notification_requests,
    notifications, push,
};
use crate::operation::methods::{delete, get, post, put};
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/notifications", API, get(notifications::index))
        .route("/api/v1/notifications/unread_count", API, get(notifications::unread_count))
        .route("/api/v1/notifications/clear", API, post(notifications::clear))
        .route("/api/v1/notifications/{id}", API, get(notifications::show))
        .route("/api/v1/notifications/{id}/dismiss", API, post(notifications::dismiss))
        .route(
            "/api/v1/notifications/policy",
            API,
            get(notification_policies::show_v1)
                .put(notification_policies::update_v1)
                .patch(notification_policies::update_v1),
        )
        .route(
            "/api/v2/notifications/policy",
            API,
            get(notification_policies::show).put(notification_policies::update).patch(notification_policies::update),
        )
        .route("/api/v1/notifications/requests", API, get(notification_requests::index))
        .route("/api/v1/notifications/requests/merged", API, get(notification_requests::merged))
        .route("/api/v1/notifications/requests/accept", API, post(notification_requests::accept_all))
        .route("/api/v1/notifications/requests/dismiss", API, post(notification_requests::dismiss_all))
        .route("/api/v1/notifications/requests/{id}", API, get(notification_requests::show))
        .route("/api/v1/notifications/requests/{id}/accept", API, post(notification_requests::accept))
        .route("/api/v1/notifications/requests/{id}/dismiss", API, post(notification_requests::dismiss))
        .route("/api/v2/notifications", API, get(notification_groups::index))
        .route("/api/v2/notifications/unread_count", API, get(notification_groups::unread_count))
        .route("/api/v2/notifications/clear", API, post(notifications::clear))
        .route("/api/v2/notifications/{group_key}", API, get(notification_groups::show))
        .route("/api/v2/notifications/{group_key}/accounts", API, get(notification_groups::accounts))
        .route("/api/v2/notifications/{group_key}/dismiss", API, post(notification_groups::dismiss))
        .route("/api/v1/conversations", API, get(conversations::index))
        .route("/api/v1/conversations/{id}", API, delete(conversations::delete))
        .route("/api/v1/conversations/{id}/read", API, post(conversations::read))
        .route("/api/v1/conversations/{id}/unread", API, post(conversations::unread))
        .route("/api/v1/announcements", API, get(announcements::index))
        .route("/api/v1/announcements/{id}/dismiss", API, post(announcements::dismiss))
        .route(
            "/api/v1/announcements/{id}/reactions/{name}",
            API,
            put(announcements::react).patch(announcements::react).delete(announcements::unreact),
        )
        .route(
            "/api/v1/push/subscription",
            API,
            get(push::show).post(push::create).put(push::update).patch(push::update).delete(push::destroy),
        )
        .route("/api/v1/markers", API, get(markers::index).post(markers::create))
}

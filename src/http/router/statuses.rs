//! Statuses, polls, media and scheduled statuses.

use crate::api::{
    interaction_policies, interaction_requests, media, polls, scheduled_statuses, status_actions, statuses, threads,
    translations,
};
use crate::operation::methods::{get, post, put};
use crate::policy::{API, Files, Per, Policy, SHARED, WriteMethod};
use crate::table::Routes;
use service::rate_limits as limits;

/// One status: read, edited, deleted.
const STATUS: Policy =
    SHARED.files(Files::Images).limit(Some(WriteMethod::Delete), &limits::DELETE_STATUS, Per::Person);
/// Deleting a reblog counts as deleting a status.
const UNREBLOG: Policy = API.limit(Some(WriteMethod::Post), &limits::DELETE_STATUS, Per::Person);
const UPLOAD: Policy = API.limit(Some(WriteMethod::Post), &limits::MEDIA, Per::Person).files(Files::Videos);

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v2/media", UPLOAD, post(media::create))
        .route("/api/v1/media", UPLOAD, post(media::create_at_once))
        .route(
            "/api/v1/media/{id}",
            API.files(Files::Images),
            get(media::show).put(media::update).patch(media::update).delete(media::delete),
        )
        .route("/api/v1/statuses", API, get(statuses::index).post(statuses::create))
        .route(
            "/api/v1/statuses/{id}",
            STATUS,
            get(statuses::show).put(statuses::update).patch(statuses::update).delete(statuses::delete),
        )
        .route("/api/v1/statuses/{id}/context", SHARED, get(threads::context))
        .route("/api/v1_alpha/async_refreshes/{id}", API, get(threads::show))
        .route("/api/v1/statuses/{id}/history", SHARED, get(statuses::history))
        .route("/api/v1/statuses/{id}/source", API, get(statuses::source))
        .route("/api/v1/statuses/{id}/reblogged_by", SHARED, get(status_actions::reblogged_by))
        .route("/api/v1/statuses/{id}/favourited_by", SHARED, get(status_actions::favourited_by))
        .route("/api/v1/statuses/{id}/referred_by", SHARED, get(statuses::referred_by))
        .route("/api/v1/statuses/{id}/quotes", API, get(statuses::quotes))
        .route("/api/v1/statuses/{id}/quotes/{quoting_id}/revoke", API, post(statuses::revoke_quote))
        .route(
            "/api/v1/statuses/{id}/interaction_policy",
            API,
            put(interaction_policies::update).patch(interaction_policies::update),
        )
        .route("/api/v1/statuses/{id}/remove_from_thread", API, post(interaction_policies::remove_from_thread))
        .route("/api/v1/statuses/{id}/restore_to_thread", API, post(interaction_policies::restore_to_thread))
        .route("/api/v1/statuses/{id}/close_thread", API, post(interaction_policies::close_thread))
        .route("/api/v1/statuses/{id}/reopen_thread", API, post(interaction_policies::reopen_thread))
        .route("/api/v1/interaction_requests", API, get(interaction_requests::index))
        .route("/api/v1/interaction_requests/{id}", API, get(interaction_requests::show))
        .route("/api/v1/interaction_requests/{id}/authorize", API, post(interaction_requests::authorize))
        .route("/api/v1/interaction_requests/{id}/reject", API, post(interaction_requests::reject))
        .route(
            "/api/v1/interaction_policies/defaults",
            API,
            get(interaction_policies::defaults)
                .patch(interaction_policies::update_defaults)
                .put(interaction_policies::update_defaults),
        )
        .route("/api/v1/statuses/{id}/mentioned_by", SHARED, get(status_actions::mentioned_by))
        .route("/api/v1/statuses/{id}/favourite", API, post(status_actions::favourite))
        .route("/api/v1/statuses/{id}/unfavourite", API, post(status_actions::unfavourite))
        .route("/api/v1/statuses/{id}/reblog", API, post(status_actions::reblog))
        .route("/api/v1/statuses/{id}/unreblog", UNREBLOG, post(status_actions::unreblog))
        .route("/api/v1/statuses/{id}/bookmark", API, post(status_actions::bookmark))
        .route("/api/v1/statuses/{id}/unbookmark", API, post(status_actions::unbookmark))
        .route("/api/v1/statuses/{id}/pin", API, post(status_actions::pin))
        .route("/api/v1/statuses/{id}/unpin", API, post(status_actions::unpin))
        .route("/api/v1/statuses/{id}/mute", API, post(status_actions::mute))
        .route("/api/v1/statuses/{id}/unmute", API, post(status_actions::unmute))
        .route("/api/v1/statuses/{id}/translate", API, post(translations::translate))
        .route("/api/v1/polls/{id}", SHARED, get(polls::show))
        .route("/api/v1/polls/{id}/votes", API, post(polls::vote))
        .route("/api/v1/scheduled_statuses", API, get(scheduled_statuses::index))
        .route(
            "/api/v1/scheduled_statuses/{id}",
            API,
            get(scheduled_statuses::show)
                .put(scheduled_statuses::update)
                .patch(scheduled_statuses::update)
                .delete(scheduled_statuses::delete),
        )
}

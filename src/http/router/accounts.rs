//! Accounts, relationships, the user's own account, and sign-up by an app.

use crate::api::{
    accounts, blocks, credentials, directory, domain_blocks, emails, endorsements, follow_requests, moving, mutes,
    preferences, registrations, relationships, reports, suggestions,
};
use crate::operation::methods::{delete, get, patch, post};
use crate::policy::{API, Closed, Files, Per, Policy, SHARED, WriteMethod};
use crate::table::Routes;
use service::rate_limits as limits;

/// Signing up through an application.
const SIGN_UP: Policy =
    API.closed(Closed::Open(WriteMethod::Post)).limit(Some(WriteMethod::Post), &limits::SIGN_UP, Per::Address);

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/emails/confirmations", API, post(emails::create_confirmation))
        .route("/api/v1/emails/check_confirmation", API, get(emails::check_confirmation))
        .route("/api/v1/reports", API, post(reports::create))
        .route("/api/v1/accounts", SIGN_UP, get(accounts::index).post(registrations::create))
        .route("/api/v1/accounts/verify_credentials", API, get(credentials::show))
        .route("/api/v1/accounts/update_credentials", API.files(Files::Images), patch(credentials::update))
        .route(
            "/api/v1/profile",
            API.files(Files::Images),
            get(credentials::show_profile).put(credentials::update_profile).patch(credentials::update_profile),
        )
        .route("/api/v1/accounts/alias", API, post(moving::aliases))
        .route("/api/v1/accounts/move", API.open_to_moved(), post(moving::create).delete(moving::delete))
        .route("/api/v1/accounts/lookup", SHARED, get(accounts::lookup))
        .route("/api/v1/accounts/search", API, get(accounts::search))
        .route("/api/v1/accounts/relationships", API, get(relationships::index))
        .route("/api/v1/accounts/familiar_followers", API, get(relationships::familiar_followers))
        .route("/api/v1/endorsements", API, get(endorsements::index))
        .route("/api/v1/directory", SHARED, get(directory::index))
        .route("/api/v1/suggestions", API, get(suggestions::index_v1))
        .route("/api/v1/suggestions/{account_id}", API, delete(suggestions::dismiss))
        .route("/api/v2/suggestions", API, get(suggestions::index))
        .route("/api/v1/accounts/{id}", SHARED, get(accounts::show))
        .route("/api/v1/accounts/{id}/followers", SHARED, get(accounts::followers))
        .route("/api/v1/accounts/{id}/following", SHARED, get(accounts::following))
        .route("/api/v1/accounts/{id}/featured_tags", API, get(accounts::featured_tags))
        .route("/api/v1/accounts/{id}/lists", API, get(accounts::lists))
        .route("/api/v1/accounts/{id}/identity_proofs", API, get(accounts::identity_proofs))
        .route("/api/v1/accounts/{id}/follow", API, post(relationships::follow))
        .route("/api/v1/accounts/{id}/unfollow", API, post(relationships::unfollow))
        .route("/api/v1/accounts/{id}/remove_from_followers", API, post(relationships::remove_from_followers))
        .route("/api/v1/accounts/{id}/block", API, post(relationships::block))
        .route("/api/v1/accounts/{id}/unblock", API, post(relationships::unblock))
        .route("/api/v1/accounts/{id}/mute", API, post(relationships::mute))
        .route("/api/v1/accounts/{id}/unmute", API, post(relationships::unmute))
        .route("/api/v1/accounts/{id}/pin", API, post(relationships::pin))
        .route("/api/v1/accounts/{id}/unpin", API, post(relationships::unpin))
        .route("/api/v1/accounts/{id}/endorse", API, post(relationships::pin))
        .route("/api/v1/accounts/{id}/unendorse", API, post(relationships::unpin))
        .route("/api/v1/accounts/{id}/endorsements", SHARED, get(endorsements::of_account))
        .route("/api/v1/accounts/{id}/note", API, post(relationships::note))
        .route("/api/v1/preferences", API, get(preferences::show))
        .route(
            "/api/v1/domain_blocks",
            API,
            get(domain_blocks::index).post(domain_blocks::create).delete(domain_blocks::delete),
        )
        .route("/api/v1/domain_blocks/preview", API, get(domain_blocks::preview))
        .route("/api/v1/blocks", API, get(blocks::index))
        .route("/api/v1/mutes", API, get(mutes::index))
        .route("/api/v1/follow_requests", API, get(follow_requests::index))
        .route("/api/v1/follow_requests/{id}/authorize", API, post(follow_requests::authorize))
        .route("/api/v1/follow_requests/{id}/reject", API, post(follow_requests::reject))
}

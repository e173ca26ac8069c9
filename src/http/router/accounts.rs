//! Accounts: people, what one does about another, what belongs to one's own account, and signing up by an app.

use crate::api::{
    accounts, blocks, credentials, directory, domain_blocks, emails, endorsements, follow_requests, mutes, preferences,
    registrations, relationships, reports, suggestions,
};
use crate::operation::methods::{delete, get, patch, post};
use crate::policy::{API, Change, Closed, Files, Per, Policy, SHARED, deletes};
use crate::table::Routes;
use service::rate_limits as limits;

/// Signing up through an application.
const SIGN_UP: Policy =
    API.closed(Closed::Open(Change::Post)).limit(Some(Change::Post), &limits::SIGN_UP, Per::Address);

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v1/emails/confirmations", API.answers("{}"), post(emails::create_confirmation))
        .route("/api/v1/emails/check_confirmation", API.answers("boolean"), get(emails::check_confirmation))
        .route("/api/v1/reports", API.answers("Report"), post(reports::create))
        .route(
            "/api/v1/accounts",
            SIGN_UP.answers("Account[]").answers_to(Change::Post, "Token"),
            get(accounts::index).post(registrations::create),
        )
        .route("/api/v1/accounts/verify_credentials", API.answers("CredentialAccount"), get(credentials::show))
        .route(
            "/api/v1/accounts/update_credentials",
            API.files(Files::Images).answers("CredentialAccount"),
            patch(credentials::update),
        )
        .route(
            "/api/v1/profile",
            API.files(Files::Images).answers("Profile"),
            get(credentials::show_profile).put(credentials::update_profile).patch(credentials::update_profile),
        )
        .route("/api/v1/accounts/lookup", SHARED.answers("Account"), get(accounts::lookup))
        .route("/api/v1/accounts/search", API.answers("Account[]"), get(accounts::search))
        .route("/api/v1/accounts/relationships", API.answers("Relationship[]"), get(relationships::index))
        .route(
            "/api/v1/accounts/familiar_followers",
            API.answers("FamiliarFollowers[]"),
            get(relationships::familiar_followers),
        )
        .route("/api/v1/endorsements", API.answers("Account[]"), get(endorsements::index))
        .route("/api/v1/directory", SHARED.answers("Account[]"), get(directory::index))
        .route("/api/v1/suggestions", API.answers("Account[]"), get(suggestions::index_v1))
        .route("/api/v1/suggestions/{account_id}", API.answers("{}"), delete(suggestions::dismiss))
        .route("/api/v2/suggestions", API.answers("Suggestion[]"), get(suggestions::index))
        .route("/api/v1/accounts/{id}", SHARED.answers("Account"), get(accounts::show))
        .route("/api/v1/accounts/{id}/followers", SHARED.answers("Account[]"), get(accounts::followers))
        .route("/api/v1/accounts/{id}/following", SHARED.answers("Account[]"), get(accounts::following))
        .route("/api/v1/accounts/{id}/featured_tags", API.answers("FeaturedTag[]"), get(accounts::featured_tags))
        .route("/api/v1/accounts/{id}/lists", API.answers("List[]"), get(accounts::lists))
        .route("/api/v1/accounts/{id}/identity_proofs", API.answers("IdentityProof[]"), get(accounts::identity_proofs))
        .route("/api/v1/accounts/{id}/follow", API.answers("Relationship"), post(relationships::follow))
        .route("/api/v1/accounts/{id}/unfollow", API.answers("Relationship"), post(relationships::unfollow))
        .route(
            "/api/v1/accounts/{id}/remove_from_followers",
            API.answers("Relationship"),
            post(relationships::remove_from_followers),
        )
        .route("/api/v1/accounts/{id}/block", API.answers("Relationship"), post(relationships::block))
        .route("/api/v1/accounts/{id}/unblock", API.answers("Relationship"), post(relationships::unblock))
        .route("/api/v1/accounts/{id}/mute", API.answers("Relationship"), post(relationships::mute))
        .route("/api/v1/accounts/{id}/unmute", API.answers("Relationship"), post(relationships::unmute))
        .route("/api/v1/accounts/{id}/pin", API.answers("Relationship"), post(relationships::pin))
        .route("/api/v1/accounts/{id}/unpin", API.answers("Relationship"), post(relationships::unpin))
        .route("/api/v1/accounts/{id}/endorse", API.answers("Relationship"), post(relationships::pin))
        .route("/api/v1/accounts/{id}/unendorse", API.answers("Relationship"), post(relationships::unpin))
        .route("/api/v1/accounts/{id}/endorsements", SHARED.answers("Account[]"), get(endorsements::of_account))
        .route("/api/v1/accounts/{id}/note", API.answers("Relationship"), post(relationships::note))
        .route("/api/v1/preferences", API.answers("Preferences"), get(preferences::show))
        .route(
            "/api/v1/domain_blocks",
            deletes(API.answers("string[]").answers_to(Change::Post, "{}")),
            get(domain_blocks::index).post(domain_blocks::create).delete(domain_blocks::delete),
        )
        .route("/api/v1/domain_blocks/preview", API.answers("DomainBlockPreview"), get(domain_blocks::preview))
        .route("/api/v1/blocks", API.answers("Account[]"), get(blocks::index))
        .route("/api/v1/mutes", API.answers("MutedAccount[]"), get(mutes::index))
        .route("/api/v1/follow_requests", API.answers("Account[]"), get(follow_requests::index))
        .route("/api/v1/follow_requests/{id}/authorize", API.answers("Relationship"), post(follow_requests::authorize))
        .route("/api/v1/follow_requests/{id}/reject", API.answers("Relationship"), post(follow_requests::reject))
}

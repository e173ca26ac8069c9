//! Every core route on one page, and the layers around them.

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::Response;
use axum::routing::{any, delete, get, patch, post};
use tower_http::normalize_path::NormalizePath;

use super::api::{
    accounts, apps, blocks, credentials, custom_emojis, emails, follow_requests, instance, markers, media, mutes,
    notifications, preferences, profile, registrations, relationships, search, status_actions, statuses, timelines,
};
use super::oauth::{applications, authorize};
use super::{
    access, auth, cache, compress, error, files, guard, headers, health, limits, oauth, observe, web, well_known,
};
use crate::app::App;

/// The whole server. A slash at the end of a path is as good as none: some client libraries send one.
pub fn router(app: App) -> Router {
    Router::new().fallback_service(NormalizePath::trim_trailing_slash(routes(app)))
}

/// Layers run from the last to the first.
fn routes(app: App) -> Router {
    Router::new()
        .merge(api())
        .merge(accounts())
        .merge(health())
        .merge(about())
        .route("/media/{*key}", get(files::show))
        .merge(browser().layer(middleware::from_fn_with_state(app.clone(), web::layer)))
        .route("/assets/{name}", get(web::assets::show))
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .layer(middleware::from_fn_with_state(app.clone(), access::layer))
        .layer(middleware::from_fn_with_state(app.clone(), limits::layer))
        .layer(middleware::from_fn_with_state(app.clone(), auth::layer))
        .layer(middleware::from_fn_with_state(app.clone(), guard::layer))
        .layer(middleware::from_fn_with_state(app.clone(), web::errors))
        .layer(middleware::from_fn_with_state(app.clone(), headers::layer))
        .layer(compress::layer())
        .layer(middleware::from_fn_with_state(app.clone(), observe::layer))
        .with_state(app)
}

fn api() -> Router<App> {
    Router::new()
        // emails
        .route("/api/v1/emails/confirmations", post(emails::create_confirmation))
        .route("/api/v1/emails/check_confirmation", get(emails::check_confirmation))
        // oauth, for programs
        .route("/oauth/token", post(oauth::token::create))
        .route("/oauth/token/info", get(oauth::token::info))
        .route("/oauth/revoke", post(oauth::token::revoke))
        .route("/oauth/introspect", post(oauth::token::introspect))
        .route("/oauth/applications", any(oauth::forbidden))
        .route("/oauth/applications/{*rest}", any(oauth::forbidden))
        .route("/.well-known/oauth-authorization-server", get(oauth::metadata))
        // apps
        .route("/api/v1/apps", post(apps::create))
        .route("/api/v1/apps/verify_credentials", get(apps::verify_credentials))
        // media
        .route("/api/v2/media", post(media::create))
        .route("/api/v1/media", post(media::create))
        .route("/api/v1/media/{id}", get(media::show).put(media::update).patch(media::update))
        // notifications
        .route("/api/v1/notifications", get(notifications::index))
        .route("/api/v1/notifications/unread_count", get(notifications::unread_count))
        .route("/api/v1/notifications/clear", post(notifications::clear))
        .route("/api/v1/notifications/{id}", get(notifications::show))
        .route("/api/v1/notifications/{id}/dismiss", post(notifications::dismiss))
        // search
        .route("/api/v2/search", get(search::index))
        // statuses
        .route("/api/v1/statuses", get(statuses::index).post(statuses::create))
        .route(
            "/api/v1/statuses/{id}",
            get(statuses::show)
                .layer(cache::while_anonymous())
                .put(statuses::update)
                .patch(statuses::update)
                .delete(statuses::delete),
        )
        .route("/api/v1/statuses/{id}/context", get(statuses::context).layer(cache::while_anonymous()))
        .route("/api/v1/statuses/{id}/history", get(statuses::history).layer(cache::while_anonymous()))
        .route("/api/v1/statuses/{id}/source", get(statuses::source))
        .route("/api/v1/statuses/{id}/reblogged_by", get(status_actions::reblogged_by).layer(cache::while_anonymous()))
        .route(
            "/api/v1/statuses/{id}/favourited_by",
            get(status_actions::favourited_by).layer(cache::while_anonymous()),
        )
        .route("/api/v1/statuses/{id}/mentioned_by", get(status_actions::mentioned_by).layer(cache::while_anonymous()))
        .route("/api/v1/statuses/{id}/favourite", post(status_actions::favourite))
        .route("/api/v1/statuses/{id}/unfavourite", post(status_actions::unfavourite))
        .route("/api/v1/statuses/{id}/reblog", post(status_actions::reblog))
        .route("/api/v1/statuses/{id}/unreblog", post(status_actions::unreblog))
        .route("/api/v1/statuses/{id}/bookmark", post(status_actions::bookmark))
        .route("/api/v1/statuses/{id}/unbookmark", post(status_actions::unbookmark))
        .route("/api/v1/statuses/{id}/pin", post(status_actions::pin))
        .route("/api/v1/statuses/{id}/unpin", post(status_actions::unpin))
        .route("/api/v1/statuses/{id}/mute", post(status_actions::mute))
        .route("/api/v1/statuses/{id}/unmute", post(status_actions::unmute))
        // timelines, favourites, bookmarks
        .route("/api/v1/accounts/{id}/statuses", get(timelines::profile).layer(cache::while_anonymous()))
        .route("/api/v1/timelines/home", get(timelines::home))
        .route("/api/v1/timelines/public", get(timelines::public).layer(cache::while_anonymous()))
        .route("/api/v1/timelines/tag/{hashtag}", get(timelines::tag).layer(cache::while_anonymous()))
        .route("/api/v1/favourites", get(timelines::favourites))
        .route("/api/v1/bookmarks", get(timelines::bookmarks))
}

/// What the server tells about itself.
fn about() -> Router<App> {
    Router::new()
        // instance, custom_emojis
        .route("/api/v2/instance", get(instance::show))
        .route("/api/v1/instance", get(instance::show_v1))
        .route("/api/v1/instance/peers", get(instance::peers))
        .route("/api/v1/instance/activity", get(instance::activity))
        .route("/api/v1/instance/rules", get(instance::rules_index))
        .route("/api/v1/instance/privacy_policy", get(instance::privacy_policy))
        .route("/api/v1/instance/extended_description", get(instance::extended_description))
        .route("/api/v1/instance/translation_languages", get(instance::translation_languages))
        .route("/api/v1/instance/languages", get(instance::languages))
        .route("/api/v1/custom_emojis", get(custom_emojis::index))
        .layer(cache::for_everyone())
        .route("/api/v1/instance/domain_blocks", get(instance::domain_blocks).layer(cache::while_anonymous()))
        // well_known
        .route("/.well-known/webfinger", get(well_known::webfinger))
        .route("/.well-known/host-meta", get(well_known::host_meta))
        .route("/.well-known/host-meta.json", get(well_known::host_meta_json))
        .route("/.well-known/nodeinfo", get(well_known::nodeinfo_discovery))
        .route("/nodeinfo/2.0", get(well_known::nodeinfo))
        .route("/.well-known/change-password", get(well_known::change_password))
}

fn health() -> Router<App> {
    Router::new()
        .route("/health", get(health::alive))
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
}

/// Accounts and what one does about another.
fn accounts() -> Router<App> {
    Router::new()
        .route("/api/v1/accounts", get(accounts::index).post(registrations::create))
        .route("/api/v1/accounts/verify_credentials", get(credentials::show))
        .route("/api/v1/accounts/update_credentials", patch(credentials::update))
        .route("/api/v1/accounts/lookup", get(accounts::lookup).layer(cache::while_anonymous()))
        .route("/api/v1/accounts/search", get(accounts::search))
        .route("/api/v1/accounts/relationships", get(relationships::index))
        .route("/api/v1/accounts/{id}", get(accounts::show).layer(cache::while_anonymous()))
        .route("/api/v1/accounts/{id}/followers", get(accounts::followers).layer(cache::while_anonymous()))
        .route("/api/v1/accounts/{id}/following", get(accounts::following).layer(cache::while_anonymous()))
        .route("/api/v1/accounts/{id}/featured_tags", get(accounts::featured_tags))
        .route("/api/v1/accounts/{id}/lists", get(accounts::lists))
        .route("/api/v1/accounts/{id}/follow", post(relationships::follow))
        .route("/api/v1/accounts/{id}/unfollow", post(relationships::unfollow))
        .route("/api/v1/accounts/{id}/remove_from_followers", post(relationships::remove_from_followers))
        .route("/api/v1/accounts/{id}/block", post(relationships::block))
        .route("/api/v1/accounts/{id}/unblock", post(relationships::unblock))
        .route("/api/v1/accounts/{id}/mute", post(relationships::mute))
        .route("/api/v1/accounts/{id}/unmute", post(relationships::unmute))
        .route("/api/v1/accounts/{id}/pin", post(relationships::pin))
        .route("/api/v1/accounts/{id}/unpin", post(relationships::unpin))
        .route("/api/v1/accounts/{id}/note", post(relationships::note))
        // profile
        .route("/api/v1/profile/avatar", delete(profile::delete_avatar))
        .route("/api/v1/profile/header", delete(profile::delete_header))
        // preferences
        .route("/api/v1/preferences", get(preferences::show))
        // markers
        .route("/api/v1/markers", get(markers::index).post(markers::create))
        // blocks, mutes, follow_requests
        .route("/api/v1/blocks", get(blocks::index))
        .route("/api/v1/mutes", get(mutes::index))
        .route("/api/v1/follow_requests", get(follow_requests::index))
        .route("/api/v1/follow_requests/{id}/authorize", post(follow_requests::authorize))
        .route("/api/v1/follow_requests/{id}/reject", post(follow_requests::reject))
}

/// Pages for people: errors are pages too, and cookies work.
fn browser() -> Router<App> {
    Router::new()
        // sign-up, confirmation, passwords, the owner
        .route("/auth/sign_up", get(web::sign_up::show).post(web::sign_up::create))
        .route("/auth/confirmation", get(web::confirmation::show).post(web::confirmation::create))
        .route("/auth/password/new", get(web::password::new).post(web::password::create))
        .route("/auth/password/edit", get(web::password::edit).post(web::password::update))
        .route("/auth/setup", get(web::owner::show).post(web::owner::create))
        // the server
        .route("/", get(web::front::show))
        .route("/about", get(web::front::about))
        .route("/privacy-policy", get(web::front::privacy))
        // people, statuses, hashtags
        .route("/@{name}", get(web::profile::show))
        .route("/@{name}/{id}", get(web::status::show))
        .route("/users/{name}", get(web::profile::moved))
        .route("/users/{name}/statuses/{id}", get(web::status::moved))
        .route("/tags/{name}", get(web::tag::show))
        // oauth
        .route("/oauth/authorize", get(authorize::show).post(authorize::create).delete(authorize::delete))
        .route("/oauth/authorize/native", get(authorize::native))
        .route("/oauth/authorized_applications", get(applications::index))
        .route("/oauth/authorized_applications/{id}", post(applications::update).delete(applications::delete))
        // sign-in and settings
        .route("/auth/sign_in", get(web::sign_in::show).post(web::sign_in::create))
        .route("/auth/sign_out", post(web::sign_in::delete))
        .route("/settings", get(web::settings::show))
        .route("/settings/password", get(web::settings::show).post(web::settings::change_password))
}

/// Unknown paths, and unknown methods of known paths (contract rules, section 1).
async fn not_found() -> Response {
    error::failure(StatusCode::NOT_FOUND, "Record not found")
}

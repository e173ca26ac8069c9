//! Every core route on one page, and the layers around them.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, any, delete, get, patch, post};
use futures_util::future::BoxFuture;
use tower_http::normalize_path::NormalizePath;

use super::api::{
    accounts, apps, blocks, credentials, custom_emojis, emails, follow_requests, instance, markers, media, mutes,
    notifications, preferences, profile, registrations, relationships, search, status_actions, statuses, timelines,
};
use super::oauth::{applications, authorize};
use super::{
    access, auth, cache, compress, error, files, guard, headers, health, limits, oauth, observe, web, well_known,
};
use crate::Cx;

/// What is served beside the core's routes: by a crate above this one, in the same layers.
#[derive(Debug, Default)]
pub struct Mounted {
    /// Routes of the API and others for programs.
    pub api: Routes,
    /// Pages for browsers.
    pub pages: Routes,
    /// Asked about every path that is no route's; without an answer, or without this, that is 404.
    pub beyond: Option<Beyond>,
}

/// Answers a request whose path is no route's, or does not.
pub type Beyond = fn(Cx, Request) -> BoxFuture<'static, Option<Response>>;

/// The whole server. A slash at the end of a path is as good as none: some client libraries send one.
pub fn router(cx: rookery_core::Cx, mounted: Mounted) -> Router {
    Router::new().fallback_service(NormalizePath::trim_trailing_slash(routes(cx, mounted)))
}

/// Layers run from the last to the first.
fn routes(cx: rookery_core::Cx, mounted: Mounted) -> Router {
    let Mounted { api: more, pages, beyond } = mounted;
    let beyond = move |cx: Cx, request: Request| async move {
        let answer = match beyond {
            Some(beyond) => beyond(cx, request).await,
            None => None,
        };
        match answer {
            Some(response) => response,
            None => not_found().await,
        }
    };
    Router::new()
        .merge(api().router)
        .merge(accounts().router)
        .merge(health().router)
        .merge(about().router)
        .merge(browser().router.merge(pages.router).layer(middleware::from_fn(web::layer)))
        .merge(files().router)
        .merge(more.router)
        .fallback(beyond)
        .method_not_allowed_fallback(not_found)
        .layer(middleware::from_fn(access::layer))
        .layer(middleware::from_fn(limits::layer))
        .layer(middleware::from_fn(auth::layer))
        .layer(middleware::from_fn(guard::layer))
        .layer(middleware::from_fn(web::errors))
        .layer(middleware::from_fn(headers::layer))
        .layer(middleware::from_fn(error::layer))
        .layer(compress::layer())
        .layer(middleware::from_fn_with_state(cx, observe::layer))
}

/// The routes of `routes` alone, for a listener of its own: without the layers, in the context `cx`.
pub fn alone(cx: rookery_core::Cx, routes: Routes) -> Router {
    let begin = move |mut request: Request, next: Next| {
        request.extensions_mut().insert(Cx(cx.begin(None)));
        next.run(request)
    };
    routes.router.fallback(not_found).layer(middleware::from_fn(begin))
}

/// The path of every core route, as written here: what no plugin may claim.
pub fn templates() -> &'static [&'static str] {
    static ALL: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| [api(), accounts(), health(), about(), browser(), files()].map(|part| part.paths).concat());
    &ALL
}

/// A part of the router that can say what its paths are.
#[derive(Debug, Default)]
pub struct Routes {
    router: Router,
    paths: Vec<&'static str>,
}

impl Routes {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These and one more.
    #[must_use]
    pub fn route(mut self, path: &'static str, methods: MethodRouter) -> Self {
        self.paths.push(path);
        self.router = self.router.route(path, methods);
        self
    }

    /// Lays something around the routes so far.
    fn around(mut self, wrap: impl FnOnce(Router) -> Router) -> Self {
        self.router = wrap(self.router);
        self
    }
}

fn api() -> Routes {
    Routes::new()
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
fn about() -> Routes {
    Routes::new()
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
        .around(|router| router.layer(cache::for_everyone()))
        .route("/api/v1/instance/domain_blocks", get(instance::domain_blocks).layer(cache::while_anonymous()))
        // well_known
        .route("/.well-known/webfinger", get(well_known::webfinger))
        .route("/.well-known/host-meta", get(well_known::host_meta))
        .route("/.well-known/host-meta.json", get(well_known::host_meta_json))
        .route("/.well-known/nodeinfo", get(well_known::nodeinfo_discovery))
        .route("/nodeinfo/2.0", get(well_known::nodeinfo))
        .route("/.well-known/change-password", get(well_known::change_password))
}

fn health() -> Routes {
    Routes::new()
        .route("/health", get(health::alive))
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
}

/// Accounts and what one does about another.
fn accounts() -> Routes {
    Routes::new()
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
fn browser() -> Routes {
    Routes::new()
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

/// What people uploaded, and what pages need.
fn files() -> Routes {
    Routes::new().route("/media/{*key}", get(files::show)).route("/assets/{name}", get(web::assets::show))
}

/// Unknown paths, and unknown methods of known paths (contract rules, section 1).
async fn not_found() -> Response {
    error::failure(StatusCode::NOT_FOUND, "Record not found")
}

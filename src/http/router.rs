//! Every core route on one page, each with its policy ([`Policy`]).
//!
//! A route is its path, what it allows and answers, and its handlers. Authentication, scope and parameters stand in the
//! handlers' argument lists, from which [`operations`] reads them. What surrounds a handler is
//! [`stages`](crate::stages).

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Request;

use super::api::{
    accounts, announcements, apps, blocks, conversations, credentials, custom_emojis, directory, domain_blocks, emails,
    endorsements, featured_tags, filters, filters_v1, follow_requests, instance, lists, markers, media, mutes,
    notification_groups, notification_policies, notification_requests, notifications, oembed, peers, polls,
    preferences, push, registrations, relationships, reports, scheduled_statuses, search, status_actions, statuses,
    suggestions, tags, timelines, translations, trends,
};
use super::oauth::{self, applications, authorize};
use super::operation::Operation;
use super::operation::methods::{any, delete, get, patch, post, put};
use super::policy::{API, Change, Closed, FILE, FORM, Files, PAGE, PROGRAM, Per, Policy, WELL_KNOWN};
use super::stages::Pipeline;
use super::table::Table;
use super::web::{self, settings};
use super::{files, health, openapi, well_known};
use crate::Cx;
use crate::error::not_found;
use crate::mount::ExtraRoutes;
pub use crate::table::Routes;
use service::rate_limits as limits;

/// The whole server.
pub type Server = Pipeline;

/// The server in the context `cx`, with `extra` beside its own routes.
pub fn router(cx: context::Cx, extra: ExtraRoutes) -> Server {
    let ExtraRoutes { api, pages, fallback } = extra;
    let routes = Table::new(core().into_iter().chain([api, pages.with_cookies()]));
    Pipeline::new(cx, routes, fallback)
}

/// `routes` and nothing else, for a listener of its own: without the stages of [`stages`](crate::stages), in the
/// context `cx`.
pub fn standalone(cx: context::Cx, routes: Routes) -> Router {
    let routes = Arc::new(Table::new([routes]));
    Router::new().fallback(async move |mut request: Request| {
        let (route, segments) = routes.find(request.uri().path());
        let Some(endpoint) = route.and_then(|route| route.endpoint(request.method())) else { return not_found() };
        request.extensions_mut().insert(Cx(cx.begin(None)));
        if let Some(segments) = segments {
            request.extensions_mut().insert(segments);
        }
        endpoint.call(request).await
    })
}

/// The core's routes.
pub(crate) fn core() -> [Routes; 7] {
    [api(), accounts(), filters(), health(), about(), browser().with_cookies(), files()]
}

/// Every core route with its policy, as written here: what documents and tests of the API read.
#[must_use]
pub fn policies() -> Vec<(&'static str, Policy)> {
    core().iter().flat_map(Routes::policies).collect()
}

/// Every operation of the core with the policy of its route: what documents and tests of the API read.
#[must_use]
pub fn declared() -> Vec<(Operation, Policy)> {
    core().iter().flat_map(Routes::declared).collect()
}

/// Every operation of the core, as its handler declares it: what documents and tests of the API read.
#[must_use]
pub fn operations() -> Vec<Operation> {
    core().iter().flat_map(Routes::operations).collect()
}

/// The path of every core route, as written here: what no plugin may claim.
pub fn templates() -> &'static [&'static str] {
    static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(|| policies().into_iter().map(|(path, _)| path).collect());
    &ALL
}

/// Read by everybody, and kept by others for a moment when nobody is signed in.
const SHARED: Policy = API.while_anonymous();
/// One status: read, edited, deleted.
const STATUS: Policy = SHARED.files(Files::Images).limit(Some(Change::Delete), &limits::DELETE_STATUS, Per::Person);
/// Deleting a reblog counts as deleting a status.
const UNREBLOG: Policy = API.limit(Some(Change::Post), &limits::DELETE_STATUS, Per::Person);
/// Uploads.
const UPLOAD: Policy = API.limit(Some(Change::Post), &limits::MEDIA, Per::Person).files(Files::Videos);
/// Registering an application, which comes before any sign-in.
const REGISTER_APP: Policy =
    API.closed(Closed::Open(Change::Post)).limit(Some(Change::Post), &limits::APPS, Per::Address);
/// Signing up through an application.
const SIGN_UP: Policy =
    API.closed(Closed::Open(Change::Post)).limit(Some(Change::Post), &limits::SIGN_UP, Per::Address);
/// What is deleted leaves nothing to answer.
const fn deletes(policy: Policy) -> Policy {
    policy.answers_to(Change::Delete, "{}")
}

/// What the server says about itself.
const ABOUT: Policy = API.closed(Closed::UnlessLimited).for_everyone();
/// What would name the servers that a limited federation allows.
const PEERS: Policy = API.closed(Closed::HiddenWhenLimited).for_everyone();
/// Pages about people.
const PEOPLE: Policy = PAGE.closed(Closed::PeopleWhenLimited);
/// Forms that sign people up and in.
const ACCOUNT_FORM: Policy = FORM.small_body().limit(None, &limits::FORMS, Per::Address);
/// What takes the credentials of applications.
const CREDENTIALS: Policy = PROGRAM.small_body().limit(Some(Change::Post), &limits::OAUTH, Per::Address);

fn api() -> Routes {
    Routes::new()
        // emails
        .route("/api/v1/emails/confirmations", API.answers("{}"), post(emails::create_confirmation))
        .route("/api/v1/emails/check_confirmation", API.answers("boolean"), get(emails::check_confirmation))
        // oauth, for programs
        .route("/oauth/token", CREDENTIALS.cors("POST"), post(oauth::token::create))
        .route("/oauth/token/info", PROGRAM, get(oauth::token::info))
        .route("/oauth/revoke", CREDENTIALS.cors("POST"), post(oauth::token::revoke))
        .route("/oauth/introspect", CREDENTIALS, post(oauth::token::introspect))
        .route("/oauth/applications", PROGRAM, any(oauth::forbidden))
        .route("/oauth/applications/{*rest}", PROGRAM, any(oauth::forbidden))
        .route("/.well-known/oauth-authorization-server", WELL_KNOWN, get(oauth::metadata))
        // apps
        .route("/api/v1/apps", REGISTER_APP.answers("CredentialApplication"), post(apps::create))
        .route("/api/v1/apps/verify_credentials", API.answers("Application"), get(apps::verify_credentials))
        // media
        .route("/api/v2/media", UPLOAD.answers("MediaAttachment"), post(media::create))
        .route("/api/v1/media", UPLOAD.answers("MediaAttachment"), post(media::create_at_once))
        .route(
            "/api/v1/media/{id}",
            deletes(API.files(Files::Images).answers("MediaAttachment")),
            get(media::show).put(media::update).patch(media::update).delete(media::delete),
        )
        // notifications
        .route("/api/v1/notifications", API.answers("Notification[]"), get(notifications::index))
        .route("/api/v1/notifications/unread_count", API.answers("UnreadCount"), get(notifications::unread_count))
        .route("/api/v1/notifications/clear", API.answers("{}"), post(notifications::clear))
        .route("/api/v1/notifications/{id}", API.answers("Notification"), get(notifications::show))
        .route("/api/v1/notifications/{id}/dismiss", API.answers("{}"), post(notifications::dismiss))
        .route(
            "/api/v1/notifications/policy",
            API.answers("V1_NotificationPolicy"),
            get(notification_policies::show_v1)
                .put(notification_policies::update_v1)
                .patch(notification_policies::update_v1),
        )
        .route(
            "/api/v2/notifications/policy",
            API.answers("NotificationPolicy"),
            get(notification_policies::show).put(notification_policies::update).patch(notification_policies::update),
        )
        .route(
            "/api/v1/notifications/requests",
            API.answers("NotificationRequest[]"),
            get(notification_requests::index),
        )
        .route(
            "/api/v1/notifications/requests/merged",
            API.answers("NotificationRequestsMerged"),
            get(notification_requests::merged),
        )
        .route("/api/v1/notifications/requests/accept", API.answers("{}"), post(notification_requests::accept_all))
        .route("/api/v1/notifications/requests/dismiss", API.answers("{}"), post(notification_requests::dismiss_all))
        .route(
            "/api/v1/notifications/requests/{id}",
            API.answers("NotificationRequest"),
            get(notification_requests::show),
        )
        .route("/api/v1/notifications/requests/{id}/accept", API.answers("{}"), post(notification_requests::accept))
        .route("/api/v1/notifications/requests/{id}/dismiss", API.answers("{}"), post(notification_requests::dismiss))
        .route("/api/v2/notifications", API.answers("GroupedNotificationsResults"), get(notification_groups::index))
        .route("/api/v2/notifications/unread_count", API.answers("UnreadCount"), get(notification_groups::unread_count))
        .route("/api/v2/notifications/clear", API.answers("{}"), post(notifications::clear))
        .route(
            "/api/v2/notifications/{group_key}",
            API.answers("GroupedNotificationsResults"),
            get(notification_groups::show),
        )
        .route(
            "/api/v2/notifications/{group_key}/accounts",
            API.answers("Account[]"),
            get(notification_groups::accounts),
        )
        .route("/api/v2/notifications/{group_key}/dismiss", API.answers("{}"), post(notification_groups::dismiss))
        // conversations
        .route("/api/v1/conversations", API.answers("Conversation[]"), get(conversations::index))
        .route("/api/v1/conversations/{id}", API.answers("{}"), delete(conversations::delete))
        .route("/api/v1/conversations/{id}/read", API.answers("Conversation"), post(conversations::read))
        .route("/api/v1/conversations/{id}/unread", API.answers("Conversation"), post(conversations::unread))
        // announcements
        .route("/api/v1/announcements", API.answers("Announcement[]"), get(announcements::index))
        .route("/api/v1/announcements/{id}/dismiss", API.answers("{}"), post(announcements::dismiss))
        .route(
            "/api/v1/announcements/{id}/reactions/{name}",
            API.answers("{}"),
            put(announcements::react).patch(announcements::react).delete(announcements::unreact),
        )
        // reports
        .route("/api/v1/reports", API.answers("Report"), post(reports::create))
        // oembed
        .route("/api/oembed", API.closed(Closed::Never).answers("OEmbed"), get(oembed::show))
        // search
        .route("/api/v2/search", API.answers("Search"), get(search::index))
        // statuses
        .route(
            "/api/v1/statuses",
            API.answers("Status[]").answers_to(Change::Post, "Status | ScheduledStatus"),
            get(statuses::index).post(statuses::create),
        )
        .route(
            "/api/v1/statuses/{id}",
            STATUS.answers("Status"),
            get(statuses::show).put(statuses::update).patch(statuses::update).delete(statuses::delete),
        )
        .route("/api/v1/statuses/{id}/context", SHARED.answers("Context"), get(statuses::context))
        .route("/api/v1/statuses/{id}/history", SHARED.answers("StatusEdit[]"), get(statuses::history))
        .route("/api/v1/statuses/{id}/source", API.answers("StatusSource"), get(statuses::source))
        .route("/api/v1/statuses/{id}/reblogged_by", SHARED.answers("Account[]"), get(status_actions::reblogged_by))
        .route("/api/v1/statuses/{id}/favourited_by", SHARED.answers("Account[]"), get(status_actions::favourited_by))
        .route("/api/v1/statuses/{id}/referred_by", SHARED.answers("Status[]"), get(statuses::referred_by))
        .route("/api/v1/statuses/{id}/quotes", API.answers("Status[]"), get(statuses::quotes))
        .route("/api/v1/statuses/{id}/quotes/{quoting_id}/revoke", API.answers("Status"), post(statuses::revoke_quote))
        .route(
            "/api/v1/statuses/{id}/interaction_policy",
            API.answers("Status"),
            put(statuses::update_policy).patch(statuses::update_policy),
        )
        .route("/api/v1/statuses/{id}/mentioned_by", SHARED.answers("Account[]"), get(status_actions::mentioned_by))
        .route("/api/v1/statuses/{id}/favourite", API.answers("Status"), post(status_actions::favourite))
        .route("/api/v1/statuses/{id}/unfavourite", API.answers("Status"), post(status_actions::unfavourite))
        .route("/api/v1/statuses/{id}/reblog", API.answers("Status"), post(status_actions::reblog))
        .route("/api/v1/statuses/{id}/unreblog", UNREBLOG.answers("Status"), post(status_actions::unreblog))
        .route("/api/v1/statuses/{id}/bookmark", API.answers("Status"), post(status_actions::bookmark))
        .route("/api/v1/statuses/{id}/unbookmark", API.answers("Status"), post(status_actions::unbookmark))
        .route("/api/v1/statuses/{id}/pin", API.answers("Status"), post(status_actions::pin))
        .route("/api/v1/statuses/{id}/unpin", API.answers("Status"), post(status_actions::unpin))
        .route("/api/v1/statuses/{id}/mute", API.answers("Status"), post(status_actions::mute))
        .route("/api/v1/statuses/{id}/unmute", API.answers("Status"), post(status_actions::unmute))
        .route("/api/v1/statuses/{id}/translate", API.answers("Translation"), post(translations::translate))
        // polls
        .route("/api/v1/polls/{id}", SHARED.answers("Poll"), get(polls::show))
        .route("/api/v1/polls/{id}/votes", API.answers("Poll"), post(polls::vote))
        // scheduled_statuses
        .route("/api/v1/scheduled_statuses", API.answers("ScheduledStatus[]"), get(scheduled_statuses::index))
        .route(
            "/api/v1/scheduled_statuses/{id}",
            deletes(API.answers("ScheduledStatus")),
            get(scheduled_statuses::show)
                .put(scheduled_statuses::update)
                .patch(scheduled_statuses::update)
                .delete(scheduled_statuses::delete),
        )
        // timelines, favourites, bookmarks
        .route("/api/v1/accounts/{id}/statuses", SHARED.answers("Status[]"), get(timelines::profile))
        .route("/api/v1/timelines/home", API.answers("Status[]"), get(timelines::home))
        .route("/api/v1/timelines/public", SHARED.answers("Status[]"), get(timelines::public))
        .route("/api/v1/timelines/tag/{hashtag}", SHARED.answers("Status[]"), get(timelines::tag))
        .route("/api/v1/timelines/link", SHARED.answers("Status[]"), get(timelines::link))
        .route("/api/v1/timelines/list/{id}", API.answers("Status[]"), get(timelines::list))
        .route("/api/v1/favourites", API.answers("Status[]"), get(timelines::favourites))
        .route("/api/v1/bookmarks", API.answers("Status[]"), get(timelines::bookmarks))
        // trends
        .route("/api/v1/trends", SHARED.answers("Tag[]"), get(trends::tags))
        .route("/api/v1/trends/tags", SHARED.answers("Tag[]"), get(trends::tags))
        .route("/api/v1/trends/statuses", SHARED.answers("Status[]"), get(trends::statuses))
        .route("/api/v1/trends/links", SHARED.answers("TrendsLink[]"), get(trends::links))
        // tags, followed_tags, featured_tags
        .route("/api/v1/tags/{name}", SHARED.answers("Tag"), get(tags::show))
        .route("/api/v1/tags/{name}/follow", API.answers("Tag"), post(tags::follow))
        .route("/api/v1/tags/{name}/unfollow", API.answers("Tag"), post(tags::unfollow))
        .route("/api/v1/tags/{name}/feature", API.answers("Tag"), post(tags::feature))
        .route("/api/v1/tags/{name}/unfeature", API.answers("Tag"), post(tags::unfeature))
        .route("/api/v1/followed_tags", API.answers("Tag[]"), get(tags::followed))
        .route(
            "/api/v1/featured_tags",
            API.answers("FeaturedTag[]").answers_to(Change::Post, "FeaturedTag"),
            get(featured_tags::index).post(featured_tags::create),
        )
        .route("/api/v1/featured_tags/suggestions", API.answers("Tag[]"), get(featured_tags::suggestions))
        .route("/api/v1/featured_tags/{id}", API.answers("{}"), delete(featured_tags::delete))
}

/// What the server tells about itself.
fn about() -> Routes {
    Routes::new()
        // instance, custom_emojis
        .route("/api/v2/instance", ABOUT.answers("Instance"), get(instance::show))
        .route("/api/v1/instance", ABOUT.answers("V1_Instance"), get(instance::show_v1))
        .route("/api/v1/instance/peers", PEERS.answers("string[]"), get(instance::peers))
        .route("/api/v1/peers/search", PEERS.answers("string[]"), get(peers::search))
        .route("/api/v1/instance/activity", PEERS.answers("InstanceActivity[]"), get(instance::activity))
        .route("/api/v1/instance/rules", ABOUT.answers("Rule[]"), get(instance::rules_index))
        .route("/api/v1/instance/privacy_policy", ABOUT.answers("PrivacyPolicy"), get(instance::privacy_policy))
        .route(
            "/api/v1/instance/extended_description",
            ABOUT.answers("ExtendedDescription"),
            get(instance::extended_description),
        )
        .route(
            "/api/v1/instance/translation_languages",
            ABOUT.answers("TranslationLanguages"),
            get(instance::translation_languages),
        )
        .route("/api/v1/instance/languages", ABOUT.answers("Language[]"), get(instance::languages))
        .route("/api/v1/custom_emojis", API.for_everyone().answers("CustomEmoji[]"), get(custom_emojis::index))
        .route(
            "/api/v1/instance/domain_blocks",
            SHARED.closed(Closed::UnlessLimited).answers("DomainBlock[]"),
            get(instance::domain_blocks),
        )
        .route("/api/openapi.json", ABOUT, get(openapi::show))
        // well_known
        .route("/.well-known/webfinger", WELL_KNOWN, get(well_known::webfinger))
        .route("/.well-known/host-meta", WELL_KNOWN, get(well_known::host_meta))
        .route("/.well-known/host-meta.json", WELL_KNOWN, get(well_known::host_meta_json))
        .route("/.well-known/nodeinfo", WELL_KNOWN, get(well_known::nodeinfo_discovery))
        .route("/nodeinfo/2.0", WELL_KNOWN, get(well_known::nodeinfo))
        .route("/.well-known/change-password", WELL_KNOWN, get(well_known::change_password))
}

fn health() -> Routes {
    Routes::new().route("/health", PROGRAM, get(health::alive)).route("/livez", PROGRAM, get(health::alive)).route(
        "/readyz",
        PROGRAM,
        get(health::ready),
    )
}

/// Accounts and what one does about another.
fn accounts() -> Routes {
    Routes::new()
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
        // lists
        .route(
            "/api/v1/lists",
            API.answers("List[]").answers_to(Change::Post, "List"),
            get(lists::index).post(lists::create),
        )
        .route(
            "/api/v1/lists/{id}",
            deletes(API.answers("List")),
            get(lists::show).put(lists::update).patch(lists::update).delete(lists::delete),
        )
        .route(
            "/api/v1/lists/{id}/accounts",
            deletes(API.answers("Account[]").answers_to(Change::Post, "{}")),
            get(lists::accounts).post(lists::add_accounts).delete(lists::remove_accounts),
        )
        // preferences
        .route("/api/v1/preferences", API.answers("Preferences"), get(preferences::show))
        // push
        .route(
            "/api/v1/push/subscription",
            deletes(API.answers("WebPushSubscription")),
            get(push::show).post(push::create).put(push::update).patch(push::update).delete(push::destroy),
        )
        // markers
        .route("/api/v1/markers", API.answers("Markers"), get(markers::index).post(markers::create))
        // domain_blocks
        .route(
            "/api/v1/domain_blocks",
            deletes(API.answers("string[]").answers_to(Change::Post, "{}")),
            get(domain_blocks::index).post(domain_blocks::create).delete(domain_blocks::delete),
        )
        .route("/api/v1/domain_blocks/preview", API.answers("DomainBlockPreview"), get(domain_blocks::preview))
        // blocks, mutes, follow_requests
        .route("/api/v1/blocks", API.answers("Account[]"), get(blocks::index))
        .route("/api/v1/mutes", API.answers("MutedAccount[]"), get(mutes::index))
        .route("/api/v1/follow_requests", API.answers("Account[]"), get(follow_requests::index))
        .route("/api/v1/follow_requests/{id}/authorize", API.answers("Relationship"), post(follow_requests::authorize))
        .route("/api/v1/follow_requests/{id}/reject", API.answers("Relationship"), post(follow_requests::reject))
}

/// Filters. Keywords and statuses of filters have the same paths in both versions.
fn filters() -> Routes {
    const ONE: Policy = API.answers("Filter");
    const V1: Policy = deletes(API.answers("V1_Filter"));
    const KEYWORD: Policy = deletes(API.answers("FilterKeyword"));
    const ENTRY: Policy = deletes(API.answers("FilterStatus"));
    let keyword = || {
        get(filters::show_keyword)
            .put(filters::update_keyword)
            .patch(filters::update_keyword)
            .delete(filters::delete_keyword)
    };
    let status = || get(filters::show_status).delete(filters::delete_status);
    Routes::new()
        .route(
            "/api/v2/filters",
            API.answers("Filter[]").answers_to(Change::Post, "Filter"),
            get(filters::index).post(filters::create),
        )
        .route(
            "/api/v2/filters/{id}",
            deletes(ONE),
            get(filters::show).put(filters::update).patch(filters::update).delete(filters::delete),
        )
        .route(
            "/api/v2/filters/{id}/keywords",
            API.answers("FilterKeyword[]").answers_to(Change::Post, "FilterKeyword"),
            get(filters::keywords).post(filters::create_keyword),
        )
        .route("/api/v2/filters/{id}/keywords/{ignored}", KEYWORD, post(filters::create_keyword_at))
        .route("/api/v2/filters/keywords/{id}", KEYWORD, keyword())
        .route("/api/v1/filters/keywords/{id}", KEYWORD, keyword())
        .route(
            "/api/v2/filters/{id}/statuses",
            API.answers("FilterStatus[]").answers_to(Change::Post, "FilterStatus"),
            get(filters::statuses).post(filters::create_status),
        )
        .route(
            "/api/v1/filters/{id}/statuses",
            API.answers("FilterStatus[]").answers_to(Change::Post, "FilterStatus"),
            get(filters::statuses).post(filters::create_status),
        )
        .route("/api/v2/filters/statuses/{id}", ENTRY, status())
        .route("/api/v1/filters/statuses/{id}", ENTRY, status())
        .route(
            "/api/v1/filters",
            API.answers("V1_Filter[]").answers_to(Change::Post, "V1_Filter"),
            get(filters_v1::index).post(filters_v1::create),
        )
        .route(
            "/api/v1/filters/{id}",
            V1,
            get(filters_v1::show).put(filters_v1::update).patch(filters_v1::update).delete(filters_v1::delete),
        )
}

/// Pages for people: errors are pages too, and cookies work.
fn browser() -> Routes {
    Routes::new()
        // sign-up, confirmation, passwords, the owner, letters
        .route("/auth/sign_up", ACCOUNT_FORM, get(web::sign_up::show).post(web::sign_up::create))
        .route("/auth/confirmation", ACCOUNT_FORM, get(web::confirmation::show).post(web::confirmation::create))
        .route("/auth/password/new", ACCOUNT_FORM, get(web::password::new).post(web::password::create))
        .route("/auth/password/edit", ACCOUNT_FORM, get(web::password::edit).post(web::password::update))
        .route("/auth/setup", ACCOUNT_FORM, get(web::owner::show).post(web::owner::create))
        .route("/auth/unsubscribe", ACCOUNT_FORM, get(web::unsubscribe::show).post(web::unsubscribe::create))
        // the server
        .route("/", PAGE, get(web::front::show))
        .route("/about", PAGE, get(web::front::about))
        .route("/about/api", PAGE, get(openapi::page))
        .route("/about/api/{entity}", PAGE, get(openapi::entity))
        .route("/privacy-policy", PAGE, get(web::front::privacy))
        // people, statuses, hashtags
        .route("/@{name}", PEOPLE.cors("GET"), get(web::profile::show))
        .route("/@{name}/{id}", PEOPLE, get(web::status::show))
        .route("/users/{name}", PEOPLE.cors("GET"), get(web::profile::moved))
        .route("/users/{name}/statuses/{id}", PEOPLE, get(web::status::moved))
        .route("/tags/{name}", PEOPLE, get(web::tag::show))
        // oauth
        .route("/oauth/authorize", FORM, get(authorize::show).post(authorize::create).delete(authorize::delete))
        .route("/oauth/authorize/native", FORM, get(authorize::native))
        .route("/oauth/authorized_applications", FORM, get(applications::index))
        .route("/oauth/authorized_applications/{id}", FORM, post(applications::update).delete(applications::delete))
        // sign-in and settings
        .route("/auth/sign_in", ACCOUNT_FORM, get(web::sign_in::show).post(web::sign_in::create))
        .route("/auth/sign_out", ACCOUNT_FORM, post(web::sign_in::delete))
        .route("/settings", FORM, get(web::settings::show))
        .route("/settings/password", FORM, get(web::settings::show).post(web::settings::change_password))
        .route("/settings/email", FORM, get(web::settings::show).post(web::settings::change_email))
        .route(
            "/settings/profile",
            FORM.files(Files::Images),
            get(settings::profile::show).post(settings::profile::update),
        )
        .route("/settings/preferences", FORM, get(settings::preferences::show).post(settings::preferences::update))
        .route("/settings/filters", FORM, get(settings::filters::index).post(settings::filters::create))
        .route("/settings/filters/new", FORM, get(settings::filters::new))
        .route("/settings/filters/{id}", FORM, get(settings::filters::edit).post(settings::filters::update))
        .route("/settings/filters/{id}/delete", FORM, post(settings::filters::delete))
        .route(
            "/settings/followed_tags",
            FORM,
            get(settings::followed_tags::index).post(settings::followed_tags::delete),
        )
        .route("/settings/sessions", FORM, get(settings::sessions::index).post(settings::sessions::delete))
        .route(
            "/settings/transfer",
            FORM.files(Files::Images),
            get(settings::transfers::show).post(settings::transfers::create),
        )
        .route("/settings/archives", FORM, post(settings::archives::create))
        .route("/settings/archives/{id}", FORM, get(settings::archives::show))
        .route("/settings/transfer/account", FORM, get(settings::transfers::document))
        .route("/settings/transfer/export/{kind}", FORM, get(settings::transfers::export))
        .route("/settings/transfer/{id}/failures", FORM, get(settings::transfers::failures))
        .route("/settings/cleanup", FORM, get(settings::cleanup::show).post(settings::cleanup::update))
        .route("/settings/delete", FORM, get(settings::leaving::show).post(settings::leaving::delete))
}

/// What people uploaded, what pages need, and what is shown in the frames of other sites: without cookies.
fn files() -> Routes {
    Routes::new()
        .route("/media/{*key}", FILE, get(files::show))
        .route("/assets/{name}", FILE, get(web::assets::show))
        .route("/@{name}/{id}/embed", PEOPLE, get(web::embed::show))
}

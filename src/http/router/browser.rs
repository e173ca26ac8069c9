//! Pages for people: errors are pages too, and cookies work; and, without cookies, the files that pages need.

use super::openapi_page;
use crate::oauth::{applications, authorize};
use crate::operation::methods::{get, post};
use crate::policy::{Closed, FILE, FORM, Files, PAGE, PROGRAM, Per, Policy};
use crate::table::Routes;
use crate::web::{self, client, settings};
use crate::{client_folder, files, remote_files};
use service::rate_limits as limits;

/// Pages about people.
const PEOPLE: Policy = PAGE.closed(Closed::PeopleWhenLimited);
/// Forms that sign people up and in.
const ACCOUNT_FORM: Policy = FORM.small_body().limit(None, &limits::FORMS, Per::Address);
/// Forms for visitors from other servers.
const VISITOR_FORM: Policy = ACCOUNT_FORM.closed(Closed::PeopleWhenLimited);

/// Pages.
pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/auth/sign_up", ACCOUNT_FORM, get(web::sign_up::show).post(web::sign_up::create))
        .route("/auth/confirmation", ACCOUNT_FORM, get(web::confirmation::show).post(web::confirmation::create))
        .route("/auth/password/new", ACCOUNT_FORM, get(web::password::new).post(web::password::create))
        .route("/auth/password/edit", ACCOUNT_FORM, get(web::password::edit).post(web::password::update))
        .route("/auth/setup", ACCOUNT_FORM, get(web::owner::show).post(web::owner::create))
        .route("/auth/unsubscribe", ACCOUNT_FORM, get(web::unsubscribe::show).post(web::unsubscribe::create))
        .route("/auth/strike", ACCOUNT_FORM, get(web::strike::show).post(web::strike::create))
        .route("/", PAGE, get(web::front::show))
        .route("/about", PAGE, get(web::front::about))
        .route("/about/api", PAGE, get(openapi_page::show))
        .route("/about/api/{entity}", PAGE, get(openapi_page::entity))
        .route("/privacy-policy", PAGE, get(web::front::privacy))
        .route("/terms-of-service", PAGE, get(web::terms::show))
        .route("/terms-of-service/{date}", PAGE, get(web::terms::show_of))
        .route("/authorize_interaction", FORM, get(web::interaction::show).post(web::interaction::create))
        .route(
            "/remote_interaction",
            VISITOR_FORM,
            get(web::visitor_interaction::show).post(web::visitor_interaction::create),
        )
        .route("/@{name}", PEOPLE.cors("GET"), get(web::profile::show))
        .route("/@{name}/with_replies", PEOPLE, get(web::profile::with_replies))
        .route("/@{name}/media", PEOPLE, get(web::profile::media))
        .route("/@{name}/followers", FORM, get(client::people::followers))
        .route("/@{name}/following", FORM, get(client::people::following))
        .route("/@{name}/{id}", PEOPLE, get(web::status::show))
        .route("/@{name}/{id}/favourites", FORM, get(client::people::favourited_by))
        .route("/@{name}/{id}/reblogs", FORM, get(client::people::reblogged_by))
        .route("/@{name}/{id}/history", FORM, get(client::revisions::history))
        .route("/@{name}/{id}/translation", FORM, get(client::translations::show))
        .route("/@{name}/{id}/quotes", FORM, get(client::revisions::quotes))
        .route("/home", FORM, get(client::timelines::home))
        .route("/public", FORM, get(client::timelines::federated))
        .route("/public/local", FORM, get(client::timelines::local))
        .route("/bookmarks", FORM, get(client::timelines::bookmarks))
        .route("/favourites", FORM, get(client::timelines::favourites))
        .route("/lists", FORM, get(client::lists::index).post(client::lists::create))
        .route("/lists/{id}", FORM, get(client::timelines::list))
        .route("/lists/{id}/edit", FORM, get(client::lists::edit).post(client::lists::update))
        .route("/notifications", FORM, get(client::notifications::index))
        .route("/notifications/clear", FORM, post(client::notifications::clear))
        .route(
            "/notifications/requests",
            FORM,
            get(client::notifications::requests).post(client::notifications::decide),
        )
        .route("/conversations", FORM, get(client::conversations::index))
        .route("/conversations/{id}", FORM, get(client::conversations::open).post(client::conversations::update))
        .route("/publish", FORM.files(Files::Videos), get(client::publish::show).post(client::publish::create))
        .route("/drafts", FORM, get(client::drafts::index))
        .route("/drafts/{id}", FORM, post(client::drafts::delete))
        .route("/scheduled", FORM, get(client::scheduled::index))
        .route("/scheduled/{id}", FORM, post(client::scheduled::delete))
        .route("/report", FORM, get(client::report::show).post(client::report::create))
        .route("/follow_requests", FORM, get(client::people::follow_requests))
        .route("/blocks", FORM, get(client::people::blocks))
        .route("/mutes", FORM, get(client::people::mutes))
        .route("/web/statuses/{id}", FORM, post(client::status_acts::create))
        .route("/web/accounts/{id}", FORM, post(client::account_acts::create))
        .route("/web/tags/{name}", FORM, post(client::tag_acts::create))
        .route("/web/polls/{id}", FORM, post(client::poll_votes::create))
        .route("/web/length", FORM, post(client::publish::length))
        .route("/web/completions", FORM, get(client::completions::show))
        .route("/catch_up", FORM, get(client::catch_up::show).post(client::catch_up::update))
        .route("/web/timelines/{extension}/{part}", FORM, get(client::additions::timelines))
        .route("/web/timelines/{extension}/{part}/{thing}", FORM, get(client::additions::timeline))
        .route(
            "/web/folders/{extension}/{part}/{status}",
            FORM,
            get(client::additions::folders).post(client::additions::file),
        )
        .route(
            "/web/reactions/{extension}/{part}/{status}",
            FORM,
            get(client::additions::picker).post(client::additions::react),
        )
        .route("/web/push", FORM, post(client::push::update))
        .route("/offline", PAGE, get(client::push::offline))
        .route("/users/{name}", PEOPLE.cors("GET"), get(web::profile::moved))
        .route("/users/{name}/statuses/{id}", PEOPLE, get(web::status::moved))
        .route("/ap/users/{account}", PEOPLE.cors("GET"), get(web::profile::numbered))
        .route("/ap/users/{account}/statuses/{id}", PEOPLE, get(web::status::numbered))
        .route("/tags/{name}", PEOPLE, get(web::tag::show))
        .route("/search", PEOPLE, get(web::search::show))
        .route("/explore", PEOPLE, get(web::explore::show))
        .route("/directory", PEOPLE, get(web::explore::directory))
        .route("/share", FORM, get(web::share::show))
        .route("/opensearch.xml", PAGE, get(web::search::description))
        .route("/manifest", PAGE, get(web::manifest::manifest))
        .route("/manifest.json", PAGE, get(web::manifest::manifest))
        .route("/robots.txt", PAGE, get(web::manifest::robots))
        .route("/favicon.ico", PAGE, get(web::manifest::favicon))
        .route("/oauth/authorize", FORM, get(authorize::show).post(authorize::create).delete(authorize::delete))
        .route("/oauth/authorize/native", FORM, get(authorize::native))
        .route("/oauth/authorized_applications", FORM, get(applications::index))
        .route("/oauth/authorized_applications/{id}", FORM, post(applications::update).delete(applications::delete))
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
        .route("/settings/requests", FORM, get(settings::requests::index).post(settings::requests::decide))
        .route("/settings/audit_log", FORM, get(settings::audit_log::index))
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
        .route("/settings/strikes", FORM, get(settings::strikes::index))
        .route("/settings/strikes/{id}", FORM, get(settings::strikes::show).post(settings::strikes::create))
        .route("/settings/moving", FORM, get(settings::moving::show).post(settings::moving::create))
        .route("/settings/moving/username", FORM, post(settings::moving::rename))
        .route(
            "/settings/moving/aliases",
            FORM,
            post(settings::moving::add_alias).delete(settings::moving::remove_alias),
        )
        .route("/settings/delete", FORM, get(settings::leaving::show).post(settings::leaving::delete))
}

/// Uploads, assets of pages, another client, and embeds in the frames of other sites: without cookies.
pub(crate) fn files() -> Routes {
    Routes::new()
        .route("/media/{*key}", FILE, get(files::show))
        .route("/media/remote/{kind}/{id}/{tag}", FILE, get(remote_files::show))
        .route("/media/remote/{kind}/{id}/{tag}/small", FILE, get(remote_files::show_small))
        .route("/custom.css", FILE, get(web::custom_css::show))
        .route("/assets/{name}", FILE, get(web::assets::show))
        .route("/client", PROGRAM, get(client_folder::root))
        .route("/client/{*path}", PROGRAM, get(client_folder::show))
        .route("/sw.js", FILE, get(client::push::worker))
        .route("/@{name}/{id}/embed", PEOPLE, get(web::embed::show))
}

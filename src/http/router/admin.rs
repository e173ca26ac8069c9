//! The admin API: what the staff does.

use crate::api::admin::{
    accounts, appeals, audit_log, canonical_email_blocks, domain_allows, domain_blocks, domain_imports, domain_lists,
    domains, email_domain_blocks, ip_blocks, metrics, relays, remote_media, reports, roles, rules, statuses, tags,
    trends, username_blocks, warning_presets,
};
use crate::operation::methods::{delete, get, post, put};
use crate::policy::{API, Files};
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
        .route("/api/v1/admin/accounts/{id}/role", API, put(roles::assign).patch(roles::assign))
        .route("/api/v1/admin/roles", API, get(roles::index).post(roles::create))
        .route(
            "/api/v1/admin/roles/{id}",
            API,
            get(roles::show).put(roles::update).patch(roles::update).delete(roles::delete),
        )
        .route("/api/v1/admin/appeals", API, get(appeals::index))
        .route("/api/v1/admin/appeals/{id}/approve", API, post(appeals::approve))
        .route("/api/v1/admin/appeals/{id}/reject", API, post(appeals::reject))
        .route("/api/v1/admin/rules/{id}/translations", API, put(rules::translate).patch(rules::translate))
        .route("/api/v1/admin/warning_presets", API, get(warning_presets::index).post(warning_presets::create))
        .route("/api/v1/admin/warning_presets/{id}", API, delete(warning_presets::delete))
        .route("/api/v1/admin/audit_log", API, get(audit_log::index))
        .route("/api/v1/admin/domain_blocks", API, get(domain_blocks::index).post(domain_blocks::create))
        .route(
            "/api/v1/admin/domain_blocks/{id}",
            API,
            get(domain_blocks::show)
                .put(domain_blocks::update)
                .patch(domain_blocks::update)
                .delete(domain_blocks::delete),
        )
        .route("/api/v1/admin/domain_blocks/import", API.files(Files::Lists), post(domain_imports::import_blocks))
        .route("/api/v1/admin/domain_blocks/export", API, get(domain_imports::export_blocks))
        .route("/api/v1/admin/domain_allows/import", API.files(Files::Lists), post(domain_imports::import_allows))
        .route("/api/v1/admin/domain_allows/export", API, get(domain_imports::export_allows))
        .route("/api/v1/admin/domain_lists", API, get(domain_lists::index).post(domain_lists::create))
        .route(
            "/api/v1/admin/domain_lists/{id}",
            API,
            get(domain_lists::show).put(domain_lists::update).patch(domain_lists::update).delete(domain_lists::delete),
        )
        .route("/api/v1/admin/domain_lists/{id}/refresh", API, post(domain_lists::refresh))
        .route("/api/v1/admin/domain_lists/{id}/drafts", API, get(domain_lists::drafts))
        .route("/api/v1/admin/domain_lists/{id}/drafts/apply", API, post(domain_lists::apply))
        .route("/api/v1/admin/domain_lists/{id}/drafts/dismiss", API, post(domain_lists::dismiss))
        .route(
            "/api/v1/admin/domain_exclusions",
            API,
            get(domain_lists::exclusions).post(domain_lists::exclude).delete(domain_lists::unexclude),
        )
        .route("/api/v1/admin/relays", API, get(relays::index).post(relays::create))
        .route("/api/v1/admin/relays/{id}", API, delete(relays::delete))
        .route("/api/v1/admin/relays/{id}/enable", API, post(relays::enable))
        .route("/api/v1/admin/relays/{id}/disable", API, post(relays::disable))
        .route("/api/v1/admin/remote_media", API, get(remote_media::show))
        .route("/api/v1/admin/remote_media/domains", API, post(remote_media::update))
        .route("/api/v1/admin/domains/purge", API, post(domains::purge))
        .route("/api/v1/admin/domain_allows", API, get(domain_allows::index).post(domain_allows::create))
        .route("/api/v1/admin/domain_allows/{id}", API, get(domain_allows::show).delete(domain_allows::delete))
        .route("/api/v1/admin/ip_blocks", API, get(ip_blocks::index).post(ip_blocks::create))
        .route(
            "/api/v1/admin/ip_blocks/{id}",
            API,
            get(ip_blocks::show).put(ip_blocks::update).patch(ip_blocks::update).delete(ip_blocks::delete),
        )
        .route("/api/v1/admin/username_blocks", API, get(username_blocks::index).post(username_blocks::create))
        .route("/api/v1/admin/username_blocks/{id}", API, get(username_blocks::show).delete(username_blocks::delete))
        .route(
            "/api/v1/admin/email_domain_blocks",
            API,
            get(email_domain_blocks::index).post(email_domain_blocks::create),
        )
        .route(
            "/api/v1/admin/email_domain_blocks/{id}",
            API,
            get(email_domain_blocks::show).delete(email_domain_blocks::delete),
        )
        .route(
            "/api/v1/admin/canonical_email_blocks",
            API,
            get(canonical_email_blocks::index).post(canonical_email_blocks::create),
        )
        .route("/api/v1/admin/canonical_email_blocks/test", API, post(canonical_email_blocks::test))
        .route(
            "/api/v1/admin/canonical_email_blocks/{id}",
            API,
            get(canonical_email_blocks::show).delete(canonical_email_blocks::delete),
        )
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
        .route("/api/v1/admin/statuses/{id}", API, get(statuses::show).delete(statuses::delete))
        .route("/api/v1/admin/statuses/{id}/sensitive", API, post(statuses::mark))
        .route("/api/v1/admin/statuses/{id}/unsensitive", API, post(statuses::unmark))
        .route("/api/v1/admin/reports", API, get(reports::index))
        .route("/api/v1/admin/reports/{id}", API, get(reports::show).put(reports::update).patch(reports::update))
        .route("/api/v1/admin/reports/{id}/assign_to_self", API, post(reports::assign_to_self))
        .route("/api/v1/admin/reports/{id}/unassign", API, post(reports::unassign))
        .route("/api/v1/admin/reports/{id}/resolve", API, post(reports::resolve))
        .route("/api/v1/admin/reports/{id}/reopen", API, post(reports::reopen))
        .route("/api/v1/admin/reports/{id}/notes", API, get(reports::notes).post(reports::create_note))
        .route("/api/v1/admin/reports/{id}/notes/{note_id}", API, delete(reports::delete_note))
        .route("/api/v1/admin/measures", API, post(metrics::measures))
        .route("/api/v1/admin/dimensions", API, post(metrics::dimensions))
        .route("/api/v1/admin/retention", API, post(metrics::retention))
        .route("/api/v1/admin/tags", API, get(tags::index))
        .route("/api/v1/admin/tags/{id}", API, get(tags::show).put(tags::update).patch(tags::update))
}

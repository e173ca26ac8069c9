//! Documents about the server, for people and for programs.

use super::openapi;
use crate::api::{custom_emojis, instance, oembed, peers};
use crate::operation::methods::get;
use crate::policy::{API, Closed, PROGRAM, Policy, SHARED, WELL_KNOWN};
use crate::table::Routes;
use crate::{health, well_known};

/// Documents about the server.
const ABOUT: Policy = API.closed(Closed::UnlessLimited).for_everyone();
/// What would name the servers that a limited federation allows.
const PEERS: Policy = API.closed(Closed::HiddenWhenLimited).for_everyone();

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/oembed", API.closed(Closed::UnlessLimited), get(oembed::show))
        .route("/api/v2/instance", ABOUT, get(instance::show))
        .route("/api/v1/instance", ABOUT, get(instance::show_v1))
        .route("/api/v1/instance/peers", PEERS, get(instance::peers))
        .route("/api/v1/peers/search", PEERS, get(peers::search))
        .route("/api/v1/instance/activity", PEERS, get(instance::activity))
        .route("/api/v1/instance/rules", ABOUT, get(instance::rules_index))
        .route("/api/v1/instance/privacy_policy", ABOUT, get(instance::privacy_policy))
        .route("/api/v1/instance/terms_of_service", ABOUT, get(instance::terms_of_service))
        .route("/api/v1/instance/terms_of_service/{date}", ABOUT, get(instance::terms_of_service_of))
        .route("/api/v1/instance/extended_description", ABOUT, get(instance::extended_description))
        .route("/api/v1/instance/translation_languages", ABOUT, get(instance::translation_languages))
        .route("/api/v1/instance/languages", ABOUT, get(instance::languages))
        .route("/api/v1/custom_emojis", API.for_everyone(), get(custom_emojis::index))
        .route("/api/v1/instance/domain_blocks", SHARED.closed(Closed::UnlessLimited), get(instance::domain_blocks))
        .route("/api/openapi.json", ABOUT, get(openapi::show))
        .route("/.well-known/webfinger", WELL_KNOWN, get(well_known::webfinger))
        .route("/.well-known/host-meta", WELL_KNOWN, get(well_known::host_meta))
        .route("/.well-known/host-meta.json", WELL_KNOWN, get(well_known::host_meta_json))
        .route("/.well-known/nodeinfo", WELL_KNOWN, get(well_known::nodeinfo_discovery))
        .route("/nodeinfo/2.0", WELL_KNOWN, get(well_known::nodeinfo))
        .route("/nodeinfo/2.1", WELL_KNOWN, get(well_known::nodeinfo_21))
        .route("/.well-known/security.txt", WELL_KNOWN, get(well_known::security))
        .route("/.well-known/change-password", WELL_KNOWN, get(well_known::change_password))
        .route("/health", PROGRAM.probe(), get(health::alive))
        .route("/livez", PROGRAM.probe(), get(health::alive))
        .route("/readyz", PROGRAM.probe(), get(health::ready))
}

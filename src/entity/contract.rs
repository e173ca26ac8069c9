//! Serialised entities compared with the schemas of the contract: the same members, and none of the required ones left out.
//!
//! `Status`, `Account`'s variants, notifications and what is rendered as text have no derived schema: their responses are
//! held to the contract by every test that receives one.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::{
    account, account_warning, admin, announcement, application, async_refresh, credential, emoji, fallback,
    featured_tag, filter, history, instance, list, marker, notification, notification_policy, notification_request,
    oembed, poll, preferences, preview_card, profile, push_subscription, relationship, report, rule, server_metadata,
    severance, status_core, status_source, tag, terms_of_service, token, translation, user_info, well_known,
};

/// Members that plugins add, or that are spliced in as rendered text.
const ADDED: &[(&str, &str)] =
    &[("List", "antennas"), ("PreviewCard", "missing_attribution"), ("Profile", "featured_tags")];

/// The members of an object schema, and those that are required; references and `allOf` are followed.
fn members(root: &Value, schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut required) = (BTreeSet::new(), BTreeSet::new());
    if let Some(name) = schema["$ref"].as_str() {
        if let Some(name) = name.strip_suffix(".schema.json") {
            let other = stated(name);
            return members(&other, &other);
        }
        let found = name.rsplit('/').next().map(|name| &root["$defs"][name]);
        return found.map_or_else(Default::default, |found| members(root, found));
    }
    all.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    required.extend(
        schema["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)),
    );
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let (more, also) = members(root, part);
        all.extend(more);
        required.extend(also);
    }
    (all, required)
}

/// The schema `name` of the contract.
fn stated(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contract/entities");
    let text = std::fs::read_to_string(folder.join(format!("{name}.schema.json"))).expect("a schema of the contract");
    serde_json::from_str(&text).expect("a schema")
}

fn difference<T: JsonSchema>(name: &str) -> Option<String> {
    let derived = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    let derived = derived.to_value();
    let stated = stated(name);
    let (of_type, always) = members(&derived, &derived);
    let (of_contract, required) = members(&stated, &stated);
    let known = |member: &&String| !ADDED.contains(&(name, member.as_str()));
    let missing: Vec<&String> = of_contract.difference(&of_type).filter(known).collect();
    let unknown: Vec<&String> = of_type.difference(&of_contract).collect();
    let optional: Vec<&String> = required.difference(&always).filter(known).collect();
    let fits = missing.is_empty() && unknown.is_empty() && optional.is_empty();
    (!fits)
        .then(|| format!("{name}: missing {missing:?}, not in the contract {unknown:?}, may be left out {optional:?}"))
}

macro_rules! differences {
    ($($entity:ty = $name:literal),+ $(,)?) => { [$(difference::<$entity>($name)),+] };
}

#[test]
fn serialised_entities_have_the_members_of_the_contract() {
    let found = differences![
        account::AccountRole = "AccountRole",
        account_warning::AccountWarning<'_> = "AccountWarning",
        account_warning::Appeal<'_> = "Appeal",
        admin::account::AdminAccount<'_> = "Admin_Account",
        admin::account::Ip = "Admin_Ip",
        admin::appeal::Appeal<'_> = "Admin_Appeal",
        admin::AuditEntry = "Admin_AuditEntry",
        admin::CanonicalEmailBlock = "Admin_CanonicalEmailBlock",
        admin::cohort::Entity = "Admin_Cohort",
        admin::dimension::Entity = "Admin_Dimension",
        admin::measure::Entity = "Admin_Measure",
        admin::DomainAllow = "Admin_DomainAllow",
        admin::DomainBlock = "Admin_DomainBlock",
        admin::DomainExclusion = "Admin_DomainExclusion",
        admin::DomainPurge = "Admin_DomainPurge",
        admin::DomainImport = "Admin_DomainImport",
        admin::DomainList = "Admin_DomainList",
        admin::DomainListDraft = "Admin_DomainListDraft",
        admin::EmailDomainBlock = "Admin_EmailDomainBlock",
        admin::IpBlock = "Admin_IpBlock",
        admin::report::Report<'_> = "Admin_Report",
        admin::report::ReportNote<'_> = "Admin_ReportNote",
        admin::Role = "Admin_Role",
        admin::Relay = "Admin_Relay",
        admin::RemoteMedia = "Admin_RemoteMedia",
        admin::UsernameBlock = "Admin_UsernameBlock",
        admin::WarningPreset = "Admin_WarningPreset",
        announcement::Announcement<'_> = "Announcement",
        announcement::Reaction<'_> = "Reaction",
        application::Application = "Application",
        application::CredentialApplication = "CredentialApplication",
        async_refresh::AsyncRefresh = "AsyncRefresh",
        credential::Role = "Role",
        emoji::CustomEmoji = "CustomEmoji",
        fallback::NotificationFallback = "NotificationFallback",
        featured_tag::FeaturedTag = "FeaturedTag",
        filter::Filter<'_> = "Filter",
        filter::FilterKeyword<'_> = "FilterKeyword",
        filter::FilterStatus = "FilterStatus",
        filter::V1Filter<'_> = "V1_Filter",
        history::Day = "TrendsHistoryDay",
        instance::Instance = "Instance",
        instance::InstanceV1 = "V1_Instance",
        instance::Language = "Language",
        instance::InstanceActivity = "InstanceActivity",
        instance::DomainBlock = "DomainBlock",
        list::List<'_> = "List",
        marker::Marker = "Marker",
        notification::UnreadCount = "UnreadCount",
        notification_policy::NotificationPolicy = "NotificationPolicy",
        notification_policy::V1NotificationPolicy = "V1_NotificationPolicy",
        notification_request::NotificationRequestsMerged = "NotificationRequestsMerged",
        oembed::OEmbed = "OEmbed",
        poll::Poll<'_> = "Poll",
        poll::PollOption<'_> = "PollOption",
        preferences::Preferences = "Preferences",
        preview_card::PreviewCard = "PreviewCard",
        preview_card::CardAuthor = "PreviewCardAuthor",
        profile::Profile = "Profile",
        push_subscription::WebPushSubscription<'_> = "WebPushSubscription",
        relationship::Relationship = "Relationship",
        rule::Rule = "Rule",
        report::Report<'_> = "Report",
        server_metadata::ServerMetadata = "OAuthServerMetadata",
        severance::Severance<'_> = "RelationshipSeveranceEvent",
        status_core::StatusMention = "StatusMention",
        status_core::StatusTag = "StatusTag",
        status_core::StatusApplication<'_> = "StatusApplication",
        status_source::StatusSource<'_> = "StatusSource",
        tag::Tag = "Tag",
        terms_of_service::TermsOfService = "TermsOfService",
        token::Token = "Token",
        token::TokenInfo = "TokenInfo",
        token::TokenIntrospection = "TokenIntrospection",
        translation::Translation<'_> = "Translation",
        user_info::UserInfo = "UserInfo",
        well_known::HostMeta = "HostMeta",
        well_known::NodeInfo = "NodeInfo",
        well_known::NodeInfoDiscovery = "NodeInfoDiscovery",
        well_known::Webfinger = "Webfinger",
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    assert!(found.is_empty(), "entities and their schemas:\n  {}", found.join("\n  "));
}

/// Members of the contract that plugins add, and that the server itself therefore does not name.
const OF_PLUGINS: &[(&str, &str)] = &[
    ("status", "emoji_reactions"),
    ("status", "emoji_reactions_count"),
    ("account", "feature_approval"),
    ("notification", "collection"),
    ("notification", "emoji_reaction"),
    ("notification_group", "collection"),
    ("notification_group", "emoji_reaction_groups"),
    ("list", "antennas"),
];

#[test]
fn members_that_plugins_may_not_set_are_those_of_the_contract() {
    let mut wrong = Vec::new();
    for (kind, names) in [
        ("status", &["Status"][..]),
        ("account", &["Account", "CredentialAccount", "MutedAccount"]),
        ("notification", &["Notification"]),
        ("notification_group", &["NotificationGroup"]),
        ("list", &["List"]),
    ] {
        let own: BTreeSet<&str> = crate::members(kind).unwrap_or_default().iter().copied().collect();
        let schemas: Vec<Value> = names.iter().map(|name| stated(name)).collect();
        let of_contract: BTreeSet<String> = schemas.iter().flat_map(|schema| members(schema, schema).0).collect();
        let missing = of_contract.iter().filter(|member| !own.contains(member.as_str()));
        let missing: Vec<&String> = missing.filter(|member| !OF_PLUGINS.contains(&(kind, member.as_str()))).collect();
        let unknown: Vec<&&str> = own.iter().filter(|member| !of_contract.contains(**member)).collect();
        if !missing.is_empty() || !unknown.is_empty() {
            wrong.push(format!("{kind}: missing {missing:?}, not in the contract {unknown:?}"));
        }
    }
    assert!(wrong.is_empty(), "members of the server:\n  {}", wrong.join("\n  "));
}

//! Every SQL statement of the server, one module for each aggregate, for SQLite and PostgreSQL.
//!
//! Reached from services, entities, jobs and plugins; contains no business rules and knows nothing of HTTP. The
//! connections, transactions and macros come from the crate `database`. The folders group the aggregates; callers use
//! only the name of the aggregate, `store::favourite::insert`.

pub mod account;
mod federation;
pub mod feed;
mod moderation;
pub mod notification;
pub mod oauth;
pub mod plugin;
mod server;
pub mod status;

pub use account::{
    account_search, archive, directory, domain_block, follow, moving, profile, relation_set, relationship, role,
    severance, sign_up_day, suggestion, transfer, user, username,
};
pub use federation::{
    delivery, host, inbound, purge, relay, remote, remote_file, remote_thread, retention, synchronization, tombstone,
};
pub use feed::{
    conversation, featured_tag, filter, list, list_feed, marker, tag, tag_feed, tag_review, timeline, trend,
};
pub use moderation::{
    audit, day_count, email_block, held_status, ip_block, managed_account, metrics, publisher, removal, report,
    trend_use, user_ip, username_block, warning,
};
pub use notification::push;
pub use oauth::{application, oauth_code, one_time_link, session};
pub use plugin::{
    plugin_data, plugin_event, plugin_feed, plugin_index, plugin_kv, plugin_mark, plugin_record, plugin_schema,
    plugin_setting,
};
pub use server::{
    announcement, cleaning, domain_list, domain_policy, domain_subscription, emoji, instance, job, node, node_change,
    remote_media_mode, server_key, settings, shared_lane, terms, unused,
};
pub use status::{
    card, favourite, idempotency_key, interaction, interaction_request, media, mention, poll, reblog, reference,
    saved_draft, scheduled_status, status_cleanup, status_edit, status_search, translation_use,
};

use account::{account_names, relation_sql};
use feed::feed_sql;

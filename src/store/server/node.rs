//! The node numbers in the ids of processes, and the highest id so far.
//!
//! Reached from `context::node`. A number is leased in a separate row: there are as many rows as an id has numbers.

use database::{Conn, Result, Tx, sql};
use model::{Time, boxed};

/// Leases the number whose lease ended first to `holder`, until `lease_until`; returns it, and the end of its
/// previous lease: later than now when every number is in use.
#[boxed]
pub async fn take(tx: &mut Tx, holder: &str, lease_until: Time) -> Result<(i64, Time)> {
    macro_rules! first {
        () => {
            "SELECT n.node, n.lease_until FROM id_nodes n ORDER BY n.lease_until, n.node LIMIT 1"
        };
    }
    let first: (i64, Time) =
        tx.query(sql!(sqlite: first!(); postgres: first!() " FOR UPDATE SKIP LOCKED")).one().await?;
    tx.query(sql!("UPDATE id_nodes SET holder = $2, lease_until = $3 WHERE node = $1"))
        .bind(first.0)
        .bind(holder.to_owned())
        .bind(lease_until)
        .execute()
        .await?;
    Ok(first)
}

/// Renews `holder`'s lease on a number, and stores the highest id that it generated; false when the lease was lost.
#[boxed]
pub async fn renew(tx: &mut Tx, holder: &str, last_id: i64, lease_until: Time) -> Result<bool> {
    let renewed = tx
        .query(sql!("UPDATE id_nodes SET last_id = $2, lease_until = $3 WHERE holder = $1"))
        .bind(holder.to_owned())
        .bind(last_id)
        .bind(lease_until)
        .execute()
        .await?;
    Ok(renewed > 0)
}

/// How many numbers are leased at `now`: the number of processes that use this database. A killed process counts until
/// its lease ends.
#[boxed]
pub async fn count_leased(db: Conn<'_>, now: Time) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM id_nodes WHERE lease_until > $1")).bind(now).scalar().await
}

/// Calls a macro with the tables whose primary keys are ids.
macro_rules! with_ids {
    ($then:ident) => {
        $then!(
            "account_warnings",
            "accounts",
            "appeals",
            "audit_log",
            "canonical_email_blocks",
            "email_domain_blocks",
            "ip_blocks",
            "username_blocks",
            "report_notes",
            "warning_presets",
            "oauth_apps",
            "oauth_grants",
            "oauth_tokens",
            "web_sessions",
            "one_time_links",
            "conversations",
            "statuses",
            "status_edits",
            "mentions",
            "tags",
            "tag_follows",
            "featured_tags",
            "media_attachments",
            "held_statuses",
            "favourites",
            "bookmarks",
            "status_pins",
            "interaction_requests",
            "follows",
            "follow_requests",
            "blocks",
            "mutes",
            "account_domain_blocks",
            "endorsements",
            "lists",
            "notifications",
            "notification_requests",
            "custom_emojis",
            "rules",
            "terms_of_service",
            "domain_blocks",
            "deliveries",
            "dead_deliveries",
            "domain_allows",
            "domain_lists",
            "relays",
            "jobs",
            "outbound_documents",
            "plugins",
            "notices",
            "roles",
            "link_publishers",
            "list_notices",
            "filters",
            "filter_keywords",
            "filter_statuses",
            "polls",
            "saved_drafts",
            "scheduled_statuses",
            "notification_groups",
            "account_conversations",
            "announcements",
            "announcement_reaction_counts",
            "reports",
            "account_moves",
            "account_severances",
            "preview_cards",
            "imports",
            "inbound_activities",
            "archives"
        )
    };
}

macro_rules! list {
    ($($table:literal),*) => {
        &[$($table),*]
    };
}

/// The tables whose primary keys are ids.
pub const TABLES: &[&str] = with_ids!(list);

/// The highest known id of any process: each part is the end of an index.
#[boxed]
pub async fn highest_id(db: Conn<'_>) -> Result<i64> {
    macro_rules! ends {
        ($first:literal $(, $table:literal)*) => {
            concat!(
                "SELECT coalesce(MAX(ends.id), 0) FROM (SELECT MAX(id) AS id FROM ", $first,
                $(" UNION ALL SELECT MAX(id) FROM ", $table,)*
                " UNION ALL SELECT MAX(last_id) FROM id_nodes) ends"
            )
        };
    }
    db.query(sql!(with_ids!(ends))).scalar().await
}

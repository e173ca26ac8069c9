//! Fills the server's views (`core_v1`) with the data of a test.

use rusqlite::{Connection, params};

use super::State;
use super::state::StatusCounts;
use crate::contract::types::Status;

const VISIBILITIES: [&str; 7] = ["public", "unlisted", "private", "direct", "limited", "public_unlisted", "login"];

/// Deletes and writes all rows.
pub(super) fn fill(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    accounts(connection, state)?;
    connection.execute_batch(
        "DELETE FROM core_v1.statuses; DELETE FROM core_v1.statuses_private; DELETE FROM core_v1.mentions;
        DELETE FROM core_v1.tags; DELETE FROM core_v1.status_tags; DELETE FROM core_v1.status_applications;",
    )?;
    for status in &state.statuses {
        let open = matches!(status.visibility, 0 | 1 | 5);
        let counts = state.status_counts.get(&status.id).copied().unwrap_or_default();
        insert_status(connection, "statuses", status, if open { &status.text } else { "" }, counts)?;
        insert_status(connection, "statuses_private", status, &status.text, counts)?;
        for account in &status.mentions {
            connection
                .prepare_cached("INSERT INTO core_v1.mentions (status_id, account_id, silent) VALUES (?1, ?2, 0)")?
                .execute(params![status.id, account])?;
        }
        tags(connection, status)?;
    }
    follows(connection, state)?;
    applications(connection, state)?;
    tokens(connection, state)?;
    pairs(connection, "blocks", &state.blocks)?;
    pairs(connection, "mutes", &state.mutes)?;
    bookmarks(connection, state)?;
    emojis(connection, state)
}

fn accounts(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM core_v1.accounts")?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO core_v1.accounts (id, username, domain, local, uri, display_name, locked, suspended, limited, memorial,
            other_settings, followers_count, following_count, statuses_count, created_at, last_active_at, discoverable)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    for account in &state.accounts {
        let username = account.acct.split('@').next();
        let extra: serde_json::Value =
            account.extra.as_ref().and_then(|extra| serde_json::from_str(extra).ok()).unwrap_or_default();
        let settings = extra.get("other_settings").map_or_else(|| "{}".to_owned(), ToString::to_string);
        let active = extra.get("last_active_at").and_then(serde_json::Value::as_i64).unwrap_or(state.now);
        let active = account.domain.is_none().then_some(active);
        let bit = |bit: u32| account.state & bit != 0;
        insert.execute(params![
            account.id,
            username,
            account.domain,
            account.domain.is_none(),
            account.uri,
            account.display_name,
            account.locked,
            bit(1),
            bit(2),
            bit(16),
            settings,
            account.followers,
            account.following,
            account.statuses,
            account.created_at,
            active,
            state.discoverable.contains(&account.id),
        ])?;
    }
    Ok(())
}

fn insert_status(
    connection: &Connection,
    table: &str,
    status: &Status,
    text: &str,
    counts: StatusCounts,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(&format!(
        "INSERT INTO core_v1.{table} (id, account_id, uri, local, text, spoiler_text, sensitive, visibility, searchability,
            language, in_reply_to_id, in_reply_to_account_id, reblog_of_id, has_media, replies_count, reblogs_count,
            favourites_count, created_at, has_poll)
         VALUES (?1, ?2, ?3, ?4, ?5, '', ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
    ))?;
    insert.execute(params![
        status.id,
        status.account,
        status.uri,
        status.local,
        text,
        status.sensitive,
        VISIBILITIES.get(usize::from(status.visibility)),
        status.searchability,
        status.language,
        status.reply_to,
        status.reply_to_account,
        status.reblog_of,
        status.media_count > 0,
        counts.replies,
        counts.reblogs,
        counts.favourites,
        status.created_at,
        status.has_poll,
    ])?;
    Ok(())
}

fn tags(connection: &Connection, status: &Status) -> rusqlite::Result<()> {
    for tag in &status.tags {
        let found = "SELECT id FROM core_v1.tags WHERE name = ?1";
        if !connection.prepare_cached(found)?.exists([tag])? {
            connection
                .prepare_cached("INSERT INTO core_v1.tags (name, display_name) VALUES (?1, ?1)")?
                .execute([tag])?;
        }
        let id: i64 = connection.prepare_cached(found)?.query_row([tag], |row| row.get(0))?;
        connection
            .prepare_cached("INSERT INTO core_v1.status_tags (status_id, tag_id, name) VALUES (?1, ?2, ?3)")?
            .execute(params![status.id, id, tag])?;
    }
    Ok(())
}

/// As the server's, the ids of follows begin with the millisecond in which they were made.
fn follows(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM core_v1.follows")?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO core_v1.follows (id, account_id, target_account_id, created_at) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (place, pair) in (0_i64..).zip(&state.follows) {
        let at = state.followed_at.get(pair).copied().unwrap_or_default();
        let number = state.follow_numbers.get(pair).copied().unwrap_or(place);
        insert.execute(params![(at << 16) + (number & 0xFFFF), pair.0, pair.1, at])?;
    }
    Ok(())
}

fn applications(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    for status in &state.statuses {
        let Some(name) = state.status_applications.get(&status.id) else { continue };
        connection
            .prepare_cached(
                "INSERT INTO core_v1.status_applications (status_id, account_id, application_id, name) VALUES (?1, ?2, 1, ?3)",
            )?
            .execute(params![status.id, status.account, name])?;
    }
    Ok(())
}

fn tokens(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM core_v1.tokens")?;
    let mut insert = connection.prepare_cached("INSERT INTO core_v1.tokens (id, account_id) VALUES (?1, ?2)")?;
    for (token, account) in &state.tokens {
        insert.execute(params![token, account])?;
    }
    Ok(())
}

fn pairs(connection: &Connection, table: &str, pairs: &std::collections::BTreeSet<(i64, i64)>) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("DELETE FROM core_v1.{table}"))?;
    let text = format!("INSERT INTO core_v1.{table} (account_id, target_account_id, created_at) VALUES (?1, ?2, 0)");
    for (account, target) in pairs {
        connection.prepare_cached(&text)?.execute(params![account, target])?;
    }
    Ok(())
}

fn bookmarks(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM core_v1.bookmarks")?;
    for (account, status) in &state.bookmarks {
        connection
            .prepare_cached("INSERT INTO core_v1.bookmarks (account_id, status_id, created_at) VALUES (?1, ?2, 0)")?
            .execute(params![account, status])?;
    }
    Ok(())
}

fn emojis(connection: &Connection, state: &State) -> rusqlite::Result<()> {
    connection.execute_batch("DELETE FROM core_v1.custom_emojis")?;
    for emoji in &state.emojis {
        connection
            .prepare_cached(
                "INSERT INTO core_v1.custom_emojis (id, shortcode, domain, visible_in_picker, disabled, sensitive)
                 VALUES (?1, ?2, ?3, 1, 0, 0)",
            )?
            .execute(params![emoji.custom, emoji.name, emoji.domain])?;
    }
    Ok(())
}

//! Statuses and accounts as records of the contract, read in batches.
//!
//! Used for what hooks hand to plugins and for the contract's functions `core.statuses` and `core.accounts`. Visibility
//! is checked by the caller: this hides only accounts that wait for approval.

use std::collections::HashMap;

use rookery_plugin_host::imports::types::{Account, Status};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::PluginId;
use crate::codes::visibility_code;
use context::error::{Error, Result};
use database::Conn;
use model::account::{ActorType, OtherSettings};
use model::{AccountId, StatusId, Visibility};
use store::plugin_record::{AccountRow, StatusRow};

/// The permission to see the text of statuses that are not public, wherever a plugin meets them.
const PRIVATE: &str = "statuses:private";

/// The plugin that reads: data it stored with a status is found under its name.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    pub id: PluginId,
    pub name: &'a str,
    /// May see the text of statuses that are not public.
    pub private: bool,
}

impl<'a> From<&'a crate::Active> for Reader<'a> {
    fn from(active: &'a crate::Active) -> Self {
        let private = active.manifest.permissions.core_views.iter().any(|view| view == PRIVATE);
        Self { id: active.id, name: active.name(), private }
    }
}

/// The existing statuses among `ids`, with tags and mentions; statuses that are not public lack their text, tags and
/// mentions unless `reader` may see them. Three queries, whatever their number.
#[model::boxed]
pub async fn statuses(mut db: Conn<'_>, reader: Reader<'_>, ids: &[StatusId]) -> Result<HashMap<StatusId, Status>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store::plugin_record::statuses(db.reborrow(), reader.id, ids).await?;
    let mut tags: HashMap<StatusId, Vec<String>> = HashMap::new();
    for (status, name) in store::status::tags(db.reborrow(), ids).await? {
        tags.entry(status).or_default().push(name);
    }
    let mut mentions: HashMap<StatusId, Vec<i64>> = HashMap::new();
    for (status, account) in store::plugin_record::mentions(db.reborrow(), ids).await? {
        mentions.entry(status).or_default().push(account.into());
    }
    let record = |mut row: StatusRow| {
        let id = row.id;
        let open = matches!(row.visibility, Visibility::Public | Visibility::Unlisted | Visibility::PublicUnlisted);
        if !open && !reader.private {
            (row.spoiler_text, row.content) = (String::new(), String::new());
            tags.remove(&id);
            mentions.remove(&id);
        }
        let tags = tags.remove(&id).unwrap_or_default();
        let mentions = mentions.remove(&id).unwrap_or_default();
        Ok((id, status(row, reader, tags, mentions)?))
    };
    rows.into_iter().map(record).collect()
}

/// The accounts among `ids` that exist and are not pending, in one query.
#[model::boxed]
pub async fn accounts(db: Conn<'_>, ids: &[AccountId]) -> Result<HashMap<AccountId, Account>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store::plugin_record::accounts(db, ids).await?;
    rows.into_iter().map(|row| Ok((row.id, account(row)?))).collect()
}

fn status(row: StatusRow, reader: Reader<'_>, tags: Vec<String>, mentions: Vec<i64>) -> Result<Status> {
    let mut extra = Map::new();
    if let Some(scope) = row.limited_scope {
        extra.insert("limited_scope".to_owned(), scope.as_str().into());
    }
    if let Some(edited) = row.edited_at {
        extra.insert("edited_at".to_owned(), edited.timestamp_millis().into());
    }
    if let Some(kept) = row.kept {
        extra.insert(reader.name.to_owned(), kept.0);
    }
    Ok(Status {
        id: row.id.into(),
        account: row.account_id.into(),
        domain: row.domain,
        uri: row.uri,
        created_at: row.created_at.timestamp_millis(),
        visibility: visibility_code(row.visibility),
        searchability: row.searchability.as_str().to_owned(),
        text: searched(&row.spoiler_text, &row.content),
        language: row.language,
        sensitive: row.sensitive,
        local: row.local,
        reply_to: row.in_reply_to_id.map(i64::from),
        reply_to_account: row.in_reply_to_account_id.map(i64::from),
        reblog_of: row.reblog_of_id.map(i64::from),
        quote_of: None,
        tags,
        mentions,
        media_count: u8::try_from(row.media_count).unwrap_or(u8::MAX),
        has_poll: row.has_poll,
        extra: (!extra.is_empty()).then(|| Value::Object(extra).to_string()),
    })
}

/// The text that keywords are matched against. The line break is there even without a content warning.
fn searched(spoiler: &str, content: &str) -> String {
    format!("{spoiler}\n{}", text::plain(content))
}

/// The public attributes of an account beyond the fields of the record.
#[derive(Serialize)]
struct Further<'a> {
    other_settings: &'a OtherSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_active_at: Option<i64>,
}

fn account(row: AccountRow) -> Result<Account> {
    let settings = &row.other_settings.0;
    let further =
        Further { other_settings: settings, last_active_at: row.last_active_at.map(|at| at.timestamp_millis()) };
    let count = |count: i64, hidden: bool| if hidden { 0 } else { u32::try_from(count).unwrap_or(0) };
    Ok(Account {
        id: row.id.into(),
        acct: match &row.domain {
            None => row.username.clone(),
            Some(domain) => format!("{}@{domain}", row.username),
        },
        created_at: row.created_at.timestamp_millis(),
        locked: row.locked,
        bot: matches!(row.actor_type, ActorType::Service | ActorType::Application),
        state: state(&row),
        followers: count(row.followers_count, settings.hide_followers_count),
        following: count(row.following_count, settings.hide_following_count),
        statuses: count(row.statuses_count, settings.hide_statuses_count),
        extra: Some(serde_json::to_string(&further).map_err(Error::internal)?),
        domain: row.domain,
        uri: row.uri,
        display_name: row.display_name,
    })
}

/// Bits: 1 suspended, 2 silenced, 8 moved, 16 memorial, 32 disabled. Bit 4 (sensitive media) is never set: the server has no such
/// mark.
fn state(row: &AccountRow) -> u32 {
    let bits = [
        (row.suspended_at.is_some(), 1),
        (row.limited_at.is_some(), 2),
        (row.moved_to_account_id.is_some(), 8),
        (row.memorial, 16),
        (row.disabled, 32),
    ];
    bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::visibility_of;

    #[test]
    fn every_visibility_has_a_number_of_its_own_and_comes_back() {
        for visibility in Visibility::ALL {
            assert_eq!(visibility_of(visibility_code(*visibility)), Some(*visibility));
        }
        assert_eq!(visibility_of(7), None);
    }

    #[test]
    fn keywords_are_looked_for_in_warning_and_text() {
        assert_eq!(searched("careful", "<p>a<br>b &amp; c</p>"), "careful\na\nb & c");
        assert_eq!(searched("", "<p>a</p>"), "\na");
    }
}

//! The account data that the CSV exports do not contain, as one JSON document: followed and featured hashtags,
//! endorsements, scheduled statuses, drafts, lists with their options, the notification policy, and data of plugins.
//!
//! Reached from the settings page of exports, from archives and from `rookery user export`. The document cannot be
//! imported.

use serde_json::{Map, Value, json};

use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::{AccountId, Cursor, RowId, Time};
use service::saved_draft::{self, WithMedia};
use service::scheduled_status;
use service::transfer::{PAGE, related};

pub const DOCUMENT: &str = "account.json";

/// Most bytes of a plugin's table in a document that a request waits for.
pub const SHORT: usize = 8 << 20;
/// Most bytes of a plugin's table in a document that a job or a command writes.
pub const WHOLE: usize = 256 << 20;

/// The document of `account`. A table of a plugin with more than `most_bytes` for the account is null.
///
/// # Errors
/// When the database fails.
pub async fn document(cx: &Cx, account: AccountId, most_bytes: usize) -> Result<Value> {
    let featured = store::featured_tag::list(&cx.db, account).await?;
    let policy = store::notification::policy::find(&cx.db, account).await?;
    Ok(json!({
        "followed_tags": followed_tags(cx, account).await?,
        "featured_tags": featured.into_iter().map(|tag| tag.display_name).collect::<Vec<_>>(),
        "endorsements": endorsements(cx, account).await?,
        "scheduled_statuses": scheduled(cx, account).await?,
        "drafts": drafts(cx, account).await?,
        "lists": lists(cx, account).await?,
        "notification_policy": {
            "for_not_following": policy.for_not_following,
            "for_not_followers": policy.for_not_followers,
            "for_new_accounts": policy.for_new_accounts,
            "for_private_mentions": policy.for_private_mentions,
            "for_limited_accounts": policy.for_limited_accounts,
        },
        "plugins": plugins(cx, account, most_bytes).await?,
    }))
}

async fn followed_tags(cx: &Cx, account: AccountId) -> Result<Vec<String>> {
    let (mut names, mut cursor) = (Vec::new(), Cursor::first(PAGE));
    loop {
        let page = store::tag::list_followed(&cx.db, account, &cursor).await?;
        let Some(last) = page.last() else { return Ok(names) };
        cursor.max_id = Some(last.row_id.into());
        names.extend(page.into_iter().map(|followed| followed.tag.display_name));
    }
}

async fn endorsements(cx: &Cx, account: AccountId) -> Result<Vec<String>> {
    let (mut names, mut after) = (Vec::new(), RowId::from(0));
    loop {
        let page = store::transfer::list_endorsements(&cx.db, account, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(names) };
        after = last.row_id;
        names.extend(page.iter().map(|row| related(cx, row)));
    }
}

async fn scheduled(cx: &Cx, account: AccountId) -> Result<Vec<Value>> {
    let (mut statuses, mut cursor) = (Vec::new(), Cursor::first(PAGE));
    loop {
        let page = scheduled_status::list(cx, account, &cursor).await?;
        let Some(last) = page.last() else { return Ok(statuses) };
        cursor.max_id = Some(last.scheduled.id.into());
        for row in &page {
            statuses.push(value(&crate::scheduled_status::render(cx, row)?)?);
        }
    }
}

async fn drafts(cx: &Cx, account: AccountId) -> Result<Vec<Value>> {
    let (mut drafts, mut cursor) = (Vec::new(), Cursor::first(PAGE));
    loop {
        let page = saved_draft::list(cx, account, &cursor).await?;
        let Some(last) = page.last() else { return Ok(drafts) };
        cursor.max_id = Some(last.draft.id.into());
        for WithMedia { draft, .. } in page {
            drafts.push(json!({ "updated_at": Time::to_api(draft.updated_at), "parameters": draft.parameters.0 }));
        }
    }
}

async fn lists(cx: &Cx, account: AccountId) -> Result<Vec<Value>> {
    let lists = store::list::list(&cx.db, account).await?;
    lists.iter().map(|list| serde_json::to_value(crate::list::List::from(list)).map_err(Error::internal)).collect()
}

/// Tables and settings, by plugin.
async fn plugins(cx: &Cx, account: AccountId, most_bytes: usize) -> Result<Map<String, Value>> {
    let mut plugins = Map::new();
    let mut add = |plugin: String, what: &str, kept: Value| {
        if let Value::Object(of_plugin) = plugins.entry(plugin).or_insert_with(|| json!({})) {
            of_plugin.insert(what.to_owned(), kept);
        }
    };
    let tables = store::plugin_data::export_account_up_to(&cx.db, account, most_bytes).await?;
    if let Value::Object(tables) = tables {
        tables.into_iter().for_each(|(plugin, tables)| add(plugin, "tables", tables));
    }
    for (plugin, set) in store::plugin_setting::list_for_account(&cx.db, account).await? {
        add(plugin, "settings", Value::Object(set.0));
    }
    Ok(plugins)
}

fn value(fragment: &Fragment) -> Result<Value> {
    serde_json::from_str(fragment.as_str()).map_err(Error::internal)
}
